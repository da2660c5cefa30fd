/** Queries that the engines once answered otherwise: found by `npm run fuzz:dialect`, and held to both here. */
import { overLocalBigQuery } from '../engines/over-local-bigquery';
import { TwoEngines } from './two-engines';

const PLACES = '[1, 2, 3, 5, 6, 7, 8, -1, -2, -5, -6, -7, -8, 9223372036854775807, -9223372036854775807]';
const AMOUNTS = '[1, -1, 2019, 2020, 95000, 96000, -24229, -24230, 9223372036854775807, -9223372036854775807]';

const QUERIES = [
  ...["'b'", "''", "'语'"].flatMap((sub) =>
    ['', ', 2', ', 9223372036854775807'].map(
      (occurrence) => `SELECT x, INSTR('abcabc', ${sub}, x${occurrence}) AS y FROM UNNEST(${PLACES}) AS x ORDER BY x`,
    ),
  ),
  "SELECT INSTR('', 'o', 9223372036854775807) AS y",
  'SELECT SAFE.CODE_POINTS_TO_STRING(c) AS y FROM (SELECT [-1] AS c)',
  'SELECT x, SAFE.CODE_POINTS_TO_STRING([x]) AS y FROM UNNEST([0, 55295, 55296, 57343, 57344, 1114111, 1114112, -1]) AS x ORDER BY x',
  'SELECT CODE_POINTS_TO_STRING([65, NULL, 66]) AS y',
  ...['MONTH', 'QUARTER', 'YEAR'].flatMap((part) => [
    `SELECT x, SAFE.DATE_ADD(DATE '2020-02-29', INTERVAL x ${part}) AS y FROM UNNEST(${AMOUNTS}) AS x ORDER BY x`,
    `SELECT x, SAFE.DATETIME_SUB(DATETIME '2020-02-29 00:00:00', INTERVAL x ${part}) AS y FROM UNNEST(${AMOUNTS}) AS x ORDER BY x`,
    `SELECT DATE_ADD(CAST(NULL AS DATE), INTERVAL 9223372036854775807 ${part}) AS y`,
  ]),
  String.raw`SELECT REGEXP_INSTR(s, re) AS y FROM (SELECT '' AS s, '100%_\\' AS re)`,
  "SELECT REGEXP_INSTR(s, re) AS y FROM (SELECT '' AS s, 'a*' AS re)",
  ...['DATE', 'DATETIME', 'TIME'].map((type) => `SELECT SAFE.PARSE_${type}('%H:%M:%S %z', '') AS y`),
  "SELECT x FROM UNNEST([1]) AS x ORDER BY INTERVAL '1:30:00.5' HOUR TO SECOND",
  "SELECT ARRAY_AGG(x ORDER BY INTERVAL '1-2' YEAR TO MONTH) AS y FROM UNNEST([1]) AS x",
  "SELECT x, INSTR('abc', '', x) AS y FROM UNNEST([1, NULL]) AS x ORDER BY x",
  "SELECT DATE_SUB(DATE '2026-09-30', INTERVAL SAFE_ADD(9223372036854775807, 1) MONTH) AS y",
  "SELECT DATE_SUB(DATE '2026-09-30', INTERVAL SAFE_ADD(9223372036854775807, 1) DAY) AS y",
  'SELECT n + d AS y FROM UNNEST([STRUCT(9223372036854775807 AS n, CAST(NULL AS DATE) AS d)])',
  'SELECT IF(c, DATE_FROM_UNIX_DATE(n), NULL) AS y FROM UNNEST([STRUCT(FALSE AS c, -9223372036854775807 AS n)])',
  'SELECT n, SAFE.DATE_FROM_UNIX_DATE(n) AS y FROM UNNEST([1, 9223372036854775807, -719162, -719163, 2932896, 2932897]) AS n ORDER BY n',
  ...["CAST(NULL AS STRING), '-'", "'-', CAST(NULL AS STRING)", "'-', x", "'-', '+'"].map(
    (more) => `SELECT ARRAY_TO_STRING(['a', NULL, 'b'], ${more}) AS y FROM UNNEST(['z', NULL]) AS x ORDER BY x`,
  ),
  String.raw`SELECT NET.HOST('100%_\') AS y, NET.HOST('http://a\b/c') AS z`,
  "SELECT LOG(CAST('inf' AS FLOAT64), -7.25) AS y",
  ...['DATETIME', 'TIMESTAMP'].flatMap((type) =>
    [
      'INTERVAL 40 HOUR + INTERVAL 1 DAY',
      'INTERVAL 1 DAY',
      'INTERVAL 40 HOUR',
      'INTERVAL 1 MONTH + INTERVAL 1 DAY',
    ].map((width) => `SELECT ${type}_BUCKET(${type} '2026-09-30 11:22:33', ${width}) AS y`),
  ),
  "SELECT AVG(x) AS y FROM UNNEST([NUMERIC '99999999999999999999999999999.999999999']) AS x",
  "SELECT TO_JSON_STRING(x) AS y FROM UNNEST([NUMERIC '99999999999999999999999999999.999999999', 5, 1.5, -9007199254740993]) AS x ORDER BY x",
  ...["CAST('a' AS STRING)", "'a'", 'TRUE', '1.5', 'CAST(NULL AS BOOL)', 'NULL', '-1'].map(
    (k) => `SELECT ${k} AS k, COUNT(*) AS n FROM (SELECT 2 AS c) GROUP BY ROLLUP(k) ORDER BY 1`,
  ),
  "SELECT PARSE_TIMESTAMP('%s', '1790769600', '') AS y",
  "SELECT SAFE.PARSE_TIMESTAMP('%s', '1790769600', 'x') AS y",
  "SELECT SAFE.FORMAT_DATE('%F %Z', TIMESTAMP '2026-09-30 11:22:33+00', '') AS y",
  "SELECT FORMAT_DATE('%E*f', DATE '2026-09-30') AS y",
  ...['<', '<=', '>', '>=', '=', '!='].map(
    (operator) =>
      `SELECT a, b, a ${operator} b AS y FROM UNNEST([1.0, NULL, CAST('nan' AS FLOAT64)]) AS a CROSS JOIN UNNEST([1.0, NULL, CAST('nan' AS FLOAT64)]) AS b ORDER BY a, b`,
  ),
  "SELECT a, b, c, a BETWEEN b AND c AS y FROM UNNEST([1.0, NULL, CAST('nan' AS FLOAT64)]) AS a CROSS JOIN UNNEST([0.5, NULL, CAST('nan' AS FLOAT64)]) AS b CROSS JOIN UNNEST([1.5, NULL, CAST('nan' AS FLOAT64)]) AS c ORDER BY a, b, c",
  "SELECT ROUND(CAST(NULL AS NUMERIC), 2147483648, 'ROUND_HALF_AWAY_FROM_ZERO') AS y, ROUND(NUMERIC '12.5', 99999999999) AS z, TRUNC(NUMERIC '12.5', -99999999999) AS w",
  'SELECT ARRAY_AGG(x ORDER BY INTERVAL 5 DAY) AS y FROM UNNEST([1]) AS x',
];

overLocalBigQuery('once different', (local) => {
  let engines: TwoEngines;
  beforeAll(async () => {
    engines = await TwoEngines.open(local().host);
  }, 60_000);
  afterAll(() => engines.close());

  test.each(QUERIES)('%s', async (sql) => {
    expect(await engines.difference(sql, 'ordered')).toBeNull();
  });
});
