/** What a translation promises beside its meaning: where filters end up, what is read, what is bound, what is refused. */
import type { Fence } from '../src/contract/contract';
import { CLOCK_PARAMETER } from '../src/translate';
import { NOW, TranslationBench } from './duckdb-translation';
import { opened } from '../../../test/opened';

const bench = opened(() => TranslationBench.open());

async function plan(sql: string, parameters: Record<string, string> = {}, fence: Fence | null = null): Promise<string> {
  const { sql: translated, parameters: names } = bench().translate(sql, parameters, 1000, fence);
  return explained(translated, names, parameters);
}

async function explained(
  sql: string,
  names: readonly string[],
  parameters: Readonly<Record<string, string>>,
): Promise<string> {
  const values = names.map((name) => (name === CLOCK_PARAMETER ? BigInt(NOW) : parameters[name]!));
  const reader = await bench().connection.runAndReadAll(`EXPLAIN ${sql}`, values);
  return String(reader.getRows()[0]![1]).replace(/[│\s]+/g, ' ');
}

const BOUND = `t.timestamp >= IF(@from = '', TIMESTAMP '0001-01-01', CAST(@from AS TIMESTAMP))`;

test('a bound from a parameter is a filter of the scan', async () => {
  const text = await plan(`SELECT t.id FROM raw_edge_logs AS t WHERE ${BOUND}`, {
    from: '2026-09-30T11:00:00.000000Z',
  });
  expect(text).toMatch(/Filters: timestamp>='2026-09-30 11 ?:00:00'/);
});

describe('behind the fence', () => {
  const from = '2026-09-30T11:00:00.000000Z';
  const steps = (sql: string): number =>
    bench().translate(sql, { from }, 1000, { consumer: { start: 0, end: sql.length } }).before.length;

  test('bounds reach the scan of the first step, what can fail is in the second', async () => {
    const sql = `SELECT t.id FROM raw_edge_logs AS t WHERE ${BOUND} AND project = 'default' AND CAST(event_message AS INT64) = 1
         AND t.timestamp > TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL 1 DAY)`;
    const { before, sql: last } = bench().translate(sql, { from }, 1000, { consumer: null });
    const [table] = before;
    if (table === undefined) throw new Error('There is one step.');
    const text = await explained(table.sql, table.parameters, { from });
    expect(text).toMatch(/Filters: .*project='default'/);
    expect(text).toMatch(/timestamp>='2026-09-30 11 ?:00:00'/);
    expect(table.sql).not.toContain('lq_int64');
    expect(last).toContain('lq_int64');
    expect(last).not.toContain('raw_edge_logs');
  });

  test('there is one step in a text that cannot fail', () => {
    const text = `SELECT UPPER(id) AS u, TIMESTAMP_TRUNC(timestamp, HOUR) AS h FROM raw_edge_logs AS t
       WHERE REGEXP_CONTAINS(event_message, 'GET|POST') AND event_message LIKE '%a%'
         AND EXISTS (SELECT 1 FROM UNNEST(t.metadata) AS m, UNNEST(m.request) AS r WHERE r.method = 'GET')
         AND t.timestamp > TIMESTAMP '2026-09-30 11:00:00' - INTERVAL 5 MINUTE ORDER BY timestamp DESC LIMIT 10`;
    expect(steps(text)).toBe(0);
  });

  test.each([
    `CAST(@from AS TIMESTAMP) < timestamp`,
    `IF(@from = 'x', TRUE, CAST(@from AS TIMESTAMP) < timestamp)`,
    `1 / 0 = 1`,
    `timestamp > TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL 1000000 DAY)`,
    `event_message LIKE id`,
    `REGEXP_CONTAINS(event_message, '(')`,
    `SAFE.PARSE_DATE('%F', id) IS NULL`,
  ])('there are two with %s', (condition) => {
    expect(steps(`SELECT id FROM raw_edge_logs WHERE ${condition}`)).toBe(1);
  });

  test('a window that a parameter chooses from a list cannot fail', async () => {
    const condition = (hours: string): string => `SELECT id FROM raw_edge_logs
      WHERE timestamp >= TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL (CASE WHEN @from = 'x' THEN 168 ELSE ${hours} END) HOUR)`;
    expect(steps(condition('1'))).toBe(0);
    expect(await plan(condition('1'), { from }, { consumer: null })).toMatch(/Filters: .*timestamp>=/);
    expect(steps(condition('100000000'))).toBe(1);
    expect(steps(condition('LENGTH(@from)'))).toBe(1);
  });
});

test('a bound on a CTE, below UNNEST, reaches the scan too', async () => {
  const text = await plan(
    `WITH logs AS (SELECT t.timestamp, t.metadata FROM raw_edge_logs AS t)
     SELECT r.path FROM logs CROSS JOIN UNNEST(metadata) AS m CROSS JOIN UNNEST(m.request) AS r
     WHERE logs.timestamp > '2026-09-30 11:30:00' AND logs.timestamp > TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL 2 HOUR)`,
  );
  expect(text).toMatch(/Filters: timestamp>'2026-09-30 11 ?:30:00'/);
});

test('a bound from a CTE of one constant row reaches the scan', async () => {
  const text = await plan(
    `WITH params AS (SELECT TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL 2 HOUR) AS start)
     SELECT t.id FROM raw_edge_logs AS t, params AS p WHERE t.timestamp >= p.start`,
  );
  expect(text).toMatch(/Filters: timestamp>='2026-09-30 11 ?:00:00'/);
});

test('only the columns that a query needs are read, and UNNEST is no join', async () => {
  const text = await plan('SELECT r.method FROM raw_edge_logs AS t, UNNEST(t.metadata) AS m, UNNEST(m.request) AS r');
  expect(text).toMatch(/Projections: metadata /);
  expect(text).not.toMatch(/event_message|JOIN/);
});

test('EXISTS over an array of the row is no join', async () => {
  const text = await plan(
    `SELECT id FROM raw_edge_logs AS t
     WHERE EXISTS (SELECT 1 FROM UNNEST(t.metadata) AS m, UNNEST(m.request) AS r WHERE r.method = 'GET')`,
  );
  expect(text).not.toMatch(/JOIN|UNNEST/);
});

test('the newest rows are a Top-N', async () => {
  const text = await plan('SELECT id, metadata FROM raw_edge_logs ORDER BY timestamp DESC LIMIT 100');
  expect(text).toMatch(/TOP_N/);
});

test('an ORDER BY inside a CTE costs nothing', async () => {
  const text = await plan('WITH a AS (SELECT id FROM raw_edge_logs ORDER BY timestamp) SELECT COUNT(*) AS n FROM a');
  expect(text).not.toMatch(/ORDER|TOP_N/);
});

test('a CTE that aggregates is computed once for two readers, a plain one is not kept', () => {
  const twice = (body: string) =>
    bench().translate(`WITH a AS (${body}) SELECT x.n FROM a AS x CROSS JOIN a AS y`).sql.includes('MATERIALIZED');
  expect(twice('SELECT COUNT(*) AS n FROM raw_edge_logs')).toBe(true);
  expect(twice('SELECT id AS n FROM raw_edge_logs')).toBe(false);
  expect(twice('SELECT MAX(RAND()) AS n FROM raw_edge_logs')).toBe(false);
});
