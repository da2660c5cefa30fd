/** What a translation promises beside its meaning: where filters end up, what is read, what is bound, what is refused. */
import type { Fence } from '../../src/engines/contract';
import { QueryError } from '../../src/errors';
import { CLOCK_PARAMETER } from '../../src/engines/duckdb/translate';
import { NOW, TranslationBench } from './duckdb-translation';

let bench: TranslationBench;
beforeAll(async () => {
  bench = await TranslationBench.open();
}, 60_000);
afterAll(() => bench.close());

async function plan(sql: string, parameters: Record<string, string> = {}, fence: Fence | null = null): Promise<string> {
  const { sql: translated, parameters: names } = bench.translate(sql, parameters, 1000, fence);
  return explained(translated, names, parameters);
}

async function explained(
  sql: string,
  names: readonly string[],
  parameters: Readonly<Record<string, string>>,
): Promise<string> {
  const values = names.map((name) => (name === CLOCK_PARAMETER ? BigInt(NOW) : parameters[name]!));
  const reader = await bench.connection.runAndReadAll(`EXPLAIN ${sql}`, values);
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
  const steps = (sql: string, consumer = true): number =>
    bench.translate(sql, { from }, 1000, { consumer: consumer ? { start: 0, end: sql.length } : null }).before.length;

  test('bounds reach the scan of the first step, what can fail is in the second', async () => {
    const sql = `SELECT t.id FROM raw_edge_logs AS t WHERE ${BOUND} AND project = 'default' AND CAST(event_message AS INT64) = 1
         AND t.timestamp > TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL 1 DAY)`;
    const { before, sql: last } = bench.translate(sql, { from }, 1000, { consumer: null });
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

  test('what the stored query computes of parameters alone is no reason for two', () => {
    const text = `SELECT id FROM raw_edge_logs AS t WHERE ${BOUND}`;
    expect([steps(text, false), steps(text)]).toEqual([0, 1]);
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
    bench.translate(`WITH a AS (${body}) SELECT x.n FROM a AS x CROSS JOIN a AS y`).sql.includes('MATERIALIZED');
  expect(twice('SELECT COUNT(*) AS n FROM raw_edge_logs')).toBe(true);
  expect(twice('SELECT id AS n FROM raw_edge_logs')).toBe(false);
  expect(twice('SELECT MAX(RAND()) AS n FROM raw_edge_logs')).toBe(false);
});

test('parameters are named in the order of their numbers, each once, the clock among them', () => {
  const { sql, parameters } = bench.translate('SELECT @b AS b, @a AS a, @b AS c, CURRENT_TIMESTAMP() AS t', {
    a: '',
    b: '',
  });
  expect(parameters).toEqual(['b', 'a', CLOCK_PARAMETER]);
  expect(sql).toMatch(/\$1.*\$2.*\$1.*\$3/);
});

test('a parameter that nothing reads is not bound', async () => {
  const sql = 'WITH p AS (SELECT @a AS a, @b AS b) SELECT p.b, x FROM UNNEST([1]) AS x, p';
  expect(bench.translate(sql, { a: 'a', b: 'b' }).parameters).toEqual(['b']);
  expect((await bench.run(sql, { a: 'a', b: 'b' })).rows).toEqual([{ b: 'b', x: 1 }]);
});

test('the clock is the one given', async () => {
  expect(await bench.value('CURRENT_TIMESTAMP()')).toBe(NOW);
  expect(await bench.value('CURRENT_DATE()')).toBe('2026-09-30');
});

test('rows are cut off after maxRows, in order', async () => {
  const { rows } = await bench.run('SELECT x FROM UNNEST(GENERATE_ARRAY(1, 10)) AS x ORDER BY x DESC', {}, 3);
  expect(rows).toEqual([{ x: 10 }, { x: 9 }, { x: 8 }]);
});

test('every type has its form in JSON, and the text keeps the digits of an integer', async () => {
  const { texts } = await bench.run(
    `SELECT 9007199254740993 AS i, 2.0 AS f, CAST('nan' AS FLOAT64) AS nan, NUMERIC '1.50' AS n, B'hi' AS b, TRUE AS t,
       TIMESTAMP '2026-09-30 11:00:00' AS ts, DATETIME '2026-09-30 11:00:00' AS dt, DATE '2026-09-30' AS d,
       TIME '11:00:00.5' AS tm, JSON '{"a":[1]}' AS j, CAST(NULL AS ARRAY<INT64>) AS l, 'a"\\n' AS s,
       STRUCT(TIMESTAMP '1970-01-01' AS t, CAST(NULL AS ARRAY<STRING>) AS e) AS r, 5, [STRUCT(1.5 AS q)] AS o, 'x'`,
  );
  expect(texts[0]).toBe(
    '{"i":9007199254740993,"f":2,"nan":"NaN","n":"1.5","b":"aGk=","t":true,"ts":1790766000000000,' +
      '"dt":"2026-09-30T11:00:00","d":"2026-09-30","tm":"11:00:00.500000","j":{"a":[1]},"l":[],"s":"a\\"\\n",' +
      '"r":{"t":0,"e":[]},"f0_":5,"o":[{"q":1.5}],"f1_":"x"}',
  );
});

test('odd names of fields stay what they are', async () => {
  const { texts } = await bench.run('SELECT STRUCT(1 AS a, 2 AS A, 3) AS s, 4 AS `o\'"k`');
  expect(texts[0]).toBe('{"s":{"a":1,"A":2,"_field_3":3},"o\'\\"k":4}');
});

test.each([
  ['SELECT APPROX_TOP_COUNT(id, 2) OVER () AS f FROM raw_edge_logs', 'APPROX_TOP_COUNT'],
  ["SELECT CAST(1.5 AS STRING FORMAT 'TM9') AS f", 'CAST ... FORMAT'],
  ["SELECT x FROM (SELECT COLLATE('a', 'und:ci') AS x)", 'COLLATE'],
  ["SELECT APPROX_TOP_SUM(x, x, 2) AS f FROM UNNEST([BIGNUMERIC '1']) AS x", 'APPROX_TOP_SUM of BIGNUMERIC'],
  ['SELECT CAST([] AS ARRAY<RANGE<DATE>>) AS f', 'RANGE'],
])('what has no translation is refused by name and place: %s', (sql, name) => {
  const refused = (): unknown => bench.translate(sql);
  expect(refused).toThrow(QueryError);
  expect(refused).toThrow(new RegExp(`^The embedded engine has no ${name}`));
});
