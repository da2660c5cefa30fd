import fc from 'fast-check';

import { type DiffLine, diffRows } from '../../../src/cli/endpoint-tests/compare';

const rows = fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { maxLength: 12 });
const of = (lines: readonly DiffLine[], side: 'expected' | 'came'): string[] =>
  lines.filter((line) => line.side === 'both' || line.side === side).map(({ text }) => text);

/** By trying: the length of the longest common subsequence. */
function longest(a: readonly string[], b: readonly string[]): number {
  const [[first, ...rest], [other, ...others]] = [a, b];
  if (first === undefined || other === undefined) return 0;
  if (first === other) return 1 + longest(rest, others);
  return Math.max(longest(rest, b), longest(a, others));
}

it('holds all that was expected and all that came, in order, and shares as much as can be', () => {
  fc.assert(
    fc.property(rows, rows, (expected, came) => {
      const lines = diffRows(expected, came);
      expect(of(lines, 'expected')).toEqual(expected);
      expect(of(lines, 'came')).toEqual(came);
      expect(lines.filter(({ side }) => side === 'both')).toHaveLength(longest(expected, came));
    }),
  );
});

it('compares by place where the table would be too large', () => {
  const many = (prefix: string): string[] => Array.from({ length: 3000 }, (_, i) => `${prefix}${String(i)}`);
  const lines = diffRows(['same', ...many('a')], ['same', ...many('b')]);
  expect(lines.filter(({ side }) => side === 'both')).toHaveLength(1);
  expect(lines).toHaveLength(6001);
});
