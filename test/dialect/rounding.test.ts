/** Decimals rounded to computed digits and by modes, and FLOAT64 literals as decimals, on both engines. */
import { onBothEngines } from './on-both-engines';

const NUMERICS =
  "[NUMERIC '1.25', 1.35, -2.5, 0, NULL, 123456789.987654321, -0.000000005, 0.000000015, 55555555555555555555555555555.555555555, -14999999999999999999999999999.5]";
const DIGITS =
  '[-9223372036854775808, -38, -30, -21, -20, -19, -1, 0, 1, 2, 8, 9, 10, 17, 18, 19, 38, 9223372036854775807, NULL]';

const rounded = (values: string): string =>
  `SELECT x, n, ROUND(x, n) AS a, TRUNC(x, n) AS b, ROUND(x, n, 'ROUND_HALF_EVEN') AS c, ROUND(x, n, 'ROUND_HALF_AWAY_FROM_ZERO') AS d FROM UNNEST(${values}) AS x WITH OFFSET AS i, UNNEST(${DIGITS}) AS n ORDER BY i, n`;

const QUERIES = [
  rounded(NUMERICS),
  "SELECT ROUND(NUMERIC '2.5', 0, 'ROUND_HALF_EVEN'), ROUND(NUMERIC '1.25', 1, 'ROUND_HALF_EVEN'), ROUND(NUMERIC '1.25', 1, NULL)",
  "SELECT ROUND(CAST(NULL AS NUMERIC), 1, 'ROUND_HALF_EVEN'), ROUND(NUMERIC '1.25', NULL), TRUNC(NUMERIC '1.25', NULL)",
  ...['round_half_even', 'x', ''].map((mode) => `SELECT ROUND(NUMERIC '1.25', 1, '${mode}')`),
  "SELECT ROUND(1.25, 1, 'ROUND_HALF_EVEN')",
  "SELECT ROUND(NUMERIC '1.25', 1, m) FROM UNNEST(['ROUND_HALF_EVEN']) AS m",
  "SELECT TRUNC(NUMERIC '1.25', 1, 'ROUND_HALF_EVEN')",
  // All digits of the type.
  "SELECT ROUND(NUMERIC '5e28', -29)",
  "SELECT ROUND(NUMERIC '9e28', -29, 'ROUND_HALF_EVEN')",
  "SELECT SAFE.ROUND(NUMERIC '5e28', -29, 'ROUND_HALF_EVEN'), SAFE.ROUND(NUMERIC '5e28', -29)",
  "SELECT SAFE.ROUND(x, n), TRUNC(x, n) FROM UNNEST([NUMERIC '5e28']) AS x, UNNEST([-29]) AS n",
  // A literal as a decimal has the digits that are written.
  "SELECT [NUMERIC '1.25', 123456789.987654321], [BIGNUMERIC '1.25', -123456789.987654321]",
  "SELECT NUMERIC '1.25' + 123456789.987654321, NUMERIC '1.25' + -123456789.987654321",
  "SELECT x = 123456789.987654321 FROM UNNEST([NUMERIC '123456789.987654321']) AS x",
  "SELECT IF(TRUE, 12345678901234567890.5, NUMERIC '1'), NUMERIC '1' + 0.00000000055",
];

onBothEngines('decimals rounded', (engines) => {
  test.each(QUERIES)('%s', async (sql) => {
    expect(await engines().difference(sql, 'ordered')).toBeNull();
  });
});
