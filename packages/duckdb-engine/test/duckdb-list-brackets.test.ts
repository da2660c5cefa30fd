import { withBrackets } from '../src/engine/list-brackets';
import type { ListShape } from '../src/translate';
import { Random } from '../../../test/dialect/random';

/** A value as it is written and as it is stored, and what is between them. */
interface Value {
  readonly written: unknown;
  readonly stored: unknown;
  readonly shape: ListShape | null;
}

const PLAIN = [
  null,
  true,
  -1,
  9007199254740993,
  0.5,
  '',
  '\\',
  '"',
  '\\"}',
  '{"a":[1,{"',
  ']',
  ',',
  'ä\u0000\u2028😀',
  [],
  {},
  [[1], { a: ']"' }],
];

function value(random: Random, depth: number): Value {
  const kind = depth === 0 ? 0 : random.int(4);
  if (kind < 2) {
    const plain = PLAIN[random.int(PLAIN.length)];
    return { written: plain, stored: plain, shape: null };
  }
  const of = record(random, depth - 1);
  if (kind === 2) return of;
  return { written: [of.written], stored: of.stored, shape: { isList: true, members: of.shape?.members ?? null } };
}

function record(random: Random, depth: number): Value {
  const members = Array.from({ length: random.int(5) }, (_, i) => [`k"${String(i)}\\`, value(random, depth)] as const);
  return {
    written: Object.fromEntries(members.map(([name, { written }]) => [name, written])),
    stored: Object.fromEntries(members.map(([name, { stored }]) => [name, stored])),
    shape: { isList: false, members: members.map(([, { shape }]) => shape) },
  };
}

test.each(['{', '{"a', '{"a":', '{"a":1', '{"a":[', '{"a":{"b":1}', '{"a":"b\\"}', '{"a":1}'])(
  '%j is no row',
  (text) => {
    expect(() => withBrackets(Buffer.from(text), [{ isList: true, members: [null] }])).toThrow('not one JSON object');
  },
);

test('the brackets of any row are set where they lack, and nothing else changes', () => {
  const random = new Random(4711);
  let set = 0;
  for (let i = 0; i < 5_000; i++) {
    const { written, stored, shape } = record(random, 4);
    const [from, to] = [JSON.stringify(stored), JSON.stringify(written)];
    const lines = Buffer.from(`${from}\n`.repeat(3));
    expect(withBrackets(lines, shape!.members!).toString()).toBe(`${to}\n`.repeat(3));
    if (from !== to) set++;
  }
  expect(set).toBeGreaterThan(1_000);
});
