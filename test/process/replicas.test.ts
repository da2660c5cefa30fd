/** Two processes of the service on one Redis, as in production: what they share, and what becomes of requests when one of the three fails. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { Redis } from 'ioredis';

import { describeWithRedis, type RedisServer, startRedis } from '../redis-server';
import { until } from '../until';
import { Stage, type Started } from './started';

jest.setTimeout(180_000);

const PARAMETERS = `cache_ttl: 600
params:
  project: { type: string, required: true, description: Whose rows. }`;

const QUERIES = {
  // About a second of work for two cores that do nothing else.
  heavy: `/*
id: 44444444-aaaa-4000-8000-000000000001
name: heavy
${PARAMETERS}
*/
SELECT @project AS project, COUNT(*) AS n
FROM UNNEST(GENERATE_ARRAY(1, 9000)) AS a, UNNEST(GENERATE_ARRAY(1, 9000)) AS b
WHERE MOD(a * b + 1, 7) = 3`,
  small: `/*
id: 44444444-aaaa-4000-8000-000000000002
name: small
${PARAMETERS}
*/
SELECT @project AS project`,
};

interface Answer {
  readonly status: number;
  readonly cache: string;
  readonly text: string;
}

/** @throws what becomes of the connection */
function get(port: number, url: string, key = 'k'): Promise<Answer> {
  return new Promise((resolve, reject) => {
    http
      .get({ port, path: url, headers: { 'X-API-KEY': key }, agent: false }, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () => {
          resolve({
            status: response.statusCode ?? 0,
            cache: String(response.headers['cache-status']),
            text: Buffer.concat(chunks).toString(),
          });
        });
      })
      .on('error', reject);
  });
}

const run = (name: keyof typeof QUERIES, project: string): string => `/api/endpoints/query/${name}?project=${project}`;

/** Runs on the engine of that endpoint, as the process counts them. */
async function engineRuns(port: number, endpoint: keyof typeof QUERIES): Promise<number> {
  const { status, text } = await get(port, '/metrics', 'm');
  expect(status).toBe(200);
  const lines = text.matchAll(/^logquay_engine_runs_total\{endpoint="(\w+)",[^}]*\} (\d+)$/gm);
  return [...lines].filter(([, name]) => name === endpoint).reduce((sum, [, , count]) => sum + Number(count), 0);
}

/** Commands to Redis that ended so. */
async function redisFailures(port: number, failure: 'timeout' | 'skipped'): Promise<number> {
  const { text } = await get(port, '/metrics', 'm');
  return Number(new RegExp(`^logquay_redis_failures_total\\{failure="${failure}"\\} (\\d+)$`, 'm').exec(text)?.[1]);
}

/** The cache's state by a probe; a status other than 200 fails. */
async function cacheState(port: number): Promise<string> {
  const { status, text } = await get(port, '/ready');
  expect([status, text]).toEqual([200, expect.anything()]);
  return (JSON.parse(text) as { cache: string }).cache;
}

describeWithRedis('two processes on one Redis', () => {
  const stage = new Stage();
  let queries: string;
  let server: RedisServer;
  let direct: Redis;
  let processes: readonly Started[] = [];
  let ports: readonly [number, number];

  beforeAll(async () => {
    queries = mkdtempSync(path.join(tmpdir(), 'logquay-queries-'));
    for (const [name, text] of Object.entries(QUERIES)) writeFileSync(path.join(queries, `${name}.sql`), text);
    server = await startRedis();
    direct = new Redis(server.url, { retryStrategy: () => 200, maxRetriesPerRequest: 0 });
    direct.on('error', () => undefined);
    await start();
  });
  afterAll(async () => {
    direct.disconnect();
    server.thaw();
    await stage.end();
    await server.stop();
    rmSync(queries, { recursive: true, force: true });
  });

  async function start(): Promise<void> {
    // Longer than by default: on a busy machine a thousand connections alone can keep a process from an answer of Redis.
    const settings = { REDIS_URL: server.url, REDIS_TIMEOUT: '2', LOG_LEVEL: 'warn', QUERY_TIMEOUT: '120' };
    const environment = { API_KEY: 'k', METRICS_KEY: 'm', QUERIES_DIR: queries, ...settings };
    processes = [stage.start(environment), stage.start(environment)];
    const [one = 0, other = 0] = await Promise.all(processes.map((process) => process.port()));
    ports = [one, other];
    for (const port of ports) {
      await until(async () => (await cacheState(port)) === 'ok');
      // What a first request alone pays for is paid.
      expect((await get(port, run('small', `warm-up-${port}`))).status).toBe(200);
    }
    // The leases of these runs are released after their answers: the next lease seen is that of a test's own run.
    await until(async () => (await keysOf('lease')) + (await keysOf('waiters')) === 0);
  }

  /** How many keys of that kind there are: leases, or results that somebody waits for. */
  const keysOf = async (part: 'lease' | 'waiters'): Promise<number> => (await direct.keys(`*:${part}`)).length;

  it('run once for a thousand who ask both of them for the same at once', async () => {
    const pending = Array.from({ length: 1000 }, (_, i) => get(ports[i % 2] ?? 0, run('heavy', 'a')));
    const all = await Promise.all(pending);
    const runs = await Promise.all(ports.map((port) => engineRuns(port, 'heavy')));
    expect(runs.reduce((a, b) => a + b)).toBe(1);
    expect(new Set(all.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    expect(all[0]).toMatchObject({ status: 200, text: expect.stringMatching(/"project":"a","n":\d+/) as string });
    expect(all.filter(({ cache }) => cache === 'logquay; fwd=miss; stored')).toHaveLength(1);
    for (const { cache } of all) expect(cache).toMatch(/^logquay; (fwd=miss; (stored|collapsed)|hit; ttl=\d+)$/);
    await until(async () => (await keysOf('lease')) + (await keysOf('waiters')) === 0);
    // Also who comes later, whichever they ask, gets what has been kept.
    for (const port of ports) expect((await get(port, run('heavy', 'a'))).cache).toMatch(/^logquay; hit; ttl=\d+$/);
  });

  it('answer every request while Redis is killed, comes back, hangs and goes on', async () => {
    let phase = 'well';
    let over = false;
    const answers: (Answer & { readonly phase: string; readonly project: string })[] = [];
    const faults: unknown[] = [];
    let next = 0;
    const client = async (): Promise<void> => {
      while (!over) {
        // What is kept and what is not, of one process and the other.
        const number = next++;
        const project = number % 2 === 0 ? `kept-${number % 20}` : `new-${number}`;
        const during = phase;
        await get(ports[(number >> 1) % 2] ?? 0, run('small', project)).then(
          (answer) => answers.push({ ...answer, phase: during, project }),
          (error: unknown) => faults.push(error),
        );
        await sleep(5);
      }
    };
    const clients = [1, 2, 3, 4].map(client);
    /** For so long, and until so many were answered. */
    const stay = async (what: string, milliseconds: number): Promise<void> => {
      phase = what;
      await sleep(milliseconds);
      await until(() => Promise.resolve(answers.filter((answer) => answer.phase === what).length >= 100));
    };
    const bothAre = (state: string): Promise<void> =>
      until(async () => {
        const states = await Promise.all(ports.map(cacheState));
        return states.every((each) => each === state);
      });
    try {
      await stay('well', 300);
      const { port } = server;
      await server.kill();
      await stay('dead', 500);
      await bothAre('degraded');
      server = await startRedis([], { port });
      phase = 'back';
      await bothAre('ok');
      await stay('well again', 200);
      server.freeze();
      await stay('hung', 500);
      await bothAre('degraded');
      server.thaw();
      phase = 'going on';
      await bothAre('ok');
      await stay('well at last', 200);
    } finally {
      over = true;
      await Promise.all(clients);
    }
    expect(faults).toEqual([]);
    for (const { status, text, project } of answers)
      expect([status, text]).toEqual([200, `{"result":[{"project":"${project}"}]}`]);
    // Hardly a request waited for a Redis that does not answer: the others went on without.
    const waited = await Promise.all(ports.map(async (port) => redisFailures(port, 'timeout')));
    const skipped = await Promise.all(ports.map(async (port) => redisFailures(port, 'skipped')));
    for (const i of [0, 1]) expect(waited[i]).toBeLessThan((skipped[i] ?? 0) / 4);
    // They share again.
    const [one, other] = ports;
    expect((await get(one, run('small', 'last'))).cache).toBe('logquay; fwd=miss; stored');
    await until(async () => (await direct.keys('*:entry').catch(() => [])).length > 0);
    await until(async () => (await keysOf('lease')) === 0);
    expect((await get(other, run('small', 'last'))).cache).toMatch(/^logquay; hit; ttl=\d+$/);
  });

  it('take over from one that is killed while it runs', async () => {
    const before = await engineRuns(ports[1], 'heavy');
    const [dying, other] = ports;
    const lost = get(dying, run('heavy', 'b')).then(
      () => 'answered',
      () => 'cut',
    );
    await until(async () => (await keysOf('lease')) === 1);
    const pending = [1, 2, 3].map(() => get(other, run('heavy', 'b')));
    await until(async () => (await keysOf('waiters')) === 1);
    processes[0]?.signal('SIGKILL');
    expect(await lost).toBe('cut');
    const all = await Promise.all(pending);
    expect(all.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(all.map(({ cache }) => cache).sort()).toEqual([
      'logquay; fwd=miss; collapsed',
      'logquay; fwd=miss; collapsed',
      'logquay; fwd=miss; stored',
    ]);
    expect((await engineRuns(other, 'heavy')) - before).toBe(1);
    processes[1]?.signal('SIGTERM');
    expect(await processes[1]?.exit).toBe(0);
  });
});
