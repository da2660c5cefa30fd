/** Products of NUMERIC and INITCAP, each computed in one way or another by what it is given, on both engines. */
import { onBothEngines } from './on-both-engines';

const SIZES = [
  ...['0', '0.000000001', '0.000000005', '0.5', '1', '1.5', '3.333333333', '99999', '99999.000000001', '100000.5'],
  ...['999999998.999999999', '999999999', '999999999.000000001', '1000000000', '12345678901.987654321'],
  ...['999999999999999', '999999999999999.000000001', '1790000000000000.123456789', '99999999999999999999.999999999'],
  ...['9999999999999999999999999999.5', '99999999999999999999999999999.999999999'],
];
const NUMBERS = `[${['NULL', ...SIZES.flatMap((size) => [`NUMERIC '${size}'`, `NUMERIC '-${size}'`])].join(', ')}]`;
const INTEGERS = '[0, 1, -3, 1790000000000000, 9223372036854775807, -9223372036854775807 - 1, NULL]';

const FACTORS = ['1.5', '-2', '0.333333333', '1000000000.5', '99999999999999999999999999999.999999999', '7'];

const EXTREMES = ['0.000000001', '1.5', '999999999.5', '1790000000000000.5', '99999999999999999999999999999.999999999'];

const QUERIES = [
  // Of one row, where DuckDB evaluates what it can when it plans.
  ...EXTREMES.flatMap((a) =>
    EXTREMES.map(
      (b) => `SELECT (c0 * c1) AS v FROM UNNEST([STRUCT(1 AS id, NUMERIC '${a}' AS c0, NUMERIC '${b}' AS c1)]) AS r`,
    ),
  ),
  ...EXTREMES.flatMap((a) => EXTREMES.map((b) => `SELECT NUMERIC '${a}' * NUMERIC '-${b}' AS v`)),
  `SELECT a, b, SAFE_MULTIPLY(a, b) AS y FROM UNNEST(${NUMBERS}) AS a, UNNEST(${NUMBERS}) AS b ORDER BY a, b`,
  `SELECT a, b, a * b AS y FROM UNNEST(${NUMBERS}) AS a, UNNEST(${NUMBERS}) AS b WHERE ABS(a) < 1e14 AND ABS(b) < 1e14 ORDER BY a, b`,
  `SELECT a, n, n * a AS y, a * n AS z FROM UNNEST(${NUMBERS}) AS a, UNNEST(${INTEGERS}) AS n WHERE ABS(a) < 1e10 ORDER BY a, n`,
  `SELECT n, CAST(n + 1 AS NUMERIC) * NUMERIC '1.5' AS y FROM UNNEST([0, 1, -3, 9223372036854775806]) AS n ORDER BY n`,
  ...FACTORS.map(
    (factor) =>
      `SELECT a, a * NUMERIC '${factor}' AS y FROM UNNEST(${NUMBERS}) AS a WHERE ABS(a) < 1e9 / ${factor.replace('-', '')} ORDER BY a`,
  ),
  "SELECT NUMERIC '99999999999999999999999999999' * 2 AS y",
  "SELECT x * NUMERIC '99999999999999999999999999999' AS y FROM UNNEST([9223372036854775807]) AS x",
  "SELECT a * b AS y FROM UNNEST([NUMERIC '99999999999999999999999999999']) AS a, UNNEST([NUMERIC '1.5']) AS b",
  "SELECT SAFE_MULTIPLY(CAST(x AS NUMERIC), NUMERIC '99999999999999999999999999999') AS y FROM UNNEST([9223372036854775807]) AS x",
  String.raw`SELECT INITCAP(x) AS y, INITCAP(x, 'aB') AS z, INITCAP(x, '') AS w, INITCAP(x, 'é') AS v FROM UNNEST(['', 'hello WORLD', 'GET | 200 | x-y_z', 'a\tb\vc\fd\ne', '[a]{b}ABAB', 'o\x00ne', '0ne 2wo', "it's", NULL, 'ÉTÉ été']) AS x ORDER BY x`,
];

onBothEngines('products of NUMERIC, and INITCAP', (engines) => {
  test.each(QUERIES)('%s', async (sql) => {
    expect(await engines().difference(sql, 'ordered')).toBeNull();
  });
});
