/** What operators see of a process: metrics on a port of their own, the log, and limits that processes share. */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { describeWithRedis, type RedisServer, startRedis } from '../redis-server';
import { Stage, type Started } from './started';

jest.setTimeout(120_000);

const ROOT = path.join(__dirname, '../..');
const API_KEY = 'a-key-for-everything';
const stage = new Stage();
afterAll(() => stage.end());

describe('METRICS_PORT', () => {
  it('answers scrapes without a key from the start to the end, and nothing else', async () => {
    const service = stage.start({ API_KEY, METRICS_PORT: '0', DRAIN_DELAY: '1', RATE_LIMIT: '50' });
    const [, port = ''] = await service.logged(/"metricsPort":(\d+)/);
    const base = `http://127.0.0.1:${port}`;
    // It is there before the service is ready.
    expect(await (await fetch(`${base}/metrics`)).text()).toContain('logquay_process_start_time_seconds ');
    const main = await service.ready();
    const run = `${main}/api/endpoints/query/usage.api-counts?project=x&interval=daily`;
    expect((await fetch(run, { headers: { 'X-API-KEY': API_KEY } })).status).toBe(200);
    expect((await fetch(run)).status).toBe(401);
    expect((await fetch(`${main}/metrics`, { headers: { 'X-API-KEY': API_KEY } })).status).toBe(404);

    const text = await (await fetch(`${base}/metrics?x=1`)).text();
    for (const line of [
      /^logquay_requests_total\{route="\/api\/endpoints\/query\/:idOrName",endpoint="usage.api-counts",status="200",reason="none"\} 1$/m,
      /^logquay_key_requests_total\{key="API_KEY",status="200"\} 1$/m,
      /^logquay_engine_runs_total\{endpoint="usage.api-counts",kind="run",result="ok"\} 1$/m,
      /^logquay_cache_writes_total\{endpoint="usage.api-counts",write="stored"\} 1$/m,
      /^logquay_cache_memory_entries 1$/m,
      /^logquay_cache_memory_bytes \d{4,}$/m,
      /^logquay_admission_running 0$/m,
      /^logquay_admission_waiting 0$/m,
      /^logquay_shared_runs 0$/m,
      /^logquay_event_loop_lag_seconds\{statistic="p99"\} [\d.e-]+$/m,
      /^logquay_event_loop_utilization_ratio 0?\.?\d+/m,
      /^logquay_process_memory_bytes\{memory="rss"\} \d{8,}$/m,
      /^logquay_process_cpu_seconds_total\{mode="user"\} 0*[\d.]+$/m,
      /^logquay_process_open_fds \d+$/m,
      /^logquay_gc_seconds_total\{gc="minor"\} /m,
      /^logquay_log_lines_dropped_total 0$/m,
      /^logquay_build_info\{version="\d+\.\d+\.\d+",node="\d+\.\d+\.\d+",engine="duckdb"\} 1$/m,
    ]) {
      expect(text).toMatch(line);
    }
    expect(text).not.toMatch(/redis_breaker\{|bigquery_breaker\{/);

    expect((await fetch(`${base}/metrics`, { method: 'HEAD' })).status).toBe(200);
    expect((await fetch(`${base}/`)).status).toBe(404);
    expect((await fetch(`${base}/health`)).status).toBe(404);
    const refused = await fetch(`${base}/metrics`, { method: 'POST' });
    expect([refused.status, refused.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
    expect(await refused.json()).toMatchObject({ error: { errors: [{ reason: 'methodNotAllowed' }] } });

    service.signal('SIGTERM');
    await service.logged(/draining/);
    expect((await fetch(`${base}/metrics`)).status).toBe(200);
    expect(await service.exit).toBe(0);
    // Scrapes are no lines of the log, apart from those that fail.
    expect(service.err).not.toMatch(/"route":"\/metrics"/);
  });

  it('that is taken stops the start, and so does PORT itself', async () => {
    const same = stage.start({ API_KEY, PORT: '4321', METRICS_PORT: '4321' });
    expect(await same.exit).toBe(1);
    expect(same.err).toContain('METRICS_PORT: allowed is another port than PORT');
    const other = createServer().listen(0);
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    const taken = stage.start({ API_KEY, METRICS_PORT: String(port) });
    expect(await taken.exit).toBe(1);
    expect(taken.err).toContain('EADDRINUSE');
    other.close();
  });
});

describe('the log', () => {
  it('holds up no request while nobody reads it, and has every line when somebody does', async () => {
    const child = spawn(process.execPath, [path.join(ROOT, 'dist/cli.js'), 'serve'], {
      cwd: stage.folder(),
      env: {
        PATH: process.env.PATH ?? '',
        PORT: '0',
        DRAIN_DELAY: '0',
        API_KEY,
        DATA_DIR: path.join(ROOT, 'test/fixture'),
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const exit = new Promise((resolve) => child.on('close', resolve));
    let out = '';
    let err = '';
    child.stdout.on('data', (data) => (out += String(data)));
    const read = (data: Buffer): void => void (err += String(data));
    child.stderr.on('data', read);
    while (!out.includes('curl')) await sleep(20);
    const [, port = ''] = /"port":(\d+)/.exec(err) ?? [];
    child.stderr.off('data', read);
    child.stderr.pause();
    const REQUESTS = 1500;
    for (let i = 0; i < REQUESTS; i += 10) {
      const answers = Array.from({ length: 10 }, (_, j) =>
        fetch(`http://127.0.0.1:${port}/health`, {
          headers: { 'X-Request-Id': `request-${String(i + j)}-${'x'.repeat(100)}` },
          signal: AbortSignal.timeout(10_000),
        }).then(({ status }) => status),
      );
      expect(await Promise.all(answers)).toEqual(Array(10).fill(200));
    }
    child.stderr.on('data', read);
    child.stderr.resume();
    child.kill('SIGTERM');
    expect(await exit).toBe(0);
    const ids = [...err.matchAll(/"id":"request-(\d+)-x+"/g)].map(([, number]) => Number(number));
    expect(new Set(ids).size).toBe(REQUESTS);
    expect(err).toContain('draining');
    for (const line of err.trim().split('\n')) expect(() => JSON.parse(line) as unknown).not.toThrow();
  });

  it('has its last words when an error that nobody caught ends the process', async () => {
    const script = `
      require(${JSON.stringify(path.join(ROOT, 'test/typescript.js'))});
      const { openLog } = require(${JSON.stringify(path.join(ROOT, 'src/log.ts'))});
      const log = openLog('info', process.stderr);
      for (let i = 0; i < 2000; i++) log.info({ i }, 'line');
      log.fatal('the last');
      process.exit(1);
    `;
    const child = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'ignore', 'pipe'] });
    let err = '';
    child.stderr.on('data', (data) => (err += String(data)));
    expect(await new Promise((resolve) => child.on('close', resolve))).toBe(1);
    const lines = err.trim().split('\n');
    expect([lines.length, JSON.parse(lines.at(-1) ?? '')]).toEqual([
      2001,
      expect.objectContaining({ msg: 'the last' }),
    ]);
  });
});

describeWithRedis('two processes with one Redis', () => {
  let redis: RedisServer;
  let services: Started[];

  beforeAll(async () => {
    redis = await startRedis();
    const folder = stage.folder();
    const hash = createHash('sha256').update('limited').digest('hex');
    // 21 requests in 10 seconds: long enough for slow machines.
    const keys = [{ name: 'limited', hash, rateLimit: 2.1 }];
    writeFileSync(path.join(folder, 'keys.json'), JSON.stringify({ keys }));
    const environment = { KEYS_FILE: 'keys.json', REDIS_URL: redis.url, REDIS_TIMEOUT: '1', METRICS_PORT: '0' };
    services = [stage.start(environment, folder), stage.start(environment, folder)];
    await Promise.all(services.map((service) => service.ready()));
  });
  afterAll(() => redis.stop());

  it('keep the limit of a key together, about, and each for itself when Redis is gone', async () => {
    const bases = await Promise.all(services.map((service) => service.base()));
    const ask = async (i: number): Promise<Response> =>
      fetch(`${bases[i % 2] ?? ''}/api/endpoints/query/usage.api-counts?project=x&interval=daily`, {
        headers: { 'X-API-KEY': 'limited' },
      });
    let admitted = 0;
    for (let i = 0; i < 40; i++) {
      const { status, headers } = await ask(i);
      expect([200, 429]).toContain(status);
      if (status === 200) admitted++;
      else expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
      expect(headers.get('ratelimit-policy')).toBe('"key";q=21;w=10');
    }
    expect(admitted).toBeGreaterThanOrEqual(21);
    expect(admitted).toBeLessThanOrEqual(25);

    const [, port = ''] = (await services[0]?.logged(/"metricsPort":(\d+)/)) ?? [];
    const scrape = async (): Promise<string> => (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    expect(await scrape()).toMatch(/^logquay_redis_breaker\{state="closed"\} 1$/m);
    await redis.kill();
    let text = '';
    for (let i = 0; i < 100 && !text.includes('logquay_redis_breaker{state="closed"} 0'); i++) {
      await sleep(50);
      text = await scrape();
    }
    expect(text).toMatch(/^logquay_redis_breaker\{state="(open|half-open)"\} 1$/m);
    expect((await ask(0)).status).toBe(429);
  });
});
