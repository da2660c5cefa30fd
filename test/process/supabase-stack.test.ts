/** The traffic of a stock stack: what its Vector sends for lines of every container, then what Studio's pages ask. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';

import { parse } from 'yaml';

import { SETTINGS } from '../../src/config';
import { until } from '../until';
import { Stage } from './started';

jest.setTimeout(120_000);

const ROOT = path.join(__dirname, '../..');
const STACK = path.join(__dirname, 'stack');
const PRIVATE = 'private-token-of-the-stack';
const PUBLIC = 'public-token-of-the-stack';

interface Event {
  readonly event_message: string;
}

const read = (file: string): string => readFileSync(file, 'utf8');
const BATCHES = JSON.parse(read(path.join(STACK, 'batches.json'))) as Record<string, Event[]>;

/** Of the service in the override of the compose file. */
const ANALYTICS = (
  parse(read(path.join(ROOT, 'docker-compose.supabase.yml'))) as {
    services: {
      analytics: { environment: Record<string, string>; healthcheck: { test: string[] }; volumes: string[] };
    };
  }
).services.analytics;

const stage = new Stage();
let base: string;
beforeAll(async () => {
  const { environment } = ANALYTICS;
  const service = stage.start({
    ...environment,
    PORT: '0',
    HOST: '',
    DATA_DIR: 'logs',
    CACHE_DIR: 'cache',
    LOGFLARE_SINGLE_TENANT: 'true',
    LOGFLARE_SUPABASE_MODE: 'true',
    LOGFLARE_PRIVATE_ACCESS_TOKEN: PRIVATE,
    LOGFLARE_PUBLIC_ACCESS_TOKEN: PUBLIC,
  });
  base = await service.ready();
  for (const [source, events] of Object.entries(BATCHES)) {
    const response = await fetch(`${base}/api/logs?source_name=${source}`, {
      method: 'POST',
      headers: { 'X-API-KEY': PUBLIC, 'Content-Type': 'application/json' },
      body: JSON.stringify(events),
    });
    expect([source, response.status]).toEqual([source, 200]);
  }
  const sent = Object.values(BATCHES).flat().length;
  const tables = ['edge', 'auth', 'postgrest', 'realtime', 'function_edge', 'storage', 'postgres'];
  const counts = tables.map((table) => `(SELECT COUNT(*) FROM ${table}_logs)`).join(' + ');
  await until(async () => (await studio<{ n: number }>(`SELECT ${counts} AS n`))[0]?.n === sent);
});
afterAll(() => stage.end());

/** As Studio's server asks. */
async function request(name: string, parameters: Readonly<Record<string, string>>): Promise<Record<string, unknown>> {
  const query = new URLSearchParams({ project: 'default', ...parameters }).toString();
  const response = await fetch(`${base}/api/endpoints/query/${name}?${query}`, {
    headers: { 'x-api-key': PRIVATE, 'Content-Type': 'application/json', Accept: 'application/json' },
  });
  expect(response.status).toBe(200);
  return (await response.json()) as Record<string, unknown>;
}

const DAY = { iso_timestamp_start: '2026-11-22T09:00:00.000Z', iso_timestamp_end: '2026-11-22T11:00:00.000Z' };

async function studio<Row>(sql: string): Promise<Row[]> {
  const { result, error } = await request('logs.all', { sql, ...DAY });
  expect(error).toBeUndefined();
  return result as Row[];
}

it('has settings in its compose file that there are, and a data folder on a volume', () => {
  const { environment, volumes } = ANALYTICS;
  // DB_PASSWORD is the stack's: it is taken away.
  expect(Object.keys(environment).filter((name) => !(name in SETTINGS))).toEqual(['DB_PASSWORD']);
  const [, folder = ''] = (volumes[0] ?? '').split(':');
  for (const name of ['DATA_DIR', 'CACHE_DIR']) expect(environment[name]?.startsWith(`${folder}/`)).toBe(true);
});

it('has a health check that tells a live service from a dead one', async () => {
  const [, , , script = ''] = ANALYTICS.healthcheck.test;
  const status = (at: string): number | null =>
    spawnSync(process.execPath, ['-e', script.replace('http://127.0.0.1:4000', at)]).status;
  expect([status(base), status('http://127.0.0.1:1')]).toEqual([0, 1]);
});

// Where Vector's own language is there (PyPI: vrl-python): VRL_PYTHON names a Python that has it.
const { VRL_PYTHON } = process.env;
if (VRL_PYTHON === undefined) {
  process.stderr.write('VRL_PYTHON is not set: that the batches are what VRL makes is skipped.\n');
  if (!process.env['CI']) it.skip('replays the batches that VRL makes of the lines', () => undefined);
} else {
  it('replays the batches that VRL makes of the lines', () => {
    const { stdout, stderr } = spawnSync(VRL_PYTHON, [path.join(STACK, 'pipeline.py')], {
      input: read(path.join(STACK, 'lines.json')),
      encoding: 'utf8',
    });
    expect(stderr).toBe('');
    expect(JSON.parse(stdout)).toEqual(BATCHES);
  });
}

const LISTS: readonly (readonly [source: string, sql: string, columns: object])[] = [
  [
    'cloudflare.logs.prod',
    `select id, edge_logs.timestamp, event_message, request.method, request.path, request.search, response.status_code
     from edge_logs cross join unnest(metadata) as m cross join unnest(m.request) as request cross join unnest(m.response) as response
     order by timestamp desc limit 100`,
    { method: 'GET', path: '/rest/v1/todos', search: '?select=*', status_code: 200 },
  ],
  [
    'gotrue.logs.prod',
    `select id, auth_logs.timestamp, event_message, metadata.level, metadata.status, metadata.path, metadata.msg
     from auth_logs left join unnest(metadata) as metadata order by timestamp desc limit 100`,
    { level: 'info', status: 400, path: '/token' },
  ],
  [
    'postgREST.logs.prod',
    'select id, postgrest_logs.timestamp, event_message, m.host from postgrest_logs cross join unnest(metadata) as m',
    { event_message: 'Schema cache loaded', timestamp: 1_795_341_600_000_000 },
  ],
  [
    'realtime.logs.prod',
    'select id, realtime_logs.timestamp, event_message, m.level from realtime_logs cross join unnest(metadata) as m',
    { event_message: 'Subscribing to PostgreSQL failed', level: 'error' },
  ],
  ['deno-relay-logs', 'select id, timestamp, event_message, metadata from function_edge_logs', {}],
  [
    'storage.logs.prod.2',
    `select id, storage_logs.timestamp, event_message, m.level, c.host from storage_logs
     cross join unnest(metadata) as m cross join unnest(m.context) as c`,
    { event_message: '[Server] started', level: 'info', host: 'storage' },
  ],
  [
    'postgres.logs',
    `select l.id, p.error_severity, l.event_message from postgres_logs as l
     cross join unnest(metadata) as m cross join unnest(m.parsed) as p order by l.timestamp`,
    { error_severity: 'ERROR' },
  ],
];

it.each(LISTS)('lists what came from %s', async (source, sql, columns) => {
  const rows = await studio<Event>(sql);
  expect(rows.map(({ event_message: message }) => message).sort()).toEqual(
    BATCHES[source]!.map(({ event_message: message }) => message).sort(),
  );
  expect(rows).toContainEqual(expect.objectContaining(columns));
});

it('answers queries of the collection, every third, over the rows of a stack', async () => {
  const all = read(path.join(ROOT, 'test/cases/log-queries.jsonl')).trim().split('\n');
  const cases = all.filter((_line, i) => i % 3 === 0);
  expect(cases.length).toBeGreaterThan(20);
  for (const line of cases) {
    const { id, sql } = JSON.parse(line) as { id: string; sql: string };
    const { result, error } = await request('logs.all', { sql, ...DAY });
    expect([id, error, Array.isArray(result)]).toEqual([id, undefined, true]);
  }
});

it("shows an error's text at once", async () => {
  expect(await request('logs.all', { sql: 'select nope from edge_logs', ...DAY })).toEqual({
    error: expect.stringContaining('Unrecognized name: nope'),
  });
});

it("answers the endpoints of Studio's other pages", async () => {
  const { result: health } = await request('service-health', { ...DAY, granularity: 'hour' });
  expect(health).toMatchObject([
    {
      timestamp: '2026-11-22T10:00:00',
      edge_logs: { ok: 2, warning: 1, error: 0, total: 3 },
      postgres_logs: { ok: 1, error: 1 },
      realtime_logs: { error: 1 },
    },
  ]);
  const { result: metrics } = await request('project.metrics', { ...DAY, interval: '1day' });
  expect(metrics).toContainEqual({
    timestamp: 1_795_341_600_000_000,
    service: 'realtime',
    time_window: 'current',
    ok_count: 0,
    warning_count: 0,
    error_count: 1,
  });
  expect((await request('usage.api-requests-count', {})).result).toEqual([{ count: expect.any(Number) }]);
  expect((await request('functions.combined-stats', { function_id: 'f', interval: '15min' })).result).toEqual([]);
});
