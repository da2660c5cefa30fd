/** What a consumer's query may take: its answer comes in time, its connection is free soon after, memory stays bounded. */
import type { Engine } from '../../src/engines/contract';
import { DataFolder, ndjson } from './data-folder';

const TOO_LARGE = { fault: 'invalidQuery', message: 'A text or an array that the query makes is too large' };
const LOGS = 'raw_pgbouncer_logs';

let folder: DataFolder;
let engine: Engine;
beforeAll(async () => {
  const rows = Array.from({ length: 5_000 }, (_, i) => ({
    timestamp: '2026-01-01',
    id: String(i).padStart(36, '0'),
    event_message: `${i} `.repeat(20),
  }));
  folder = await DataFolder.make({ [`${LOGS}.ndjson`]: ndjson(...rows) });
  // One connection: whatever still holds it is seen.
  engine = await folder.open({ connections: 1 });
}, 30_000);
afterAll(() => folder.remove());

const limits = (ms: number) => ({ deadline: performance.now() + ms, signal: new AbortController().signal });

async function value(sql: string, ms = 10_000): Promise<unknown> {
  const query = { sql, parameters: [], maxRows: 100, hideBytes: false, maxBytesBilled: null, labels: {} };
  const { rows } = await engine.run(query, limits(ms));
  return (JSON.parse(rows[0]!) as { n: unknown }).n;
}

describe('what is made of little is bounded', () => {
  it('a literal pattern, with its place', async () => {
    await expect(value("SELECT REGEXP_CONTAINS('aaa', '(a?){1000}b') AS n")).rejects.toMatchObject({
      fault: 'resourcesExceeded',
      message: 'The regular expression is too large.',
      span: { start: 30, end: 43 },
    });
  });

  it.each([
    'SELECT GENERATE_ARRAY(1, 1000000000) AS n',
    'SELECT ARRAY_LENGTH(GENERATE_ARRAY(1, 9223372036854775807, 2)) AS n',
    'SELECT ARRAY_LENGTH(GENERATE_ARRAY(-9223372036854775808, 9223372036854775807)) AS n',
    'SELECT ARRAY_LENGTH(GENERATE_ARRAY(0, 1e9, 0.5)) AS n',
    'SELECT ARRAY_LENGTH(GENERATE_ARRAY(0, -1000000000, -1)) AS n',
    "SELECT ARRAY_LENGTH(GENERATE_DATE_ARRAY('0001-01-01', '9999-12-31')) AS n",
    "SELECT ARRAY_LENGTH(GENERATE_TIMESTAMP_ARRAY('2000-01-01', '2026-01-01', INTERVAL 1 SECOND)) AS n",
    `SELECT MAX(ARRAY_LENGTH(GENERATE_ARRAY(1, LENGTH(id) * 1000))) AS n FROM ${LOGS}`,
    `SELECT MAX((SELECT COUNT(*) FROM UNNEST(GENERATE_ARRAY(1, LENGTH(l.id) * 1000)))) AS n FROM ${LOGS} AS l`,
    "SELECT LENGTH(REPEAT('x', 2000000000)) AS n",
    `SELECT MAX(LENGTH(REPEAT(id, 1000))) AS n FROM ${LOGS}`,
    "SELECT LENGTH(LPAD('x', 2000000000)) AS n",
    "SELECT LENGTH(RPAD('x', 2000000000, 'ab')) AS n",
    "SELECT TO_HEX(MD5(REPEAT('x', 300000))) AS n",
    "SELECT LENGTH(REPLACE(REPEAT('a', 60000), 'a', REPEAT('b', 60000))) AS n",
    "SELECT LENGTH(REGEXP_REPLACE(REPEAT('a', 60000), 'a', REPEAT('b', 60000))) AS n",
    "SELECT FORMAT('%1000000000d', 1) AS n",
    "SELECT FORMAT('%.1000000000f', 1.0) AS n",
    `WITH ${doublings("REPEAT('x', 1000)", 'SELECT 1')} SELECT LENGTH(x) AS n FROM d9`,
    `WITH ${doublings('id', `SELECT * FROM ${LOGS}`)} SELECT MAX(LENGTH(x)) AS n FROM d9`,
    "SELECT REGEXP_CONTAINS('aaa', CONCAT('(a?)', '{1000}b')) AS n",
    "SELECT REGEXP_CONTAINS(REPEAT('a', 250000), '(a?){100}b') AS n",
    `SELECT MAX(EDIT_DISTANCE(REPEAT(id, 100), REPEAT(id, 99))) AS n FROM ${LOGS}`,
    `SELECT MAX(LENGTH(x)) AS n FROM (SELECT STRING_AGG(id) OVER (ORDER BY id) AS x FROM ${LOGS})`,
    `SELECT MAX(ARRAY_LENGTH(x)) AS n FROM (SELECT ARRAY_AGG(CONCAT('é', id)) OVER (PARTITION BY timestamp ORDER BY id) AS x FROM ${LOGS})`,
  ])('%s', async (sql) => {
    const memory = process.memoryUsage().rss;
    await expect(value(sql)).rejects.toMatchObject(TOO_LARGE);
    expect(process.memoryUsage().rss - memory).toBeLessThan(800e6);
  });

  it.each([
    ['SELECT ARRAY_LENGTH(GENERATE_ARRAY(1, 1000000)) AS n', 1_000_000],
    ["SELECT ARRAY_LENGTH(GENERATE_DATE_ARRAY('2000-01-01', '2026-01-01')) AS n", 9_498],
    [
      `SELECT COUNT(*) AS n FROM (SELECT MIN(timestamp) AS a FROM ${LOGS}) AS r,
        UNNEST(GENERATE_TIMESTAMP_ARRAY(r.a, TIMESTAMP_ADD(r.a, INTERVAL 1 DAY), INTERVAL 1 SECOND))`,
      86_401,
    ],
    ["SELECT LENGTH(REPEAT('x', 200000)) AS n", 200_000],
    [`SELECT MAX(LENGTH(REPEAT(id, 100))) AS n FROM ${LOGS}`, 3_600],
    [`SELECT LENGTH(CONCAT('[', STRING_AGG(id), ']')) AS n FROM ${LOGS}`, 5_000 * 37 + 1],
    [`SELECT COUNTIF(REGEXP_CONTAINS(id, '^[0-9a-f]{1,64}$')) AS n FROM ${LOGS}`, 5_000],
    // Windows that gather: a whole partition, small frames of many rows, a large one of few rows.
    [`SELECT MAX(ARRAY_LENGTH(x)) AS n FROM (SELECT ARRAY_AGG(id) OVER () AS x FROM ${LOGS})`, 5_000],
    [
      `SELECT SUM(LENGTH(x)) AS n FROM (SELECT STRING_AGG(CONCAT('é', id)) OVER (ORDER BY id ROWS 20 PRECEDING) AS x FROM ${LOGS})`,
      38 * (21 * 5_000 - 210) - 5_000,
    ],
    [
      `SELECT MAX(ARRAY_LENGTH(x)) AS n FROM (SELECT ARRAY_CONCAT_AGG(GENERATE_ARRAY(a, a + 1999)) OVER (ORDER BY a) AS x FROM UNNEST([1, 2, 3, 4]) AS a)`,
      8_000,
    ],
  ])('%s', async (sql, expected) => {
    expect(await value(sql)).toBe(expected);
  });
});

/** `d0` to `d9`, each with the text of the one before eight times. */
function doublings(first: string, source: string): string {
  const eight = Array.from({ length: 8 }, () => 'x').join(' || ');
  const steps = Array.from({ length: 9 }, (_, i) => `d${i + 1} AS (SELECT ${eight} AS x FROM d${i})`);
  return [`d0 AS (SELECT ${first} AS x FROM (${source}))`, ...steps].join(', ');
}

describe('what takes long ends at its deadline', () => {
  const MILLION = 'GENERATE_ARRAY(1, 1000000)';
  it.each([
    `SELECT COUNT(*) AS n FROM UNNEST(${MILLION}) AS a, UNNEST(${MILLION}) AS b WHERE a + b = 7`,
    `SELECT (SELECT COUNT(*) FROM UNNEST(${MILLION}) AS a, UNNEST(${MILLION}) AS b WHERE a + b = 7) AS n`,
    `SELECT (SELECT COUNT(*) FROM UNNEST(${MILLION}) AS a WHERE EXISTS (SELECT 1 FROM UNNEST(${MILLION}) AS b WHERE a + b = -7)) AS n`,
    `SELECT MAX(ARRAY_LENGTH(ARRAY(SELECT CONCAT(id, CAST(a AS STRING)) FROM UNNEST(${MILLION}) AS a))) AS n FROM ${LOGS}`,
    `SELECT COUNT(*) AS n FROM ${LOGS} AS a, ${LOGS} AS b, ${LOGS} AS c WHERE a.id || b.id < c.id`,
    `WITH x AS (SELECT [1, 2, 3, 4, 5, 6, 7, 8, 9, 10] AS a, id FROM ${LOGS}) SELECT MAX((SELECT COUNT(*) FROM UNNEST(a) AS p,
      UNNEST(a) AS q, UNNEST(a) AS r, UNNEST(a) AS s, UNNEST(a) AS t, UNNEST(a) AS u WHERE p + q + r + s + t + u = LENGTH(id))) AS n FROM x`,
    `SELECT COUNT(*) AS n FROM ${LOGS} AS a, ${LOGS} AS b WHERE EDIT_DISTANCE(a.event_message, b.event_message) = 1`,
  ])('%s', async (sql) => {
    const memory = process.memoryUsage().rss;
    await expect(value(sql, 500)).rejects.toMatchObject({
      reason: expect.stringMatching(/deadline|resources/) as unknown,
    });
    // Waits for the connection.
    await engine.ping(limits(50_000));
    expect(process.memoryUsage().rss - memory).toBeLessThan(1_500e6);
  });
});
