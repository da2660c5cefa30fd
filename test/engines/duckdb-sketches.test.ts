/** HLL_COUNT as BigQuery documents it: the reference engine has none of it. */
import { TranslationBench } from './duckdb-translation';

let bench: TranslationBench;
beforeAll(async () => {
  bench = await TranslationBench.open();
}, 60_000);
afterAll(() => bench.close());

async function value(sql: string): Promise<unknown> {
  const { rows } = await bench.run(sql);
  expect(rows).toHaveLength(1);
  return (rows[0] as { y: unknown }).y;
}

const sketch = (value: string, precision = ''): string =>
  `SELECT HLL_COUNT.INIT(${value}${precision}) AS s FROM UNNEST([1])`;
const numbers = (from: number, to: number): string => `UNNEST(GENERATE_ARRAY(${from}, ${to})) AS x`;
/** A sketch for each day. */
const DAYS = `(SELECT day, HLL_COUNT.INIT(user) AS s FROM UNNEST([STRUCT(1 AS day, 'a' AS user), (1, 'b'), (1, 'a'), (2, 'b'), (2, 'c'), (3, NULL)]) GROUP BY day)`;

test.each([
  ['SELECT HLL_COUNT.EXTRACT(HLL_COUNT.INIT(x)) AS y FROM UNNEST([1, 2, 2, NULL]) AS x', 2],
  ["SELECT HLL_COUNT.EXTRACT(HLL_COUNT.INIT(x)) AS y FROM UNNEST([NUMERIC '1', 1.0, 1.5]) AS x", 2],
  ["SELECT HLL_COUNT.EXTRACT(HLL_COUNT.INIT(x)) AS y FROM UNNEST([BIGNUMERIC '1', 2]) AS x", 2],
  ["SELECT HLL_COUNT.EXTRACT(HLL_COUNT.INIT(x)) AS y FROM UNNEST(['a', 'A', '', 'ä']) AS x", 4],
  [String.raw`SELECT HLL_COUNT.EXTRACT(HLL_COUNT.INIT(x)) AS y FROM UNNEST([b'a', b'\xff', b'', b'a']) AS x`, 3],
  ['SELECT HLL_COUNT.INIT(x) AS y FROM UNNEST([CAST(NULL AS INT64)]) AS x', null],
  ['SELECT HLL_COUNT.INIT(x) AS y FROM UNNEST(ARRAY<STRING>[]) AS x', null],
  ['SELECT HLL_COUNT.EXTRACT(CAST(NULL AS BYTES)) AS y', 0],
  [`SELECT HLL_COUNT.MERGE(s) AS y FROM ${DAYS}`, 3],
  [`SELECT HLL_COUNT.EXTRACT(HLL_COUNT.MERGE_PARTIAL(s)) AS y FROM ${DAYS}`, 3],
  [`SELECT HLL_COUNT.MERGE(s) AS y FROM ${DAYS} WHERE day = 3`, 0],
  [`SELECT HLL_COUNT.MERGE(s) AS y FROM ${DAYS} WHERE day > 3`, 0],
  [`SELECT HLL_COUNT.MERGE_PARTIAL(s) AS y FROM ${DAYS} WHERE day >= 3`, null],
  [`SELECT HLL_COUNT.MERGE(s HAVING MAX day) AS y FROM ${DAYS} WHERE day < 3`, 2],
  [
    `SELECT (SELECT HLL_COUNT.MERGE(s) FROM UNNEST(l) AS s) AS y FROM (SELECT ARRAY_AGG(s IGNORE NULLS) AS l FROM ${DAYS})`,
    3,
  ],
  [
    `SELECT STRING_AGG(CAST(n AS STRING) ORDER BY day) AS y FROM (SELECT day, HLL_COUNT.MERGE(s) OVER (ORDER BY day) AS n FROM ${DAYS})`,
    '2,3,3',
  ],
  // The same values make the same sketch, whatever their order, and by way of others.
  [
    `SELECT (SELECT HLL_COUNT.MERGE_PARTIAL(s) FROM ${DAYS}) = (SELECT HLL_COUNT.INIT(x) FROM UNNEST(['c', 'b', 'a', 'c']) AS x) AS y`,
    true,
  ],
  [`SELECT HLL_COUNT.EXTRACT(HLL_COUNT.INIT(x, 10)) AS y FROM ${numbers(1, 1023)}`, 1023],
  [`SELECT HLL_COUNT.EXTRACT(HLL_COUNT.INIT(x)) AS y FROM ${numbers(1, 32767)}`, 32767],
  ['SELECT SAFE.HLL_COUNT.EXTRACT(b"none") AS y', null],
  [`SELECT SAFE.HLL_COUNT.MERGE(s) AS y FROM (${sketch('1')} UNION ALL ${sketch("'1'")})`, null],
])('%s', async (sql, expected) => {
  expect(await value(sql)).toBe(expected);
});

test.each([
  ['INIT', 10, 1, 100_000, 0.1],
  ['INIT', 15, 1, 100_000, 0.02],
])('%s with precision %d is an estimate of many values', async (_, precision, from, to, error) => {
  const found = await value(`SELECT HLL_COUNT.EXTRACT(HLL_COUNT.INIT(x, ${precision})) AS y FROM ${numbers(from, to)}`);
  expect(found).not.toBe(to);
  expect(Math.abs(Number(found) / to - 1)).toBeLessThan(error);
  const parts = `SELECT HLL_COUNT.INIT(x, ${precision}) AS s FROM ${numbers(from, to)} GROUP BY MOD(x, 7)`;
  expect(await value(`SELECT HLL_COUNT.MERGE(s) AS y FROM (${parts})`)).toBe(found);
  expect(await value(`SELECT HLL_COUNT.EXTRACT(HLL_COUNT.MERGE_PARTIAL(s)) AS y FROM (${parts})`)).toBe(found);
});

test('sketches of several precisions make one of the least', async () => {
  const mixed = `SELECT HLL_COUNT.INIT(x, 18) AS s FROM ${numbers(1, 50_000)} UNION ALL SELECT HLL_COUNT.INIT(x, 10) FROM ${numbers(1, 50_000)}`;
  const least = await value(`SELECT HLL_COUNT.EXTRACT(HLL_COUNT.INIT(x, 10)) AS y FROM ${numbers(1, 50_000)}`);
  expect(await value(`SELECT HLL_COUNT.MERGE(s) AS y FROM (${mixed})`)).toBe(least);
});

test.each([
  'SELECT HLL_COUNT.EXTRACT(b"none") AS y',
  'SELECT HLL_COUNT.EXTRACT(b"") AS y',
  'SELECT HLL_COUNT.EXTRACT(s) AS y FROM UNNEST([b"LQS1", b"LQS1\\x04\\x1f", b"LQS1\\x09\\x15", b"LQS1\\x04\\x15123"]) AS s WHERE LENGTH(s) > 8',
  'SELECT HLL_COUNT.MERGE(s) AS y FROM UNNEST([b"none"]) AS s',
  'SELECT HLL_COUNT.MERGE_PARTIAL(s) AS y FROM UNNEST([b"LQS1\\x04\\x1f"]) AS s',
  `SELECT HLL_COUNT.MERGE(s) AS y FROM (${sketch('1')} UNION ALL ${sketch("'1'")})`,
  `SELECT HLL_COUNT.MERGE_PARTIAL(s) AS y FROM (${sketch("NUMERIC '1'")} UNION ALL ${sketch('1')})`,
])('what is no sketch, or of another type, is an error: %s', async (sql) => {
  await expect(bench.run(sql)).rejects.toThrow('logquay:argument');
});

test.each([
  ['SELECT HLL_COUNT.INIT(x, 9) AS y FROM UNNEST([1]) AS x', 'at least 10'],
  ['SELECT HLL_COUNT.INIT(x, 25) AS y FROM UNNEST([1]) AS x', 'at most 24'],
  ['SELECT HLL_COUNT.INIT(x, x) AS y FROM UNNEST([10]) AS x', 'must be a literal'],
  ['SELECT HLL_COUNT.INIT(x) AS y FROM UNNEST([1.5]) AS x', 'No matching signature'],
  ["SELECT HLL_COUNT.EXTRACT('a') AS y", 'No matching signature'],
])('%s is refused', (sql, words) => {
  expect(() => bench.translate(sql)).toThrow(words);
});
