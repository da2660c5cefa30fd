/** An argument with RAND() in it is computed once for each row, however often the translation reads its value. */
import { TranslationBench } from '../../packages/duckdb-engine/test/duckdb-translation';
import type { Expression } from './fuzz/expression';
import { Generator, SCALARS } from './fuzz/generate';
import { Random } from './random';
import { oneOf } from '../scale';
import { opened } from '../opened';

jest.setTimeout(180_000);

/** Pairs of calls for each function, and rows for each pair. */
const PAIRS = 3;
const ROWS = 64;

const bench = opened(() => TranslationBench.open());

const text = ({ values, write }: Expression): string => values?.[0] ?? write([]);

/** The values of a call for many rows; null: it fails. */
async function valuesOf(call: string): Promise<ReadonlySet<string> | null> {
  try {
    const { rows } = await bench().run(`SELECT ${call} AS v FROM UNNEST(GENERATE_ARRAY(1, ${ROWS}))`);
    return new Set(rows.map((row) => JSON.stringify((row as { v?: unknown }).v ?? null)));
  } catch {
    return null;
  }
}

it('a value that is one of two makes one of two results', async () => {
  const generator = new Generator(new Random(5), 1);
  const found: string[] = [];
  let compared = 0;
  for (const name of oneOf(3, SCALARS)) {
    for (let pair = 0; pair < PAIRS; pair++) {
      const [first, second] = [generator.startingWith(name, 0), generator.startingWith(name, 0)];
      if (first === null || second === null) continue;
      const args = first.args.map(text);
      const own = await valuesOf(first.write(args));
      if (own === null) continue;
      for (const [i, other] of second.args.entries()) {
        if (first.args[i]?.type !== other.type) continue;
        const withArgument = (sql: string): string => first.write(args.map((arg, j) => (i === j ? sql : arg)));
        const call = withArgument(`IF(RAND() < 0.5, ${args[i]!}, ${text(other)})`);
        // A date part is no argument that is computed, and some calls are written with one twice.
        if (call.split('RAND()').length !== 2) continue;
        const others = await valuesOf(withArgument(text(other)));
        const values = others === null ? null : await valuesOf(call);
        if (others === null || values === null) continue;
        compared++;
        if ([...values].some((value) => !own.has(value) && !others.has(value))) found.push(call);
      }
    }
  }
  expect(found).toEqual([]);
  expect(compared).toBeGreaterThan(100);
});

it.each([
  ['NULLIF', 'NULLIF(CAST(FLOOR(RAND() * 2) AS INT64), 0)', [null, 1]],
  ['CASE', "CASE CAST(FLOOR(RAND() * 2) AS INT64) WHEN 0 THEN 'a' WHEN 1 THEN 'b' ELSE 'c' END", ['a', 'b']],
  ['IN', 'CAST(FLOOR(RAND() * 3) AS INT64) IN (0, 1, 2)', [true]],
  ['BETWEEN', 'FLOOR(RAND() * 3) BETWEEN 0 AND 2', [true]],
])('%s', async (_, call, expected) => {
  const values = await valuesOf(call);
  for (const value of values ?? []) expect(expected).toContainEqual(JSON.parse(value));
  expect(values?.size).toBe(expected.length);
});
