/** The real process takes in what the stack's Vector sends, and serves it. */
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';

import { Random } from '../dialect/random';
import { until } from '../until';
import { Stage, type Started } from './started';
import { LONG } from '../scale';

/** More for a night: `KILLS=50`. */
const KILLS = Number(process.env['KILLS'] ?? (LONG ? 20 : 1));

jest.setTimeout(120_000 + KILLS * 60_000);

const PRIVATE = 'private-token-of-the-stack';
const PUBLIC = 'public-token-of-the-stack';
const STACK = {
  COLLECT: 'on',
  LOGFLARE_SINGLE_TENANT: 'true',
  LOGFLARE_PRIVATE_ACCESS_TOKEN: PRIVATE,
  LOGFLARE_PUBLIC_ACCESS_TOKEN: PUBLIC,
  DATA_DIR: 'logs',
};
const EDGE = '/api/logs?source_name=cloudflare.logs.prod';

const stage = new Stage();
let service: Started;
let base: string;
beforeAll(async () => {
  service = stage.start({ ...STACK, METRICS_KEY: 'key-of-the-metrics', COLLECT_MAX_BODY: '1000000' });
  base = await service.ready();
});
afterAll(() => stage.end());

function post(
  to: string,
  events: unknown,
  { key = PUBLIC, headers = {}, at = base }: { key?: string; headers?: Record<string, string>; at?: string } = {},
): Promise<Response> {
  const body = Buffer.isBuffer(events) ? events : JSON.stringify(events);
  return fetch(at + to, {
    method: 'POST',
    headers: { 'X-API-KEY': key, 'Content-Type': 'application/json', ...headers },
    body,
  });
}

interface Counts {
  readonly d: number;
  readonly n: number;
}

async function rows<Row>(sql: string, at = base): Promise<Row[]> {
  const query = new URLSearchParams({ project: 'default', sql }).toString();
  return answerOf(`${at}/api/endpoints/query/logs.all?${query}`);
}

/** What an endpoint of the kill test counts. */
const otel = (at: string): Promise<Counts[]> => answerOf(`${at}/api/endpoints/query/otel`);

async function answerOf<Row>(url: string): Promise<Row[]> {
  const response = await fetch(url, { headers: { 'X-API-KEY': PRIVATE } });
  expect(response.status).toBe(200);
  return ((await response.json()) as { result: Row[] }).result;
}

it('serves what was sent, in every way that Logflare takes it', async () => {
  const timestamp = new Date().toISOString();
  const line = (path: string): string =>
    `172.18.0.1 - - [22/Nov/2026:10:00:00 +0000] "GET ${path} HTTP/1.1" 200 12 "-" "curl/8.5.0"`;
  const event = (path: string): object => ({
    project: 'default',
    event_message: line(path),
    appname: 'supabase-kong',
    timestamp,
    metadata: { request: { method: null, path: null }, response: { status_code: 200 } },
  });
  const answer = await post(EDGE, [event('/rest/v1/todos?select=*')]);
  expect([answer.status, await answer.json()]).toEqual([200, { message: 'Logged!' }]);
  const gzip = gzipSync(JSON.stringify({ batch: [event('/auth/v1/token')] }));
  expect(
    (await post('/logs?source_name=cloudflare.logs.prod', gzip, { headers: { 'Content-Encoding': 'gzip' } })).status,
  ).toBe(200);
  expect(
    (
      await post('/api/events?source=cloudflare.logs.prod', event('/storage/v1/object'), {
        headers: { 'X-API-KEY': '', Authorization: `Bearer ${PUBLIC}` },
      })
    ).status,
  ).toBe(401);
  const bearer = { Authorization: `Bearer ${PUBLIC}`, 'Content-Type': 'application/json' };
  const single = { method: 'POST', headers: bearer, body: JSON.stringify(event('/storage/v1/object')) };
  expect((await fetch(`${base}/api/events?source=cloudflare.logs.prod`, single)).status).toBe(200);
  const sql =
    'SELECT COUNT(*) AS n FROM edge_logs CROSS JOIN UNNEST(metadata) AS m CROSS JOIN UNNEST(m.request) AS r WHERE r.path IS NOT NULL';
  await until(async () => (await rows<{ n: number }>(sql))[0]?.n === 3);
  const counts = await fetch(`${base}/api/endpoints/query/usage.api-counts?project=default&interval=1hr`, {
    headers: { 'X-API-KEY': PRIVATE },
  });
  expect(await counts.json()).toMatchObject({
    result: [{ total_rest_requests: 1, total_auth_requests: 1, total_storage_requests: 1, total_realtime_requests: 0 }],
  });
  const [request] = await service.logged(/^.*"route":"\/api\/logs".*$/m);
  expect(JSON.parse(request)).toMatchObject({ key: 'public-token', table: 'raw_edge_logs', events: 1, status: 200 });
  const metrics = await fetch(`${base}/metrics`, { headers: { 'X-API-KEY': 'key-of-the-metrics' } });
  expect(await metrics.text()).toContain('logquay_collected_events_total{table="raw_edge_logs"} 3');
});

it('lets a key that sends do nothing else, and no other send', async () => {
  for (const path of [
    '/api/endpoints',
    '/api/endpoints/query/logs.all?project=default',
    '/api/key',
    '/api/backends',
    '/api/endpoints/analyze/logs.all',
    '/api/endpoints/schema/logs.all',
  ]) {
    const response = await fetch(base + path, { headers: { 'X-API-KEY': PUBLIC } });
    expect([path, response.status]).toEqual([path, 403]);
  }
  expect((await post(EDGE, [{}], { key: PRIVATE })).status).toBe(403);
  expect((await post(EDGE, [{}], { key: 'wrong' })).status).toBe(401);
  expect((await fetch(`${base}${EDGE}&api_key=${PUBLIC}`, { method: 'POST', body: '[]' })).status).toBe(401);
});

it.each([
  ['no source', '/api/logs', [{}], {}, 400],
  ['two sources', `${EDGE}&source=b`, [{}], {}, 400],
  ['another type', EDGE, [{}], { 'Content-Type': 'text/plain' }, 415],
  ['another coding', EDGE, [{}], { 'Content-Encoding': 'br' }, 415],
  ['a body that is too long', EDGE, Buffer.alloc(1_000_001, 0x20), {}, 413],
])('refuses %s', async (_what, to, events, headers, status) => {
  const response = await post(to, events, { headers });
  expect(response.status).toBe(status);
  expect(((await response.json()) as { error: { code: number } }).error.code).toBe(status);
});

it('takes nothing but POST', async () => {
  expect((await fetch(base + EDGE, { headers: { 'X-API-KEY': PUBLIC } })).status).toBe(405);
});

it('does not start with one token for both', async () => {
  const started = stage.start({ ...STACK, LOGFLARE_PUBLIC_ACCESS_TOKEN: PRIVATE });
  expect(await started.exit).toBe(1);
  expect(started.err).toContain('LOGFLARE_PUBLIC_ACCESS_TOKEN');
  expect(started.err).not.toContain(PRIVATE);
});

it('stores each event once, killed at any instant, when its batches come again as Vector sends them', async () => {
  const folder = stage.folder();
  const sql = 'SELECT COUNT(DISTINCT body) AS d, COUNT(*) AS n FROM otel_logs';
  writeFileSync(
    path.join(folder, 'queries/otel.sql'),
    `/*\nid: 0f1d2c3b-4a59-4687-b6a5-948372615043\nname: otel\n*/\n${sql}\n`,
  );
  // Its own batches are as long as some of Vector's, so that a kill meets them on their way.
  const SENDERS = ['cloudflare.logs.prod', 'gotrue.logs.prod', null, 'cloudflare.logs.prod'];
  let started = stage.start({ ...STACK }, folder);
  let at = await started.ready();
  let sent = 0;
  let running = true;
  const source = new Random(20_261_122);
  const random = (): number => source.int(2 ** 20) / 2 ** 20;
  const deliver = async (body: Buffer, name: string | null): Promise<void> => {
    for (;;) {
      const status = await post(name === null ? '/v1/logs' : `/api/logs?source_name=${name}`, body, { at }).then(
        (response) => response.status,
        () => 0,
      );
      if (status === 200) return;
      if (status !== 0 && status < 429) throw new Error(`answered ${String(status)}`);
      await sleep(50);
    }
  };
  /** @param name of a source; null: records of OpenTelemetry */
  const sender = async (name: string | null): Promise<void> => {
    while (running) {
      const count = random() < 0.3 ? 4000 : 1 + Math.floor(random() * 50);
      const first = sent;
      sent += count;
      const named = Array.from({ length: count }, (_, i) => `event-${String(first + i)}`);
      const text = (): string => 'x'.repeat(random() * 400);
      const timestamp = '2026-11-22T10:00:00Z';
      const events = named.map((event_message) => ({
        project: 'default',
        event_message,
        timestamp,
        metadata: { text: text() },
      }));
      const logRecords = named.map((stringValue) => ({ body: { stringValue }, eventName: text() }));
      const body = name === null ? { resourceLogs: [{ scopeLogs: [{ logRecords }] }] } : events;
      await deliver(Buffer.from(JSON.stringify(body)), name);
    }
  };
  const senders = SENDERS.map(sender);
  for (let i = 0; i < KILLS; i++) {
    await sleep(random() * 1500);
    started.signal('SIGKILL');
    await started.exit;
    started = stage.start({ ...STACK }, folder);
    at = await started.ready();
  }
  running = false;
  await Promise.all(senders);
  const stored = ['raw_edge_logs', 'raw_auth_logs', 'otel_logs'].flatMap((table) =>
    readdirSync(path.join(folder, 'logs', table)).flatMap((name) =>
      readFileSync(path.join(folder, 'logs', table, name), 'utf8')
        .split('\n')
        .slice(0, -1)
        .map((line) => JSON.parse(line) as { event_message?: string; body?: string })
        .map(({ event_message: message, body }) => message ?? body),
    ),
  );
  expect(sent).toBeGreaterThan(KILLS);
  expect(new Set(stored).size).toBe(sent);
  expect(stored).toHaveLength(sent);
  const count = (table: string): string => `SELECT COUNT(DISTINCT event_message) AS d, COUNT(*) AS n FROM ${table}`;
  const served = async (): Promise<{ d: number; n: number }> => {
    const counts = await Promise.all([
      rows<Counts>(count('edge_logs'), at),
      rows<Counts>(count('auth_logs'), at),
      otel(at),
    ]);
    return counts.flat().reduce((sum, { d, n }) => ({ d: sum.d + d, n: sum.n + n }), { d: 0, n: 0 });
  };
  await until(async () => (await served()).n === sent);
  expect(await served()).toEqual({ d: sent, n: sent });
  rmSync(path.join(folder, 'logs'), { recursive: true, force: true });
});
