/** BIGNUMERIC read, cast and compared, on both engines; nothing computes with it on the embedded one. */
import { onBothEngines } from './on-both-engines';
import { ask } from './two-engines';

const GREATEST = '578960446186580977117854925043439539266.34992332820282019728792003956564819967';
const LEAST = '-578960446186580977117854925043439539266.34992332820282019728792003956564819968';
const TINY = '0.00000000000000000000000000000000000001';
const VALUES = [
  ...[GREATEST, LEAST, TINY, `-${TINY}`, '0', '1', '-1', '0.5', '-0.5', '2.5', '1e38', '-1e38', '1e-19', '-1e19'],
  ...['12345678901234567890.123456789012345678', '-99999999999999999999999999999.9999999995'],
  ...['18446744073709551615', '-9223372036854775808', '9223372036854775807.5'],
];
const NUMBERS = `[NULL, ${VALUES.map((value) => `BIGNUMERIC '${value}'`).join(', ')}]`;
const X = `UNNEST(${NUMBERS}) AS x`;

const TEXTS = String.raw`['', ' ', 'abc', '1', ' 1.50 ', '-.5', '+5.', '1e5', '1E-38', '5e-39', '-4.9e-39', '1e39', '5.8e38', '0e99999', '0x10', 'NaN', '1e', NULL, '${GREATEST}', '${LEAST}', '578960446186580977117854925043439539266.349923328202820197287920039565648199675', '1.${'3'.repeat(60)}', '${'0'.repeat(50)}7']`;
const FLOATS =
  "[0.0, -0.0, 0.1, -0.1, 1.5, 1e-38, 4e-39, 5e-324, 1e38, -5.7e38, 5.79e38, 1e308, CAST('nan' AS FLOAT64), CAST('inf' AS FLOAT64), 123456789.123456789, NULL]";

const QUERIES = [
  `SELECT x, CAST(x AS STRING) AS s, CAST(x AS FLOAT64) AS f, SAFE_CAST(x AS INT64) AS i, SAFE_CAST(x AS NUMERIC) AS n FROM ${X} ORDER BY x`,
  `SELECT CAST(x AS INT64) AS i FROM ${X}`,
  `SELECT s, SAFE_CAST(s AS BIGNUMERIC) AS x FROM UNNEST(${TEXTS}) AS s ORDER BY s`,
  `SELECT f, SAFE_CAST(f AS BIGNUMERIC) AS x FROM UNNEST(${FLOATS}) AS f ORDER BY f`,
  "SELECT CAST(1 AS BIGNUMERIC) AS a, CAST(NUMERIC '1.5' AS BIGNUMERIC) AS b, CAST(BIGNUMERIC '1.256' AS BIGNUMERIC(5, 2)) AS c",
  `SELECT x = y, x < y, x >= y, x <> y, x IS DISTINCT FROM y, x IN (y, 1), x BETWEEN y AND 5, GREATEST(x, y), LEAST(x, y), NULLIF(x, y) FROM ${X}, UNNEST(${NUMBERS}) AS y ORDER BY x, y`,
  `SELECT MIN(x), MAX(x), COUNT(x), COUNT(DISTINCT x), ARRAY_AGG(x IGNORE NULLS ORDER BY x DESC) FROM ${X}`,
  `SELECT x, COUNT(*) AS n FROM ${X}, UNNEST([1, 2]) GROUP BY x ORDER BY x`,
  `SELECT x, LAG(x) OVER (ORDER BY x) AS y, TO_JSON_STRING(x) AS t, [x] AS list, STRUCT(x AS y) AS s FROM ${X} ORDER BY x`,
  `SELECT IF(x > 0, x, NULL), COALESCE(x, 1), CASE x WHEN 1 THEN x END FROM ${X} ORDER BY x`,
];

onBothEngines('BIGNUMERIC', (engines) => {
  test.each(QUERIES)('%s', async (sql) => {
    expect(await engines().difference(sql, 'ordered')).toBeNull();
  });

  test.each([
    'x + x',
    '-x',
    'ABS(x)',
    'ROUND(x)',
    'SUM(x)',
    'AVG(x)',
    'STDDEV(x)',
    "FORMAT('%t', x)",
    'SAFE_ADD(x, 1)',
    'MOD(x, 2)',
  ])('%s is refused by name', async (call) => {
    const answer = await ask(engines().embedded, `SELECT ${call} AS v FROM UNNEST([BIGNUMERIC '1']) AS x`);
    expect(answer).toEqual({
      error: expect.stringMatching(/^The embedded engine has no \S+ of BIGNUMERIC: BigQuery /),
    });
  });
});
