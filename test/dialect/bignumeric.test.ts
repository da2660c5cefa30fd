/** BIGNUMERIC in all its digits, on both engines. */
import { overLocalBigQuery } from '../engines/over-local-bigquery';
import { TwoEngines } from './two-engines';

const GREATEST = '578960446186580977117854925043439539266.34992332820282019728792003956564819967';
const LEAST = '-578960446186580977117854925043439539266.34992332820282019728792003956564819968';
const TINY = '0.00000000000000000000000000000000000001';
const VALUES = [
  ...[GREATEST, LEAST, TINY, `-${TINY}`, '0', '1', '-1', '0.5', '-0.5', '2.5', '-2.5', '3', '1e38', '-1e38'],
  ...['12345678901234567890.123456789012345678', '-99999999999999999999999999999.9999999995', '1e-19', '-1e19'],
  ...[
    '0.33333333333333333333333333333333333333',
    '18446744073709551615',
    '-9223372036854775808',
    '9223372036854775807.5',
  ],
];
const literal = (value: string): string => `BIGNUMERIC '${value}'`;
const NUMBERS = `[NULL, ${VALUES.map(literal).join(', ')}]`;
const X = `UNNEST(${NUMBERS}) AS x`;
const PAIRS = `UNNEST(${NUMBERS}) AS x, UNNEST(${NUMBERS}) AS y`;

const TEXTS = String.raw`['', ' ', 'abc', '1', ' 1.50 ', '-.5', '+5.', '1e5', '1E-38', '1e-39', '5e-39', '-4.9e-39', '1e39', '5.7e38', '5.8e38', '0e99999', '1,234', '1,234.5-', '- 12', '12 -', '0x10', 'NaN', 'inf', '1e', NULL, '${GREATEST}', '${LEAST}', '578960446186580977117854925043439539266.349923328202820197287920039565648199675', '0.000000000000000000000000000000000000005', '1.${'3'.repeat(60)}', '${'0'.repeat(50)}7']`;
const FLOATS =
  "[0.0, -0.0, 0.1, -0.1, 1.5, 1e-38, 4e-39, 5e-324, 1e38, -5.7e38, 5.79e38, 1e308, CAST('nan' AS FLOAT64), CAST('inf' AS FLOAT64), 123456789.123456789, NULL]";

const QUERIES = [
  ...VALUES.map((value) => `SELECT ${literal(value)} AS x, -${literal(value.replace(/^-/, ''))} AS y`),
  "SELECT BIGNUMERIC '578960446186580977117854925043439539266.34992332820282019728792003956564819968' AS x",
  "SELECT BIGNUMERIC '0.000000000000000000000000000000000000001' AS x",
  `SELECT x, x = y, x < y, x >= y, x <> y, x IS DISTINCT FROM y, x IN (y, 1), x BETWEEN y AND 5 FROM ${PAIRS} ORDER BY x, y`,
  `SELECT x, y, SAFE_ADD(x, y) AS a, SAFE_SUBTRACT(x, y) AS b, SAFE_MULTIPLY(x, y) AS c, SAFE_DIVIDE(x, y) AS d FROM ${PAIRS} ORDER BY x, y`,
  `SELECT x, y, SAFE.DIV(x, y) AS a, SAFE.MOD(x, y) AS b, GREATEST(x, y) AS c, LEAST(x, y) AS d FROM ${PAIRS} ORDER BY x, y`,
  ...['+', '-', '*', '/'].map(
    (operator) =>
      `SELECT x ${operator} y AS z FROM UNNEST([${VALUES.filter((value) => value.length < 30 && value !== '0')
        .map(literal)
        .join(', ')}]) AS x, UNNEST([BIGNUMERIC '0.25', -3, 5, NULL]) AS y ORDER BY x, y`,
  ),
  ...['+', '-', '*'].map((operator) => `SELECT ${literal(GREATEST)} ${operator} ${literal(LEAST)} AS z`),
  `SELECT ${literal(GREATEST)} / ${literal(TINY)} AS z`,
  ...['/', ', DIV', ', MOD'].map((f) =>
    f === '/'
      ? "SELECT x / 0 AS y FROM UNNEST([BIGNUMERIC '1']) AS x"
      : `SELECT ${f.slice(2)}(x, 0) AS y FROM UNNEST([BIGNUMERIC '1']) AS x`,
  ),
  `SELECT CAST(NULL AS BIGNUMERIC) / 0 AS a, MOD(CAST(NULL AS BIGNUMERIC), 0) AS b`,
  `SELECT x, SAFE.ABS(x), SIGN(x), SAFE_NEGATE(x), SAFE.CEIL(x), SAFE.FLOOR(x), SAFE.ROUND(x), TRUNC(x), SAFE.SQRT(x) FROM ${X} ORDER BY x`,
  `SELECT x, n, SAFE.ROUND(x, n) AS a, TRUNC(x, n) AS b, SAFE.ROUND(x, n, 'ROUND_HALF_EVEN') AS c FROM ${X}, UNNEST([NULL, -9223372036854775808, -40, -39, -38, -20, -1, 0, 1, 18, 37, 38, 39, 9223372036854775807]) AS n ORDER BY x, n`,
  `SELECT ABS(${literal(LEAST)}) AS y`,
  `SELECT FLOOR(${literal(LEAST)}) AS y`,
  `SELECT -x AS y FROM UNNEST([${literal(LEAST)}]) AS x`,
  "SELECT SQRT(x) AS y FROM UNNEST([BIGNUMERIC '2', 0, 1e-38, 1e38, 3.7]) AS x ORDER BY y",
  "SELECT SQRT(x) AS y FROM UNNEST([BIGNUMERIC '-1']) AS x",
  ...['EXP', 'LN', 'LOG10', 'SQRT'].map((f) => `SELECT x, SAFE.${f}(x) AS y FROM ${X} ORDER BY x`),
  `SELECT x, y, SAFE.LOG(x, y) AS a FROM ${PAIRS} ORDER BY x, y`,
  `SELECT x, y, SAFE.POW(x, y) AS a FROM ${PAIRS} ORDER BY x, y`,
  `SELECT x, EXP(x) AS a FROM UNNEST([BIGNUMERIC '88.6', 87.9999, -87, -300, -1e38, 0.000001, 20.5]) AS x ORDER BY x`,
  `SELECT x, y, SAFE.POW(x, y) AS a, SAFE.LOG(x, y) AS b FROM UNNEST([BIGNUMERIC '1.0000001', 0.99999, 12.34, 1e20, 7e-7, -3]) AS x, UNNEST([BIGNUMERIC '1e7', -1e6, 0.333, -0.5, 33, -33, 1.75]) AS y ORDER BY x, y`,
  "SELECT LOG(x) AS y FROM UNNEST([BIGNUMERIC '10']) AS x",
  ...[
    "EXP(BIGNUMERIC '89')",
    "LN(BIGNUMERIC '0')",
    "LOG(BIGNUMERIC '2', 1)",
    "POW(BIGNUMERIC '0', -1)",
    "POW(BIGNUMERIC '-2', 0.5)",
    "POW(BIGNUMERIC '10', 39)",
  ].map((call) => `SELECT ${call} AS y`),
  // Conversions.
  `SELECT x, SAFE_CAST(x AS INT64) AS i, SAFE_CAST(x AS NUMERIC) AS n, CAST(x AS FLOAT64) AS f, CAST(x AS STRING) AS s, CAST(CAST(x AS STRING) AS BIGNUMERIC) = x AS same FROM ${X} ORDER BY x`,
  `SELECT s, SAFE_CAST(s AS BIGNUMERIC) AS x, SAFE.PARSE_BIGNUMERIC(s) AS y FROM UNNEST(${TEXTS}) AS s ORDER BY s`,
  ...["'abc'", "''", "'6e38'"].flatMap((s) => [
    `SELECT CAST(s AS BIGNUMERIC) AS x FROM UNNEST([${s}]) AS s`,
    `SELECT PARSE_BIGNUMERIC(s) AS x FROM UNNEST([${s}]) AS s`,
  ]),
  `SELECT f, SAFE_CAST(f AS BIGNUMERIC) AS x FROM UNNEST(${FLOATS}) AS f ORDER BY f`,
  ...["CAST('nan' AS FLOAT64)", '1e39'].map((f) => `SELECT CAST(f AS BIGNUMERIC) AS x FROM UNNEST([${f}]) AS f`),
  "SELECT CAST(n AS BIGNUMERIC) AS x, n + BIGNUMERIC '0.1' AS y FROM UNNEST([NUMERIC '99999999999999999999999999999.999999999', -0.000000001, NULL]) AS n ORDER BY x",
  "SELECT CAST(n AS BIGNUMERIC) AS x, n * BIGNUMERIC '0.1' AS y FROM UNNEST([9223372036854775807, -9223372036854775808, 0, NULL]) AS n ORDER BY x",
  ...['INT64', 'NUMERIC'].map((type) => `SELECT CAST(x AS ${type}) AS y FROM UNNEST([${literal(GREATEST)}]) AS x`),
  "SELECT CAST(['1.5', NULL] AS ARRAY<BIGNUMERIC>)[OFFSET(0)] AS x",
  "SELECT CAST(STRUCT(1.5, '2') AS STRUCT<a BIGNUMERIC, b BIGNUMERIC>) AS x",
  "SELECT x + 0.5 AS y, x > 1.25 AS z FROM UNNEST([BIGNUMERIC '1.5']) AS x",
  // Rows.
  `SELECT x, COUNT(*) AS n FROM UNNEST([BIGNUMERIC '1', 1.0, 2, NULL, NULL, 1e-38]) AS x GROUP BY x ORDER BY x`,
  `SELECT DISTINCT x FROM UNNEST([BIGNUMERIC '1.10', 1.1, 2, NULL, NULL]) AS x ORDER BY x DESC`,
  `SELECT a, b FROM UNNEST([BIGNUMERIC '1', 2, 3]) AS a JOIN UNNEST([BIGNUMERIC '1.0', 3, 4]) AS b ON a = b ORDER BY a`,
  `SELECT a, n FROM UNNEST([BIGNUMERIC '1', 2, 3]) AS a JOIN UNNEST([1, 3]) AS n ON a = n ORDER BY a`,
  `SELECT a FROM UNNEST([BIGNUMERIC '1', 2, NULL]) AS a WHERE a NOT IN (SELECT b FROM UNNEST([BIGNUMERIC '2']) AS b)`,
  `SELECT MIN(x), MAX(x), COUNT(x), COUNT(DISTINCT x), APPROX_COUNT_DISTINCT(x), ANY_VALUE(x HAVING MAX x) FROM ${X}`,
  `SELECT SUM(x) AS s, AVG(x) AS a, SUM(DISTINCT x) AS d, AVG(DISTINCT x) AS e FROM UNNEST([${literal(GREATEST)}, ${literal(LEAST)}, ${literal(GREATEST)}, 1e-38, -7, -7, NULL]) AS x WHERE x < 1 OR x > 0`,
  `SELECT SUM(x) AS s, AVG(x) AS a FROM UNNEST([${literal(GREATEST)}, ${literal(LEAST)}, 1e-38, 2.5, NULL]) AS x`,
  `SELECT AVG(x) AS a FROM UNNEST([${literal(GREATEST)}, ${literal(GREATEST)}, ${literal(GREATEST)}]) AS x`,
  `SELECT AVG(x) AS a FROM UNNEST([${literal(TINY)}, BIGNUMERIC '0']) AS x`,
  `SELECT AVG(x) AS a FROM UNNEST([BIGNUMERIC '-${TINY}', 0]) AS x`,
  `SELECT SUM(x) AS s FROM UNNEST([${literal(GREATEST)}, ${literal(TINY)}]) AS x`,
  `SELECT SUM(x) AS s, AVG(x) AS a FROM UNNEST([BIGNUMERIC '1']) AS x WHERE FALSE`,
  `SELECT MOD(n, 3) AS k, SUM(CAST(n AS BIGNUMERIC) / 7) AS s, AVG(CAST(n AS BIGNUMERIC)) AS a FROM UNNEST(GENERATE_ARRAY(-50, 5000)) AS n GROUP BY k ORDER BY k`,
  `SELECT x, SUM(x) OVER (ORDER BY x ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS s, AVG(x) OVER (ORDER BY x ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS a, RANK() OVER (ORDER BY x) AS r, LAG(x) OVER (ORDER BY x) AS l, FIRST_VALUE(x) OVER (ORDER BY x) AS f FROM UNNEST([BIGNUMERIC '1.5', -2, 3, 1e38, NULL]) AS x ORDER BY x`,
  `SELECT ARRAY_AGG(x ORDER BY x DESC) AS a, APPROX_QUANTILES(x, 2) AS q FROM UNNEST([BIGNUMERIC '1.5', -2, 1e38]) AS x`,
  `SELECT PERCENTILE_DISC(x, 0.5) OVER () AS p FROM UNNEST([BIGNUMERIC '1.5', -2, 1e38]) AS x`,
  `SELECT x FROM UNNEST([BIGNUMERIC '1']) AS x UNION ALL SELECT n FROM UNNEST([2]) AS n ORDER BY x`,
  `SELECT IF(x > 0, x, NULL) AS a, COALESCE(x, 5) AS b, NULLIF(x, 1) AS c, CASE x WHEN 1 THEN 'one' ELSE 'other' END AS d FROM UNNEST([BIGNUMERIC '1', -1, NULL]) AS x ORDER BY x`,
  `SELECT RANGE_BUCKET(x, [BIGNUMERIC '0', 1, 2]) AS b, x IN UNNEST([BIGNUMERIC '1', 7]) AS i FROM UNNEST([BIGNUMERIC '1', -1, 2.5]) AS x ORDER BY x`,
  // Texts.
  `SELECT x, TO_JSON_STRING(x) AS j, TO_JSON_STRING([x]) AS k, TO_JSON_STRING(STRUCT(x AS f)) AS l FROM ${X} WHERE x IS NOT NULL ORDER BY x`,
  `SELECT x, TO_JSON(x, stringify_wide_numbers => TRUE) AS j FROM ${X} ORDER BY x`,
  `SELECT x, TO_JSON(x) AS j, JSON_ARRAY(x) AS k FROM UNNEST([BIGNUMERIC '1.5', -3, BIGNUMERIC '18446744073709551615', 1e20, NULL]) AS x ORDER BY x`,
  `SELECT x, FORMAT('%t', x) AS t, FORMAT('%T', x) AS u, FORMAT('%.40f', x) AS f, FORMAT('%10.2e', x) AS e, FORMAT('%g', x) AS g, FORMAT("%'.3f", x) AS h FROM ${X} ORDER BY x`,
  `SELECT x, CAST(x AS STRING FORMAT '999,999.99') AS s, CAST(x AS STRING FORMAT '9.99EEEE') AS e FROM UNNEST([BIGNUMERIC '1234.5', -0.005, 1e20, NULL]) AS x ORDER BY x`,
  `SELECT [x, 2] AS a, STRUCT(x AS f, 'a' AS g) AS s FROM UNNEST([BIGNUMERIC '1.5', 1e-38]) AS x ORDER BY x`,
  `SELECT x FROM ${X} WHERE x > BIGNUMERIC '2' ORDER BY x`,
];

overLocalBigQuery('BIGNUMERIC', (local) => {
  let engines: TwoEngines;
  beforeAll(async () => {
    engines = await TwoEngines.open(local().host);
  }, 60_000);
  afterAll(() => engines.close());

  test.each(QUERIES)('%s', async (sql) => {
    expect(await engines.difference(sql, 'ordered')).toBeNull();
  });
});
