/** The service and the process of its embedded engine: neither is left behind by the other, and neither waits for it. */
import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { inLong } from '../scale';
import { until } from '../until';
import { childrenOf, Stage, type Started } from './started';

jest.setTimeout(120_000);

const API_KEY = 'a-key-for-everything';
const RUN = '/api/endpoints/query/logs.all?project=default';

let stage: Stage;
beforeEach(() => {
  stage = new Stage();
});
afterEach(() => stage.end());

function isAlive(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${String(pid)}/status`, 'utf8'));
  } catch {
    return false;
  }
}

async function engineOf(service: Started): Promise<number> {
  const [engine] = childrenOf(service.child.pid);
  if (engine === undefined) throw new Error('There is no engine.');
  return engine;
}

async function gone(pid: number): Promise<void> {
  while (isAlive(pid)) await sleep(10);
}

const headers = { 'X-API-KEY': API_KEY };

describe('of one service', () => {
  const shared = new Stage();
  let service: Started;
  let base: string;
  beforeAll(async () => {
    service = shared.start({
      API_KEY,
      METRICS_PORT: '0',
      METRICS_KEY: 'another-secret-of-the-service',
      DRAIN_DELAY: '1',
    });
    base = await service.ready();
  });
  afterAll(() => shared.end());

  it('the engine is given none of the service’s secrets', async () => {
    const environment = readFileSync(`/proc/${String(await engineOf(service))}/environ`, 'utf8');
    expect(environment).toContain('PATH=');
    expect(environment).not.toMatch(/a-key-for-everything|another-secret/);
    expect(environment.split('\0').filter((one) => /^(API_KEY|METRICS_KEY)=/.test(one))).toEqual([]);
  });

  it('answers what was requests while the engine was killed, and is ready all the time', async () => {
    const first = await engineOf(service);
    const requests = Array.from({ length: 8 }, (_, i) =>
      fetch(`${base}${RUN}&iso_timestamp_start=2020-01-01T00:00:0${String(i)}Z`, { headers }),
    );
    process.kill(first, 'SIGKILL');
    for (const response of await Promise.all(requests)) expect(response.status).toBe(200);
    expect((await fetch(`${base}/ready`)).status).toBe(200);
    expect(await engineOf(service)).not.toBe(first);
    const [, port = ''] = await service.logged(/"metricsPort":(\d+)/);
    const metrics = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    expect(metrics).toMatch(/^logquay_engine_restarts_total\{cause="crashed"\} 1$/m);
    expect(metrics).toMatch(/^logquay_engine_memory_bytes [1-9]\d{7,}$/m);
  });

  it('a signal of the terminal to all of its group ends the engine with the service, not before', async () => {
    const engine = await engineOf(service);
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.kill(engine, signal);
    service.signal('SIGINT');
    await service.logged(/draining/);
    expect((await fetch(`${base}${RUN}`, { headers })).status).toBe(200);
    expect(await service.exit).toBe(0);
    expect(service.err.match(/has ended; what it was doing/g)).toHaveLength(1);
    await gone(engine);
  });
});

describe('a text that has the engine ended for its memory', () => {
  const shared = new Stage();
  const HOSTILE = 'a-key-of-the-hostile-one';
  const ORDINARY = 'a-key-of-the-ordinary-one';
  let service: Started;
  let base: string;
  beforeAll(async () => {
    const folder = shared.folder();
    const keys = path.join(folder, 'keys.json');
    const named = [HOSTILE, ORDINARY].map((key, i) => ({
      name: `key-${String(i)}`,
      hash: createHash('sha256').update(key).digest('hex'),
      allowSql: true,
    }));
    writeFileSync(keys, JSON.stringify({ keys: named }));
    service = shared.start({ KEYS_FILE: keys, DATA_DIR: '', DUCKDB_MEMORY_LIMIT: '256MB', METRICS_PORT: '0' });
    base = await service.ready();
  });
  afterAll(() => shared.end());

  interface Answer {
    readonly status: number;
    readonly reason: string | undefined;
    readonly retryAfter: number;
  }
  let count = 0;
  /** A request that nothing kept answers. @param sql of its own */
  async function ask(key: string, sql?: string): Promise<Answer> {
    const start = new Date(1_577_836_800_000 + count++).toISOString();
    const parameters = new URLSearchParams({ iso_timestamp_start: start, ...(sql === undefined ? {} : { sql }) });
    const response = await fetch(`${base}${RUN}&${String(parameters)}`, { headers: { 'X-API-KEY': key } });
    const body = (await response.json()) as { error?: { errors?: { reason?: string }[] } };
    const reason = body.error?.errors?.[0]?.reason;
    return { status: response.status, reason, retryAfter: Number(response.headers.get('Retry-After')) };
  }
  /** 800 kB for each of the 2,048 rows that DuckDB computes together. */
  const filling = (n: number): string =>
    `select max(array_length(generate_array(1, 100000 + length(id) - ${String(n)}))) as n from edge_logs`;
  async function restarts(): Promise<number> {
    const [, port = ''] = await service.logged(/"metricsPort":(\d+)/);
    const metrics = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    return Number(/^logquay_engine_restarts_total\{cause="memory"\} (\d+)$/m.exec(metrics)?.[1] ?? 0);
  }

  it('costs other keys no answer, is refused at once when it comes again, and its key after three of them', async () => {
    for (const n of [1, 2, 3]) {
      let isOver = false;
      const hostile = ask(HOSTILE, filling(n)).finally(() => (isOver = true));
      while (!isOver) expect(await ask(ORDINARY)).toMatchObject({ status: 200 });
      expect(await hostile).toMatchObject({ status: 400, reason: 'resourcesExceeded' });
    }
    const ended = await restarts();
    expect(ended).toBeGreaterThanOrEqual(3);
    expect(await ask(ORDINARY, filling(1))).toMatchObject({ status: 400, reason: 'resourcesExceeded' });
    const refused = await ask(HOSTILE, 'select count(*) as n from edge_logs');
    expect(refused).toMatchObject({ status: 429, reason: 'tooManyConcurrentQueries' });
    expect(refused.retryAfter).toBeGreaterThan(500);
    expect(refused.retryAfter).toBeLessThanOrEqual(600);
    expect(await ask(ORDINARY, 'select count(*) as n from edge_logs')).toMatchObject({ status: 200 });
    // A stored query is nobody's own text.
    expect(await ask(HOSTILE)).toMatchObject({ status: 200 });
    expect(await restarts()).toBe(ended);
  });
});

it('the engine ends with a service that was killed, and takes its samples along', async () => {
  const service = stage.start({ API_KEY, DATA_DIR: '' });
  await service.ready();
  const engine = await engineOf(service);
  service.signal('SIGKILL');
  await service.exit;
  await gone(engine);
  expect(readdirSync(path.join(service.folder, '.data/cache'))).toEqual([]);
});

it('ends although its engine answers nobody', async () => {
  const service = stage.start({ API_KEY, QUERY_TIMEOUT: '1' });
  const base = await service.ready();
  const engine = await engineOf(service);
  process.kill(engine, 'SIGSTOP');
  const [ready, run] = await Promise.all([fetch(`${base}/ready`), fetch(`${base}${RUN}`, { headers })]);
  expect([ready.status, run.status]).toEqual([503, 504]);
  service.signal('SIGTERM');
  expect(await service.exit).toBe(0);
  await gone(engine);
});

it('ends while it is still starting, at once and with nothing left behind', async () => {
  const service = stage.start({ API_KEY, DATA_DIR: '', DRAIN_DELAY: '60' });
  await service.base();
  while (childrenOf(service.child.pid).length === 0) await sleep(1);
  const engine = await engineOf(service);
  service.signal('SIGTERM');
  expect(await service.exit).toBe(0);
  expect(service.err).not.toContain('cannot start');
  await gone(engine);
  expect(readdirSync(path.join(service.folder, '.data/cache'))).toEqual([]);
});

it.each([[12_000, '256MB'] as const, ...inLong([[1_000, '256MB'] as const, [12_000, '1GB'] as const])])(
  'has no more processes to store %i rows where DUCKDB_MEMORY_LIMIT is %s',
  async (count, limit) => {
    const folder = mkdtempSync(path.join(tmpdir(), 'logquay-rows-'));
    const row = { id: 'a', timestamp: '2026-11-27T10:00:00Z', event_message: 'm'.repeat(1000) };
    const rows = Array.from({ length: count }, (_, i) => `${JSON.stringify({ ...row, id: String(i) })}\n`).join('');
    writeFileSync(path.join(folder, 'edge_logs.ndjson'), rows);
    try {
      const service = stage.start({ API_KEY, DATA_DIR: folder, DUCKDB_MEMORY_LIMIT: limit });
      await service.ready();
      const engine = await engineOf(service);
      const seen = new Set<number>();
      // The table may be ready before all of them are stored.
      const stored = (): number =>
        [...service.err.matchAll(/"rows":(\d+),.*"Rows stored"/g)].reduce((sum, [, part]) => sum + Number(part), 0);
      await until(() => {
        for (const pid of childrenOf(engine)) seen.add(pid);
        return stored() >= count;
      });
      expect(seen.size).toBe(0);
      service.signal('SIGTERM');
      expect(await service.exit).toBe(0);
    } finally {
      rmSync(folder, { recursive: true });
    }
  },
);
