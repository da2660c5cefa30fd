/** What is folded for the value of a parameter (packages/duckdb-engine/src/translate/known-parameters.ts) stays what it was. */
import { onBothEngines } from './on-both-engines';
import type { Engine } from '../../packages/duckdb-engine/src/contract/contract';
import { queryOf, within } from '../../packages/duckdb-engine/test/queries';

const VALUES = [
  '',
  '2026-09-30T11:30:00Z',
  '2026-09-30T11:30:00.123456Z',
  '2026-09-30 13:30:00+02:00',
  '0001-01-01T00:00:00Z',
  '9999-12-31T23:59:59.999999Z',
  '9999-12-31T23:59:59-01:00',
  '9999-12-31 23:30:00-1',
  '0001-01-01T00:00:00+01:00',
  '2026-02-29T00:00:00Z',
  '2026-09-30T11:30:00.1234567Z',
  '2026-09-30T24:00:00Z',
  '2026-09-30T11:30:60Z',
  '2026-09-30 11:30:60.5',
  '9999-12-31T23:59:60Z',
  '0000-12-31T23:59:60Z',
  '10000-01-01',
  '2026-09-30',
  'yesterday',
];

const QUERIES = [
  "SELECT COUNT(*) AS n FROM raw_edge_logs WHERE IF(@p = '', TRUE, timestamp > CAST(@p AS TIMESTAMP))",
  "SELECT COUNT(*) AS n FROM raw_edge_logs WHERE @p = '' OR id > '8'",
  "SELECT COUNT(*) AS n FROM raw_edge_logs WHERE CASE WHEN @p = '' THEN FALSE WHEN @p IS NULL THEN TRUE ELSE timestamp <= CAST(@p AS TIMESTAMP) END",
  "SELECT COUNT(*) AS n FROM raw_edge_logs WHERE timestamp >= IF(COALESCE(@p, '') = '', TIMESTAMP '0001-01-01 00:00:00+00', CAST(@p AS TIMESTAMP))",
  "WITH a AS (SELECT id FROM raw_edge_logs WHERE IF(IFNULL(@p, 'x') = '', TRUE, timestamp > CAST(@P AS TIMESTAMP))) SELECT COUNT(*) AS n, (SELECT COUNT(*) FROM a WHERE id > '8') AS m FROM a",
  "SELECT CAST(@p AS TIMESTAMP) AS t, SAFE_CAST(@p AS TIMESTAMP) AS s, @p AS p, @p = '' AS e, IF(@p = '', NULL, LENGTH(@p)) AS n",
  'SELECT TIMESTAMP(@p) AS t, UNIX_MICROS(TIMESTAMP(@p)) AS u, TIMESTAMP_TRUNC(TIMESTAMP(@p), DAY) AS d, FORMAT_TIMESTAMP("%F %T", TIMESTAMP(@p)) AS f',
  'SELECT SAFE_CAST(@p AS DATETIME) AS d, SAFE_CAST(SUBSTR(@p, 12, 5) || ":00" AS TIME) AS t, SAFE_CAST(@p AS DATE) AS e',
  "SELECT IF(@p = '', [1], [2, 3]) AS a, IF(@p = '', STRUCT(1 AS x), STRUCT(2 AS x)) AS s, CASE @p WHEN '' THEN 'none' ELSE 'some' END AS c",
];

const FRACTIONS = ['0', '0.1', '0.25', '0.5', '1', '2', '-0.5'];
const PERCENTILES = ['CONT', 'DISC'].flatMap((kind) =>
  ['', ' RESPECT NULLS'].map(
    (nulls) =>
      `SELECT x, PERCENTILE_${kind}(x, @p${nulls}) OVER () AS y FROM UNNEST([1.5, 2, NULL, 3, 10, 11, 12, 13, 14, 15, 16]) AS x ORDER BY x`,
  ),
);

onBothEngines('queries whose parameters are known when they are translated', (engines) => {
  test.each([
    ...QUERIES.map((sql) => [sql, 'STRING', VALUES] as const),
    ...PERCENTILES.map((sql) => [sql, 'FLOAT64', FRACTIONS] as const),
  ])('%s', async (sql, type, values) => {
    let answered = 0;
    for (const value of values) {
      const answer = (engine: Engine): Promise<unknown> =>
        engine
          .run(queryOf(sql, { parameters: [{ name: 'p', type, value }] }), within(30_000))
          .then(({ rows }) => rows.map((row) => JSON.parse(row) as unknown))
          .catch(() => 'fails');
      const [ours, theirs] = [await answer(engines().embedded), await answer(engines().reference)];
      expect({ value, answer: ours }).toEqual({ value, answer: theirs });
      if (theirs !== 'fails') answered++;
    }
    expect(answered).toBeGreaterThan(4);
  });
});
