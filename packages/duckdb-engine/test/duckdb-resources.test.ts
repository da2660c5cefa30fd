/** What a consumer's query may take: its answer comes in time, its connection is free soon after, memory stays bounded. */
import type { Engine } from '../src/contract/contract';
import { DataFolder, ndjson } from './data-folder';
import { queryOf, within } from './queries';

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

async function value(sql: string, ms = 10_000): Promise<unknown> {
  const { rows } = await engine.run(queryOf(sql), within(ms));
  return (JSON.parse(rows[0]!) as { n: unknown }).n;
}

const MIB = 1024 * 1024;
/** Bytes that are repeated at most. */
const FILLED = 64 * 1024;
const X = `(SELECT REPEAT('x', ${FILLED}) AS x)`;
/** As large as a text that is made may be. */
const LARGEST = `(SELECT ${Array.from({ length: 16 }, () => 'x').join(' || ')} AS x FROM ${X})`;
const texts = (count: number): string => `ARRAY(SELECT '' FROM UNNEST(GENERATE_ARRAY(1, ${count})))`;
const generated = (count: number): string => `GENERATE_ARRAY(1, ${count})`;

describe('what is made of little is bounded', () => {
  it('a literal pattern, with its place', async () => {
    await expect(value("SELECT REGEXP_CONTAINS('aaa', '(a?){1000}b') AS n")).rejects.toMatchObject({
      fault: 'resourcesExceeded',
      message: 'The regular expression is too large.',
      span: { start: 30, end: 43 },
    });
  });

  /** Each maker: the most that it makes, how large that is, and one more. */
  it.each<readonly [maker: string, most: string, size: number, over: string]>([
    ['GENERATE_ARRAY', `ARRAY_LENGTH(${generated(1e6)})`, 1e6, `ARRAY_LENGTH(${generated(1e6 + 1)})`],
    [
      'GENERATE_ARRAY of computed ends',
      "ARRAY_LENGTH(GENERATE_ARRAY(LENGTH(' '), 1000000 * LENGTH(' ')))",
      1e6,
      "ARRAY_LENGTH(GENERATE_ARRAY(-9223372036854775808, 9223372036854775806 + LENGTH(' ')))",
    ],
    [
      'GENERATE_ARRAY of FLOAT64',
      'ARRAY_LENGTH(GENERATE_ARRAY(0, 499999.5, 0.5))',
      1e6,
      'ARRAY_LENGTH(GENERATE_ARRAY(0, 500000.0, 0.5))',
    ],
    [
      'GENERATE_ARRAY of NUMERIC',
      "ARRAY_LENGTH(GENERATE_ARRAY(0, NUMERIC '-9999.99', NUMERIC '-0.01'))",
      1e6,
      "ARRAY_LENGTH(GENERATE_ARRAY(0, NUMERIC '-10000', NUMERIC '-0.01'))",
    ],
    [
      'GENERATE_DATE_ARRAY',
      "ARRAY_LENGTH(GENERATE_DATE_ARRAY('0001-01-01', DATE_ADD(DATE '0001-01-01', INTERVAL 999999 DAY)))",
      1e6,
      "ARRAY_LENGTH(GENERATE_DATE_ARRAY('0001-01-01', DATE_ADD(DATE '0001-01-01', INTERVAL 1000000 DAY)))",
    ],
    [
      'GENERATE_TIMESTAMP_ARRAY',
      "ARRAY_LENGTH(GENERATE_TIMESTAMP_ARRAY('2026-01-01', '2026-01-12 13:46:39', INTERVAL 1 SECOND))",
      1e6,
      "ARRAY_LENGTH(GENERATE_TIMESTAMP_ARRAY('2026-01-01', '2026-01-12 13:46:40', INTERVAL 1 SECOND))",
    ],
    [
      'ARRAY_CONCAT',
      `ARRAY_LENGTH(ARRAY_CONCAT(${generated(5e5)}, ${generated(5e5)}))`,
      1e6,
      `ARRAY_LENGTH(ARRAY_CONCAT(${generated(5e5)}, ${generated(5e5 + 1)}))`,
    ],
    ['REPEAT', `LENGTH(REPEAT('x', ${FILLED}))`, FILLED, `LENGTH(REPEAT('x', ${FILLED + 1}))`],
    ['REPEAT of BYTES', `LENGTH(REPEAT(b'xy', ${FILLED / 2}))`, FILLED, `LENGTH(REPEAT(b'xy', ${FILLED / 2 + 1}))`],
    ['LPAD', `LENGTH(LPAD('x', ${FILLED}))`, FILLED, `LENGTH(LPAD('x', ${FILLED + 1}))`],
    ['RPAD', `LENGTH(RPAD('x', ${FILLED}, 'ab'))`, FILLED, `LENGTH(RPAD('x', ${FILLED + 1}, 'ab'))`],
    ['||', `(SELECT LENGTH(x) FROM ${LARGEST})`, MIB, `(SELECT LENGTH(x || REPEAT('x', 1)) FROM ${LARGEST})`],
    [
      'REPLACE',
      `(SELECT LENGTH(REPLACE(x, 'x', '${'y'.repeat(16)}')) FROM ${X})`,
      MIB,
      `(SELECT LENGTH(REPLACE(x, 'x', '${'y'.repeat(17)}')) FROM ${X})`,
    ],
    [
      'REPLACE by what is computed',
      `LENGTH(REPLACE(REPEAT('a', 1024), 'a', REPEAT('b', 1024)))`,
      MIB,
      `LENGTH(REPLACE(REPEAT('a', 1024), 'a', REPEAT('b', 1025)))`,
    ],
    [
      'REGEXP_REPLACE',
      `(SELECT LENGTH(REGEXP_REPLACE(x, 'x', '${'y'.repeat(16)}')) FROM ${X})`,
      MIB,
      `(SELECT LENGTH(REGEXP_REPLACE(x, 'x', '${'y'.repeat(17)}')) FROM ${X})`,
    ],
    [
      'ARRAY_TO_STRING',
      `LENGTH(ARRAY_TO_STRING(${texts(16_384)}, '${'-'.repeat(64)}'))`,
      MIB - 64,
      `LENGTH(ARRAY_TO_STRING(${texts(16_385)}, '${'-'.repeat(64)}'))`,
    ],
    [
      'TO_JSON_STRING',
      `(SELECT LENGTH(TO_JSON_STRING(x)) FROM ${LARGEST})`,
      MIB + 2,
      `(SELECT LENGTH(TO_JSON_STRING(TO_JSON_STRING(x))) FROM ${LARGEST})`,
    ],
    [
      'TO_HEX',
      `(SELECT LENGTH(TO_HEX(CAST(x AS BYTES))) FROM ${LARGEST})`,
      2 * MIB,
      `(SELECT LENGTH(TO_HEX(CAST(TO_HEX(CAST(x AS BYTES)) AS BYTES))) FROM ${LARGEST})`,
    ],
    [
      'TO_BASE64',
      `(SELECT LENGTH(TO_BASE64(CAST(x AS BYTES))) FROM ${LARGEST})`,
      1_398_104,
      `(SELECT LENGTH(TO_BASE64(CAST(TO_BASE64(CAST(x AS BYTES)) AS BYTES))) FROM ${LARGEST})`,
    ],
    [
      'FORMAT of texts',
      `(SELECT LENGTH(FORMAT('%s%s', x, x)) FROM ${X})`,
      2 * FILLED,
      `(SELECT LENGTH(FORMAT('%s', x)) FROM ${LARGEST})`,
    ],
    ['INSTR', "INSTR(REPEAT('a', 10000), 'a', 1, 10000)", 1e4, "INSTR(REPEAT('a', 10000), 'a', 1, 10001)"],
    ['FORMAT with a width', "LENGTH(FORMAT('%1000d', 1))", 1_000, "LENGTH(FORMAT('%1001d', 1))"],
  ])('%s', async (_, most, size, over) => {
    expect(await value(`SELECT ${most} AS n`)).toBe(size);
    await expect(value(`SELECT ${over} AS n`)).rejects.toMatchObject(TOO_LARGE);
  });

  it('also where each step makes little of the one before', async () => {
    await expect(
      value(`WITH ${doublings('id', `SELECT * FROM ${LOGS} LIMIT 1`)} SELECT LENGTH(x) AS n FROM d9`),
    ).rejects.toMatchObject(TOO_LARGE);
  });
});

describe('what rows hold together is no maker', () => {
  const bytes = Array.from({ length: 5_000 }, (_, i) => `${i} `.repeat(20).length).reduce((sum, n) => sum + n, 0);

  it.each([
    [`SELECT LENGTH(UPPER(STRING_AGG(event_message, '|'))) AS n FROM ${LOGS}`, bytes + 4_999],
    [`SELECT LENGTH(REGEXP_REPLACE(STRING_AGG(event_message, ''), ' ', '#')) AS n FROM ${LOGS}`, bytes],
    [`SELECT LENGTH(TO_JSON_STRING(ARRAY_AGG(id))) AS n FROM ${LOGS}`, 5_000 * 39 + 1],
    [`SELECT ARRAY_LENGTH(SPLIT(STRING_AGG(event_message, '|'), '|')) AS n FROM ${LOGS}`, 5_000],
    [`SELECT LENGTH(CONCAT('[', STRING_AGG(id), ']')) AS n FROM ${LOGS}`, 5_000 * 37 + 1],
    [`SELECT MAX(ARRAY_LENGTH(x)) AS n FROM (SELECT ARRAY_AGG(id) OVER () AS x FROM ${LOGS})`, 5_000],
    [
      `SELECT SUM(LENGTH(x)) AS n FROM (SELECT STRING_AGG(CONCAT('é', id)) OVER (ORDER BY id ROWS 20 PRECEDING) AS x FROM ${LOGS})`,
      38 * (21 * 5_000 - 210) - 5_000,
    ],
    [
      `SELECT COUNT(*) AS n FROM (SELECT MIN(timestamp) AS a FROM ${LOGS}) AS r,
        UNNEST(GENERATE_TIMESTAMP_ARRAY(r.a, TIMESTAMP_ADD(r.a, INTERVAL 1 DAY), INTERVAL 1 SECOND))`,
      86_401,
    ],
    [`SELECT MAX(LENGTH(REPEAT(id, 100))) AS n FROM ${LOGS}`, 3_600],
    [`SELECT COUNTIF(REGEXP_CONTAINS(id, '^[0-9a-f]{1,64}$')) AS n FROM ${LOGS}`, 5_000],
    ["SELECT INSTR(REPEAT('ab', 500), 'a', 1, 400) AS n", 799],
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
    await engine.ping(within());
    expect(process.memoryUsage().rss - memory).toBeLessThan(1_500e6);
  });
});
