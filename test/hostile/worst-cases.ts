/** What is known to have stopped the service, or to have come near it, each with what it showed. */
import { LARGE_COLUMNS } from './arguments';
import type { HostileQuery } from './sql-functions';

const MILLION = 'UNNEST(GENERATE_ARRAY(1, 1000000))';
const WITH_LARGE = `FROM t, ${LARGE_COLUMNS}`;

/** `inner` in calls of itself, `times` over. */
function nested(times: number, inner: string, around: (text: string) => string): string {
  let text = inner;
  for (let i = 0; i < times; i++) text = around(text);
  return text;
}

const CASES: Readonly<Record<string, readonly string[]>> = {
  'a number of quantiles': [
    'SELECT APPROX_QUANTILES(i, 60000000) AS v FROM t',
    `SELECT APPROX_QUANTILES(a, 1000000) AS v FROM ${MILLION} AS a`,
    `SELECT APPROX_QUANTILES(a, 100000) AS v FROM ${MILLION} AS a`,
    `SELECT APPROX_QUANTILES(a, 1000) AS v FROM ${MILLION} AS a`,
    `SELECT MIN(a) AS v FROM (SELECT a, APPROX_QUANTILES(b, 100000) AS q FROM ${MILLION} AS a, UNNEST([1, 2]) AS b GROUP BY a) WHERE q[OFFSET(3)] > 0`,
    `SELECT APPROX_TOP_COUNT(a, 1000000000) AS v FROM ${MILLION} AS a`,
    `SELECT APPROX_TOP_COUNT(i, 100000) OVER (ORDER BY i) AS v FROM t`,
  ],
  'memory beside the limit': [
    `SELECT APPROX_QUANTILES(a, 10) AS v FROM ${MILLION} AS a, ${MILLION} AS b`,
    `SELECT COUNT(DISTINCT a * 1000 + b) AS v FROM ${MILLION} AS a, ${MILLION} AS b`,
    `SELECT ARRAY_AGG(a + b) AS v FROM ${MILLION} AS a, ${MILLION} AS b`,
    `SELECT STRING_AGG(CAST(a + b AS STRING)) AS v FROM ${MILLION} AS a, ${MILLION} AS b`,
    `SELECT ARRAY_AGG(big) AS v ${WITH_LARGE}`,
    `SELECT big AS v, i ${WITH_LARGE}`,
    `SELECT MAX(ARRAY_LENGTH(v)) AS v FROM (SELECT ARRAY_AGG(a) OVER (ORDER BY a) AS v FROM ${MILLION} AS a)`,
    `SELECT APPROX_TOP_SUM(a, a, 1) AS v FROM ${MILLION} AS a`,
    'SELECT MAX(ARRAY_LENGTH(v)) AS v FROM (SELECT ARRAY_CONCAT_AGG(a) OVER (ORDER BY i) AS v FROM t)',
    'SELECT COUNTIF(v IS NULL) AS v FROM (SELECT ARRAY_AGG(CAST(REPEAT(s, 400) AS BYTES)) OVER (ORDER BY i) AS v FROM t)',
  ],
  // One of DuckDB's threads waited for ever, often but not each time.
  'a window that finds no memory': [2_200, 2_210, 2_220, 2_230].map(
    (rows) =>
      `SELECT COUNTIF(v IS NULL) AS v FROM (SELECT ARRAY_AGG(STRUCT(REPEAT(s, 400) AS a)) OVER (ORDER BY i) AS v FROM t WHERE i < ${rows})`,
  ),
  'occurrences of a text': [
    `SELECT INSTR(REPEAT('a', 262144), 'a', 1, 260000) AS v`,
    `SELECT INSTR(REPEAT('a', 262144), 'a', -1, 260000) AS v`,
    `SELECT MAX(INSTR(REPEAT('a', 16000), 'a', 1, 15000 + i)) AS v FROM t`,
    `SELECT MAX(INSTR(m, 'e', 1, 80)) AS v FROM t`,
    `SELECT MAX(INSTR(m, 'e', 1, 28)) AS v FROM t`,
    `SELECT MAX(STRPOS(REPEAT('a', 16000), CONCAT(REPEAT('a', 8000), s))) AS v FROM t`,
    `SELECT MAX(STRPOS(big, s)) AS v ${WITH_LARGE}`,
  ],
  'wildcards of LIKE': [
    `SELECT COUNTIF(m LIKE '%e%e%e%e%e%e%e%e%_!') AS v FROM t`,
    `SELECT COUNTIF(m LIKE '%\\\\%e%e%e%e%e%e%e!_') AS v FROM t`,
    `SELECT COUNTIF(m LIKE CONCAT('%e%e%e%e!', s)) AS v FROM t`,
    `SELECT COUNTIF(REPEAT(s, 400) LIKE REPEAT('%0', 8000) || s) AS v FROM t`,
    `SELECT COUNTIF(REPEAT('a', 16000) LIKE '%' || REPEAT('a', 8000) || 'b' || s) AS v FROM t`,
  ],
  'products of lengths': [
    'SELECT MAX(EDIT_DISTANCE(m, CONCAT(m, s))) AS v FROM t',
    'SELECT MAX(EDIT_DISTANCE(REPEAT(s, 28), REPEAT(s, 27))) AS v FROM t',
    `SELECT COUNTIF(ARRAY_LENGTH(TO_CODE_POINTS(CAST(m AS BYTES))) = 0) AS v FROM t`,
    `SELECT COUNTIF(REGEXP_EXTRACT(m, '([^x]?)(?:.?){400}') = 'x') AS v FROM t`,
    `SELECT COUNTIF(REGEXP_EXTRACT(m, '([^x]?)(?:.?){45}') = 'x') AS v FROM t`,
    `SELECT COUNTIF(NET.HOST(REPEAT('é', 8000 + MOD(i, 7))) = 'x') AS v FROM t`,
    `SELECT COUNTIF(NET.PUBLIC_SUFFIX(CONCAT(REPEAT('a', 15000), s)) IS NULL) AS v FROM t`,
    `SELECT COUNTIF(FROM_BASE64(CONCAT(m, m, m, m, m, m, m, m, m, m, m, m, m, m, m, m, m, m, m, m)) IS NULL) AS v FROM t`,
    `SELECT COUNTIF(FROM_BASE64(REPEAT('a ', 1300 + 4 * MOD(i, 7))) IS NULL) AS v FROM t`,
  ],
  'large values, row by row': [
    `SELECT MAX(ARRAY_LENGTH(TO_CODE_POINTS(SUBSTR(REPEAT('a', 262144), i)))) AS v FROM t`,
    `SELECT MAX(ARRAY_LENGTH(SPLIT(big, CAST(i AS STRING)))) AS v ${WITH_LARGE}`,
    `SELECT COUNTIF(SUBSTR(big, i) IS NULL) AS v ${WITH_LARGE}`,
    `SELECT COUNTIF(UPPER(CONCAT(REPEAT('é', 30000), s)) IS NULL) AS v FROM t`,
    `SELECT COUNTIF(m = UPPER(REPEAT('é', 100000))) AS v FROM t`,
    `SELECT COUNTIF(NORMALIZE(REPEAT('ﷺ', 5000) || s) IS NULL) AS v FROM t`,
    `SELECT COUNTIF(TRANSLATE(REPEAT(s, 400), REPEAT(s, 400), REPEAT(s, 400)) IS NULL) AS v FROM t`,
    `SELECT COUNTIF(PARSE_JSON(CONCAT(REPEAT('[', 100000), s)) IS NULL) AS v FROM t`,
    `SELECT COUNTIF(CAST(REPEAT(s, 400) AS FLOAT64) IS NULL) AS v FROM t`,
    `SELECT COUNTIF(SAFE_CAST(REPEAT(s, 400) AS NUMERIC) IS NULL) AS v FROM t`,
    `SELECT COUNTIF(SAFE_CAST(REPEAT(s, 160) AS NUMERIC) IS NULL) AS v FROM t`,
    `SELECT COUNTIF(SAFE_CAST(REPEAT(s, 400) AS INT64) IS NULL) AS v FROM t`,
    `SELECT COUNTIF(FORMAT_TIMESTAMP('${'%c'.repeat(300)}', ts) IS NULL) AS v FROM t`,
    `SELECT PARSE_TIMESTAMP('${'%F %T'.repeat(100)}', m) AS v FROM t`,
    `SELECT COUNTIF(FORMAT('%1000000000d', i) IS NULL) AS v FROM t`,
    `SELECT COUNTIF(FORMAT('%.1000000000f', f) IS NULL) AS v FROM t`,
  ],
  'BYTES, row by row': [
    `SELECT COUNTIF(UPPER(CONCAT(CAST(REPEAT('é', 30000) AS BYTES), y)) IS NULL) AS v FROM t`,
    `SELECT MAX(ARRAY_LENGTH(SPLIT(CAST(REPEAT(s, 100) AS BYTES), b''))) AS v FROM t`,
    `SELECT MAX(ARRAY_LENGTH(REGEXP_EXTRACT_ALL(CAST(REPEAT(s, 100) AS BYTES), b'.?'))) AS v FROM t`,
    `SELECT COUNTIF(REGEXP_CONTAINS(y, CAST(REPEAT('\\\\C', 30000) AS BYTES))) AS v FROM t`,
    'SELECT COUNTIF(ENDS_WITH(CAST(REPEAT(s, 400) AS BYTES), CAST(REPEAT(s, 399) AS BYTES))) AS v FROM t',
    `SELECT MAX(INSTR(CAST(REPEAT('é', 8000) AS BYTES), y, -1, 100)) AS v FROM t`,
    `SELECT COUNTIF(CAST(REPEAT('é', 8000) AS BYTES) LIKE CONCAT(b'%a%b_', y)) AS v FROM t`,
    `SELECT COUNTIF(CONCAT(CAST(REPEAT(s, 400) AS BYTES), y) << 3 IS NULL) AS v FROM t`,
    `SELECT COUNTIF(FORMAT('%T', CONCAT(CAST(REPEAT('é', 8000) AS BYTES), y)) IS NULL) AS v FROM t`,
    `SELECT COUNTIF(FORMAT('%T', CONCAT(CAST(REPEAT('é', 2000) AS BYTES), y)) IS NULL) AS v FROM t`,
    `SELECT MAX(EDIT_DISTANCE(CONCAT(m, 'é'), CONCAT(m, s))) AS v FROM t`,
    `SELECT MAX(LENGTH(ARRAY_TO_STRING(ARRAY(SELECT y FROM UNNEST(GENERATE_ARRAY(1, 2000))), y))) AS v FROM t`,
    `SELECT COUNTIF(INITCAP(REPEAT(s, 20), REPEAT('é', MOD(i, 200))) IS NULL) AS v FROM t`,
    `SELECT COUNTIF(REGEXP_EXTRACT(REPEAT(s, 100), '(x?)') = 'x') AS v FROM t`,
  ],
  'arrays, row by row': [
    'SELECT SUM(RANGE_BUCKET(i, GENERATE_ARRAY(1, 1000000))) AS v FROM t',
    'SELECT COUNTIF(-i IN UNNEST(GENERATE_ARRAY(1, 1000000))) AS v FROM t',
    'SELECT COUNTIF(ARRAY_SLICE(GENERATE_ARRAY(1, 1000000), i, -1) IS NULL) AS v FROM t',
    'SELECT COUNTIF(ARRAY_SLICE(numbers, MOD(i, 3), -1) IS NULL) AS v FROM t, ' + LARGE_COLUMNS,
    'SELECT MAX(ARRAY_LENGTH(GENERATE_ARRAY(1, 4000 + MOD(i, 7)))) AS v FROM t',
    `SELECT MAX(ARRAY_LENGTH(GENERATE_DATE_ARRAY(DATE '1999-01-01', DATE_ADD(d, INTERVAL MOD(i, 3) DAY)))) AS v FROM t`,
    'SELECT MAX(ARRAY_LENGTH(GENERATE_TIMESTAMP_ARRAY(ts, TIMESTAMP_ADD(ts, INTERVAL 4000 SECOND), INTERVAL 1 SECOND))) AS v FROM t',
    'SELECT MAX(ARRAY_LENGTH(GENERATE_ARRAY(0.0, 4000.0 + f, 1.0))) AS v FROM t',
    `SELECT COUNTIF(FORMAT('%T', ARRAY_CONCAT(GENERATE_ARRAY(1, 4000), [i])) IS NULL) AS v FROM t`,
    `SELECT COUNTIF(TO_JSON_STRING(ARRAY_CONCAT(GENERATE_ARRAY(1, 4000), [i])) IS NULL) AS v FROM t`,
    `SELECT MAX(LENGTH(ARRAY_TO_STRING(ARRAY(SELECT CAST(e AS STRING) FROM UNNEST(GENERATE_ARRAY(1, 4000 + MOD(i, 7))) AS e), ','))) AS v FROM t`,
  ],
  'one within the other': [
    `SELECT ${nested(12, 's', (e) => `FORMAT('%T', ${e})`)} AS v FROM t`,
    `SELECT COUNTIF(${nested(6, 's', (e) => `REPLACE(${e}, '0', '0000')`)} IS NULL) AS v FROM t`,
    `SELECT COUNTIF(${nested(6, 'm', (e) => `REGEXP_REPLACE(${e}, '(.)', '\\\\1\\\\1\\\\1\\\\1')`)} IS NULL) AS v FROM t`,
    `SELECT COUNTIF(${nested(6, 'LEFT(m, 500)', (e) => `REGEXP_REPLACE(${e}, '(.)', '\\\\1\\\\1\\\\1\\\\1')`)} IS NULL) AS v FROM t`,
    `SELECT COUNTIF(${nested(12, 'm', (e) => `TO_JSON_STRING(${e})`)} IS NULL) AS v FROM t`,
    `SELECT ${Array.from({ length: 40 }, (_, i) => `ARRAY_LENGTH(GENERATE_ARRAY(i, i + 4000 + ${i})) AS v${i}`).join(', ')} FROM t`,
    `SELECT ${Array.from({ length: 40 }, (_, i) => `LENGTH(UPPER(REPEAT(s, 50 + MOD(i, ${i + 2})))) AS v${i}`).join(', ')} FROM t`,
  ],
  windows: [
    'SELECT MAX(v) AS v FROM (SELECT LAG(i, 9223372036854775807) OVER (ORDER BY i) AS v FROM t)',
    'SELECT MAX(v) AS v FROM (SELECT NTILE(9223372036854775807) OVER (ORDER BY i) AS v FROM t)',
    `SELECT SUM(v) AS v FROM (SELECT SUM(a) OVER (ORDER BY a ROWS BETWEEN 9223372036854775807 PRECEDING AND CURRENT ROW) AS v FROM ${MILLION} AS a)`,
    `SELECT MAX(v) AS v FROM (SELECT PERCENTILE_CONT(a, 0.5) OVER (PARTITION BY MOD(a, 3)) AS v FROM ${MILLION} AS a)`,
    'SELECT MAX(LENGTH(v)) AS v FROM (SELECT STRING_AGG(m) OVER (ORDER BY i) AS v FROM t)',
    `SELECT COUNTIF(v IS NULL) AS v FROM (SELECT MAX(REPEAT(s, 400)) OVER (ORDER BY i ROWS BETWEEN 1000000 PRECEDING AND 1000000 FOLLOWING) AS v FROM t)`,
  ],
};

export const WORST_CASES: readonly HostileQuery[] = Object.entries(CASES).flatMap(([name, queries]) =>
  queries.map((sql) => ({ name, sql })),
);
