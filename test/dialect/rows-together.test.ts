/** What a row gives does not depend on the rows beside it: DuckDB evaluates many at once, and constants before all others. */
import { TranslationBench } from '../../packages/duckdb-engine/test/duckdb-translation';
import type { Expression } from './fuzz/expression';
import { Generator, STARTS } from './fuzz/generate';
import { Random } from './random';
import { oneOf } from '../scale';
import { opened } from '../opened';

jest.setTimeout(180_000);

const ROWS = 16;
/** Casts are one construct of many, and make values of every type. */
const CASTS = 60;

/** Of more than one row these are refused: what they read has to be a literal. */
const OF_LITERALS = /must be a (?:STRING )?literal|that is no literal/;

const bench = opened(() => TranslationBench.open());

/** The values of `v`; or why there are none. */
async function valuesOf(sql: string): Promise<readonly string[] | string> {
  try {
    return (await bench().run(sql)).rows.map((row) => JSON.stringify((row as { v?: unknown }).v ?? null));
  } catch (error) {
    return String(error);
  }
}

it('each row gives what it gives alone', async () => {
  const generator = new Generator(new Random(7), ROWS);
  const found: unknown[] = [];
  let compared = 0;
  for (const start of oneOf(3, [...STARTS, ...Array.from({ length: CASTS }, () => 'CAST')])) {
    const expression = generator.startingWith(start, 0);
    if (expression?.args.some(({ values }) => values !== undefined) !== true) continue;
    // A literal is cast digit by digit, a FLOAT64 in a column is the double that it is.
    if (start === 'CAST' && expression.type.endsWith('NUMERIC') && expression.args[0]?.type === 'FLOAT64') continue;
    const alone = new Map<number, string>();
    /** Of calls with few values to choose from many are the same. */
    const known = new Map<string, readonly string[] | string>();
    for (let row = 0; row < ROWS; row++) {
      const call = expression.write(expression.args.map((arg) => valueIn(arg, row)));
      const values = known.get(call) ?? (await valuesOf(`SELECT ${call} AS v`));
      known.set(call, values);
      if (typeof values !== 'string') alone.set(row, values[0]!);
    }
    if (alone.size === 0) continue;
    const call = expression.write(
      expression.args.map((arg, i) => (arg.values === undefined ? arg.write([]) : `c${i}`)),
    );
    const rows = [...alone.keys()].map((row) => {
      const columns = expression.args.flatMap((arg, i) =>
        arg.values === undefined ? [] : [`${valueIn(arg, row)} AS c${i}`],
      );
      return `SELECT ${[`${row} AS id`, ...columns].join(', ')}`;
    });
    const together = await valuesOf(`SELECT ${call} AS v FROM (${rows.join(' UNION ALL ')}) ORDER BY id`);
    if (typeof together === 'string' && OF_LITERALS.test(together)) continue;
    compared++;
    const expected = [...alone.values()];
    if (JSON.stringify(together) !== JSON.stringify(expected)) found.push({ call, rows, together, expected });
  }
  expect(found).toEqual([]);
  expect(compared).toBeGreaterThan(50);
});

function valueIn({ values, write }: Expression, row: number): string {
  return values?.[row] ?? write([]);
}
