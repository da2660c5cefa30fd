/** The traffic of a stock stack: what its Vector sends for lines of every container, then what Studio's pages ask. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';

import { OF_A_STACK, SETTINGS } from '../../src/config';
import { long, oneOf } from '../scale';
import { until } from '../until';
import { EMPTY_PAGES, PAGES, QUERY_LOGS, single } from './stack/pages';
import { ANALYTICS, ask, BATCHES, PRIVATE, send, STACK, type StackEvent } from './stack/traffic';
import { page } from './stack/studio';
import { Stage, type Started } from './started';

jest.setTimeout(120_000);

const ROOT = path.join(__dirname, '../..');
const PIPELINE = path.join(__dirname, 'stack');

const METRICS_KEY = 'key-of-the-metrics';
const KEY = { 'X-API-KEY': PRIVATE };
const RUN = '/api/endpoints/query/logs.all';
const COUNT = 'SELECT COUNT(*) AS n FROM edge_logs';

const stage = new Stage();
let service: Started;
let base: string;
beforeAll(async () => {
  service = stage.start({ ...STACK, METRICS_KEY });
  base = await service.ready();
  for (const [source, events] of Object.entries(BATCHES)) {
    expect([source, await send(base, source, events)]).toEqual([source, 200]);
  }
  const sent = Object.values(BATCHES).flat().length;
  const tables = ['edge', 'auth', 'postgrest', 'realtime', 'function_edge', 'storage', 'postgres'];
  const counts = tables.map((table) => `(SELECT COUNT(*) FROM ${table}_logs)`).join(' + ');
  await until(async () => (await studio<{ n: number }>(`SELECT ${counts} AS n`))[0]?.n === sent);
});
afterAll(() => stage.end());

const DAY = { iso_timestamp_start: '2026-11-22T09:00:00.000Z', iso_timestamp_end: '2026-11-22T11:00:00.000Z' };

function queryOf(sql: string, more: Readonly<Record<string, string>> = {}): string {
  return `${RUN}?${new URLSearchParams({ project: 'default', sql, ...more }).toString()}`;
}

async function studio<Row>(sql: string): Promise<Row[]> {
  return rowsOf<Row>(await ask(base, 'logs.all', { sql, ...DAY }));
}

function rowsOf<Row>({ result, error }: Record<string, unknown>): Row[] {
  expect(error).toBeUndefined();
  return result as Row[];
}

it('has settings in its compose file that there are, and a data folder on a volume', () => {
  const { environment, volumes } = ANALYTICS;
  // NODE_OPTIONS is Node's, what begins with MALLOC_ the C library's. DB_PASSWORD is the stack's: it is taken away.
  const signs: ReadonlySet<string> = new Set(OF_A_STACK);
  const others = ['NODE_OPTIONS', 'MALLOC_ARENA_MAX', 'MALLOC_TRIM_THRESHOLD_', 'DB_PASSWORD'];
  expect(Object.keys(environment).filter((name) => !(name in SETTINGS || signs.has(name)))).toEqual(others);
  const [, folder = ''] = (volumes[0] ?? '').split(':');
  for (const name of ['DATA_DIR', 'CACHE_DIR']) expect(environment[name]?.startsWith(`${folder}/`)).toBe(true);
});

it('has a health check that tells a live service from a dead one', async () => {
  // `$$` is how Compose writes `$`.
  const script = (ANALYTICS.healthcheck.test[3] ?? '').replaceAll('$$', '$');
  const status = (port: string): number | null =>
    spawnSync('bash', ['-c', script.replace('/4000 ', `/${port} `)]).status;
  expect([status(new URL(base).port), status('1')]).toEqual([0, 1]);
});

// Where Vector's own language is there (PyPI: vrl-python): VRL_PYTHON names a Python that has it.
const { VRL_PYTHON } = process.env;
if (VRL_PYTHON === undefined) {
  process.stderr.write('VRL_PYTHON is not set: that the batches are what VRL makes is skipped.\n');
  if (!process.env['CI']) it.skip('replays the batches that VRL makes of the lines', () => undefined);
} else {
  it('replays the batches that VRL makes of the lines', () => {
    const { stdout, stderr } = spawnSync(VRL_PYTHON, [path.join(PIPELINE, 'pipeline.py')], {
      input: readFileSync(path.join(PIPELINE, 'lines.json'), 'utf8'),
      encoding: 'utf8',
    });
    expect(stderr).toBe('');
    expect(JSON.parse(stdout)).toEqual(BATCHES);
  });
}

describe.each(PAGES.map((page) => [page.table, page] as const))("Studio's page of %s", (table, page) => {
  const events = BATCHES[page.source]!;

  it('lists every event once, as get_logs did', async () => {
    const rows = await studio<StackEvent>(page.list);
    expect(rows.map(({ event_message: message }) => message).sort()).toEqual(
      events.map(({ event_message: message }) => message).sort(),
    );
    expect(rows).toContainEqual(expect.objectContaining(page.row));
  });

  it('counts and charts them', async () => {
    expect(await studio(page.count)).toEqual([{ count: events.filter(page.counted).length }]);
    const bars = await studio<Record<string, number>>(page.chart('2026-11-22T03:00:00.000Z'));
    const sum = bars.reduce((n, bar) => n + bar['ok_count']! + bar['warning_count']! + bar['error_count']!, 0);
    expect(sum).toBe(events.filter(page.charted).length);
  });

  it('opens one', async () => {
    const [{ id, timestamp, event_message } = { id: '' }] = await studio<Record<string, string>>(page.list);
    expect(await studio(single(table, id))).toMatchObject([{ id, timestamp, event_message, metadata: [{}] }]);
  });
});

it('has empty pages of what nothing sends', async () => {
  for (const page of EMPTY_PAGES) {
    expect([page.table, await studio(page.list)]).toEqual([page.table, []]);
    expect(await studio(page.count)).toEqual([{ count: 0 }]);
    expect(await studio(page.chart('2026-11-22T03:00:00.000Z'))).toEqual([]);
  }
});

it('says that a page has no table here', async () => {
  for (const table of ['supavisor_logs', 'pg_upgrade_logs', 'etl_replication_logs']) {
    const sql = `select id, ${table}.timestamp, event_message from ${table} order by timestamp desc limit 100`;
    expect(await ask(base, 'logs.all', { sql, ...DAY })).toEqual({ error: expect.stringContaining(table) as string });
  }
});

it('answers what an assistant asks by query_logs', async () => {
  for (const sql of QUERY_LOGS) expect([sql, (await studio(sql)).length]).not.toEqual([sql, 0]);
});

it('answers queries of the collection over the rows of a stack', async () => {
  const all = readFileSync(path.join(ROOT, 'test/cases/log-queries.jsonl'), 'utf8').trim().split('\n');
  const cases = oneOf(9, all);
  expect(cases.length).toBeGreaterThan(7);
  for (const line of cases) {
    const { id, sql } = JSON.parse(line) as { id: string; sql: string };
    const { result, error } = await ask(base, 'logs.all', { sql, ...DAY });
    expect([id, error, Array.isArray(result)]).toEqual([id, undefined, true]);
  }
});

long('stores the longest batch of the shortest events in the memory that it has', async () => {
  const other = stage.start(STACK);
  const at = await other.ready();
  // For each row the engine has memory for every column of the widest table.
  const events = Array.from({ length: 100_000 }, (_, i) => ({ event_message: String(i) }));
  expect(await send(at, 'cloudflare.logs.prod', events)).toBe(200);
  await other.logged(/"msg":"Rows stored"/);
  const sql = 'select count(*) as n from edge_logs';
  // Until there are rows the table is not served.
  const count = (): Promise<{ n: number }[]> =>
    ask(at, 'logs.all', { sql })
      .then(rowsOf<{ n: number }>)
      .catch(() => []);
  await until(async () => (await count())[0]?.n === events.length);
  other.signal('SIGKILL');
});

describe('QUERY_ERRORS=logflare', () => {
  it.each([
    ['SELECT nope FROM edge_logs', 400, /^Unrecognized name: nope\. \(line 1, column 8\)/],
    ['SELECT id FROM other_table', 403, /other_table/],
    ['SELECT id FROM edge_logs WHERE', 400, /\(line 1, column \d+\)/],
    ["SELECT CAST('x' AS INT64) AS n FROM edge_logs", 400, /./],
  ])('%s is 200 with the text', async (sql, status, text) => {
    const after = await fetch(base + queryOf(sql), { headers: KEY });
    expect(after.status).toBe(200);
    expect(Object.fromEntries(after.headers)).toMatchObject({
      'x-error-status': String(status),
      'cache-control': 'no-store',
      'content-type': 'application/json; charset=utf-8',
    });
    expect(after.headers.get('etag')).toBeNull();
    expect(await after.json()).toEqual({ error: expect.stringMatching(text) as string });
  });

  it('is the same for POST, lql, bad parameters beside sql, and a request that is repeated', async () => {
    const post = { method: 'POST', headers: { ...KEY, 'Content-Type': 'application/json' } };
    const sql = 'SELECT nope FROM edge_logs';
    for (let i = 0; i < 2; i++) {
      const answers = [
        await fetch(base + RUN, { ...post, body: JSON.stringify({ project: 'default', sql }) }),
        await fetch(`${base}${RUN}?project=default&lql=%22open`, { headers: KEY }),
        await fetch(base + queryOf(COUNT, { iso_timestamp_start: 'yesterday' }), { headers: KEY }),
      ];
      expect(answers.map(({ status, headers }) => [status, headers.get('x-error-status')])).toEqual(
        answers.map(() => [200, '400']),
      );
    }
  });

  it.each([
    ['no sql or lql', `${RUN}?project=default&iso_timestamp_start=yesterday`, KEY, 400],
    ['an empty sql', `${RUN}?project=default&sql=&iso_timestamp_start=yesterday`, KEY, 400],
    ['CSV', queryOf('SELECT nope FROM edge_logs'), { ...KEY, Accept: 'text/csv' }, 400],
    ['a dry run', queryOf('SELECT nope FROM edge_logs', { dry_run: 'true' }), KEY, 400],
    ['a wrong key', queryOf('SELECT nope FROM edge_logs'), { 'X-API-KEY': 'wrong' }, 401],
    ['an unknown endpoint', queryOf(COUNT).replace('logs.all', 'none'), KEY, 404],
    ['an unacceptable form', queryOf('SELECT nope FROM edge_logs'), { ...KEY, Accept: 'image/png' }, 406],
  ])('changes nothing with %s', async (_what, path, headers, status) => {
    const response = await fetch(base + path, { headers });
    expect([response.status, response.headers.get('x-error-status')]).toEqual([status, null]);
  });

  it('logs and counts the true status', async () => {
    const badRequests = async (): Promise<number> => {
      const metrics = await (await fetch(`${base}/metrics`, { headers: { 'X-API-KEY': METRICS_KEY } })).text();
      const lines = metrics.split('\n').filter((line) => /^logquay_requests_total\{.*"400"/.test(line));
      return lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
    };
    const before = await badRequests();
    const headers = { ...KEY, 'X-Request-Id': 'true-status' };
    await fetch(base + queryOf('SELECT counted FROM edge_logs'), { headers });
    const [line] = await service.logged(/^.*"id":"true-status".*"msg":"request".*$/m);
    expect(JSON.parse(line)).toMatchObject({ status: 400, reason: 'unknownField' });
    expect(await badRequests()).toBe(before + 1);
  });
});

it("shows an error's text in Studio's logs page at once, and the rows of a query", async () => {
  expect(await page(base, PRIVATE, 'SELECT nope FROM edge_logs')).toMatchObject({
    shown: expect.stringContaining('Unrecognized name: nope') as string,
    rows: [],
    requests: 1,
  });
  const { shown, rows, requests } = await page(base, PRIVATE, COUNT);
  expect({ shown, requests }).toEqual({ shown: null, requests: 1 });
  expect(rows).toEqual([{ n: expect.any(Number) as number }]);
});

it("answers the endpoints of Studio's other pages", async () => {
  const { result: health } = await ask(base, 'service-health', { ...DAY, granularity: 'hour' });
  expect(health).toMatchObject([
    {
      timestamp: '2026-11-22T10:00:00',
      edge_logs: { ok: 2, warning: 2, error: 0, total: 4 },
      postgres_logs: { ok: 1, error: 1 },
      realtime_logs: { ok: 1, error: 1 },
    },
  ]);
  const { result: metrics } = await ask(base, 'project.metrics', { ...DAY, interval: '1day' });
  expect(metrics).toContainEqual({
    timestamp: 1_795_341_600_000_000,
    service: 'realtime',
    time_window: 'current',
    ok_count: 1,
    warning_count: 0,
    error_count: 1,
  });
  expect((await ask(base, 'usage.api-requests-count', {})).result).toEqual([{ count: expect.any(Number) }]);
  expect((await ask(base, 'functions.combined-stats', { function_id: 'f', interval: '15min' })).result).toEqual([]);
});
