/** IN UNNEST and equality of STRUCT and INTERVAL, and dates that have no clock, on both engines. */
import { overLocalBigQuery } from '../engines/over-local-bigquery';
import { TwoEngines } from './two-engines';

const NAN = "CAST('nan' AS FLOAT64)";
const STRUCTS = 'ARRAY<STRUCT<INT64, STRING>>';

const QUERIES = [
  "SELECT STRUCT(1, 'a') IN UNNEST([STRUCT(1, 'a'), STRUCT(2, 'b')]), STRUCT(1, 'a') NOT IN UNNEST([STRUCT(2, 'b')])",
  "SELECT STRUCT(1, CAST(NULL AS STRING)) IN UNNEST([STRUCT(1, 'a')]), STRUCT(1, CAST(NULL AS STRING)) IN UNNEST([STRUCT(2, 'a')])",
  "SELECT STRUCT(1, 'a') IN UNNEST([STRUCT(1, CAST(NULL AS STRING)), STRUCT(1, 'a')])",
  `SELECT STRUCT(1, 'a') IN UNNEST(CAST(NULL AS ${STRUCTS})), STRUCT(1, 'a') IN UNNEST(CAST([] AS ${STRUCTS}))`,
  `SELECT CAST(NULL AS STRUCT<INT64, STRING>) IN UNNEST([STRUCT(1, 'a')]), CAST(NULL AS STRUCT<INT64, STRING>) IN UNNEST(CAST([] AS ${STRUCTS}))`,
  `SELECT STRUCT(${NAN}) IN UNNEST([STRUCT(${NAN})]), STRUCT(1.0) IN UNNEST([STRUCT(1)]), STRUCT(-0.0) IN UNNEST([STRUCT(0.0)])`,
  `SELECT STRUCT(${NAN}) = STRUCT(${NAN}), STRUCT(1, ${NAN}) != STRUCT(1, ${NAN}), STRUCT(${NAN}) IN (STRUCT(${NAN}))`,
  `SELECT x = y FROM UNNEST([STRUCT(${NAN} AS a, 1 AS b)]) AS x, UNNEST([STRUCT(${NAN} AS a, 1 AS b)]) AS y`,
  "SELECT STRUCT(STRUCT(1, 'a'), 2) IN UNNEST([STRUCT(STRUCT(1, 'a'), 2), STRUCT(STRUCT(1, CAST(NULL AS STRING)), 2)])",
  "SELECT x, STRUCT(x, 'k') IN UNNEST(l) FROM (SELECT [1, 2, NULL] AS xs, [STRUCT(1 AS a, 'k' AS b), STRUCT(3, 'k'), NULL] AS l), UNNEST(xs) AS x ORDER BY x",
  "SELECT x FROM UNNEST([STRUCT(1 AS a, 'x' AS b), STRUCT(2, 'y')]) AS x WHERE x IN UNNEST([STRUCT(2 AS a, 'y' AS b)])",
  'SELECT INTERVAL 30 DAY IN UNNEST([INTERVAL 1 MONTH]), INTERVAL 24 HOUR IN UNNEST([INTERVAL 1 DAY, NULL]), INTERVAL 1 HOUR IN UNNEST([INTERVAL 1 DAY, NULL])',
  "SELECT STRUCT(1, 'a') IN UNNEST([1])",
  "SELECT STRUCT(JSON '1') IN UNNEST([STRUCT(JSON '1')])",
  'SELECT STRUCT([1]) IN UNNEST([STRUCT([1])])',
  ...['DATETIME_ADD', 'DATETIME_SUB', 'TIMESTAMP_ADD'].flatMap((name) =>
    ['HOUR', 'MICROSECOND', 'DAY'].map((part) => `SELECT ${name}(DATE '2024-12-30', INTERVAL 2 ${part})`),
  ),
  ...['DATETIME_TRUNC', 'TIMESTAMP_TRUNC'].flatMap((name) =>
    ['HOUR', 'MONTH'].map((part) => `SELECT ${name}(DATE '2024-12-30', ${part})`),
  ),
  "SELECT SAFE.DATETIME_ADD(t, INTERVAL 2147483648 DAY), SAFE.DATETIME_SUB(t, INTERVAL 9223372036854775807 HOUR) FROM UNNEST([DATETIME '2026-11-01 01:30:00']) AS t",
  "SELECT TIMESTAMP_ADD(TIMESTAMP '0001-01-01 00:00:00+00', INTERVAL 315537897599 SECOND)",
  `SELECT JSON_VALUE(JSON '{"a":1}', CAST('$.a' AS STRING))`,
  `SELECT ROUND(x, n), TRUNC(x, n) FROM UNNEST([CAST('inf' AS FLOAT64), ${NAN}, 1.5]) AS x WITH OFFSET AS o, UNNEST([-400, -309, -308, 400]) AS n ORDER BY o, n`,
];

overLocalBigQuery('STRUCT among others', (local) => {
  let engines: TwoEngines;
  beforeAll(async () => {
    engines = await TwoEngines.open(local().host);
  }, 60_000);
  afterAll(() => engines.close());

  test.each(QUERIES)('%s', async (sql) => {
    expect(await engines.difference(sql, 'ordered')).toBeNull();
  });
});
