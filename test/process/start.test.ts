import { execFile } from 'node:child_process';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

import { Stage, type Started } from './started';

jest.setTimeout(180_000);

let stage: Stage;
beforeEach(() => {
  stage = new Stage();
});
afterEach(() => stage.end());

interface Result {
  readonly result: readonly Record<string, unknown>[];
}

/** Without DATA_DIR one week of sample logs is generated. */
const SAMPLES = { DATA_DIR: '' };

describe('a first start', () => {
  const own = new Stage();
  let service: Started;
  let health: Response;
  let ready: Response;
  beforeAll(async () => {
    service = own.start(SAMPLES);
    const base = await service.base();
    [health, ready] = await Promise.all([fetch(`${base}/health`), fetch(`${base}/ready`)]);
    await service.ready();
  });
  afterAll(() => own.end());

  it('answers health at once, and 503 for the rest until it is ready', async () => {
    expect([health.status, ready.status]).toEqual([200, 503]);
    expect(await ready.json()).toMatchObject({ status: 'starting' });
    expect((await fetch(`${await service.base()}/ready`)).status).toBe(200);
  });

  it('makes a key, and prints a curl line that works as pasted', async () => {
    const line = /^ *(curl .*)$/m.exec(service.out)?.[1] ?? '';
    const key = readFileSync(path.join(service.folder, '.data/key'), 'utf8').trim();
    expect(service.out + service.err).not.toContain(key);
    expect(statSync(path.join(service.folder, '.data/key')).mode & 0o777).toBe(0o600);
    const { stdout } = await promisify(execFile)('sh', ['-c', `${line} -s`], { cwd: service.folder });
    const { result } = JSON.parse(stdout) as Result;
    expect(result.length).toBeGreaterThan(0);
    expect(Object.keys(result[0] ?? {})).toEqual(['id', 'timestamp', 'event_message', 'metadata']);
  });

  it('keeps to the key that it made', async () => {
    const first = stage.start();
    await first.ready();
    const key = readFileSync(path.join(first.folder, '.data/key'), 'utf8');
    first.signal('SIGTERM');
    expect(await first.exit).toBe(0);
    const second = stage.start({}, first.folder);
    const base = await second.ready();
    expect(readFileSync(path.join(first.folder, '.data/key'), 'utf8')).toBe(key);
    expect((await fetch(`${base}/api/endpoints`, { headers: { 'X-API-KEY': key.trim() } })).status).toBe(200);
  });
});

describe('a failed start', () => {
  it.each([
    ['a bad setting', { PORT: 'http' }, /PORT: allowed is a port number/],
    ['a data folder that is not there', { DATA_DIR: 'nowhere' }, /nowhere/],
    ['a keys file that is not there', { KEYS_FILE: 'nowhere.json' }, /nowhere\.json/],
    ['a queries folder that is not there', { QUERIES_DIR: 'nowhere' }, /nowhere/],
    ['BigQuery without a project', { ENGINE: 'bigquery' }, /BIGQUERY_PROJECT_ID/],
    ['an address that is not here', { HOST: '203.0.113.1' }, /203\.0\.113\.1/],
  ])('with %s ends with 1 and says why', async (_what, environment, message) => {
    const service = stage.start(environment);
    expect(await service.exit).toBe(1);
    expect(service.err).toMatch(message);
    expect(service.err).not.toMatch(/\n +at /);
  });

  it('with a faulty stored query names file, line and reason', async () => {
    const folder = stage.folder();
    writeFileSync(path.join(folder, 'queries/broken.sql'), '/*\nid: nope\nname: broken\n*/\nSELECT FROM\n');
    const service = stage.start({}, folder);
    expect(await service.exit).toBe(1);
    expect(service.err).toMatch(/queries\/broken\.sql:2:1: /);
  });

  it('on a port in use says so', async () => {
    const server = net.createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const { port } = server.address() as net.AddressInfo;
    const service = stage.start({ PORT: String(port) });
    expect(await service.exit).toBe(1);
    expect(service.err).toMatch(new RegExp(`EADDRINUSE.*${String(port)}`));
    server.close();
  });
});

describe('on BigQuery', () => {
  // Nobody listens on port 1.
  const away = { BIGQUERY_PROJECT_ID: 'test', BIGQUERY_DATASET: 'logs', BIGQUERY_EMULATOR_HOST: '127.0.0.1:1' };

  it('starts while BigQuery is away, and says so', async () => {
    const service = stage.start({ ...away, API_KEY: 'k', HOST: '127.0.0.1' });
    const base = await service.ready();
    const ready = await fetch(`${base}/ready`);
    expect(ready.status).toBe(503);
    expect(await ready.json()).toMatchObject({ status: 'engine-unavailable' });
    const run = await fetch(`${base}/api/endpoints/query/logs.all?project=default`, { headers: { 'X-API-KEY': 'k' } });
    expect(run.status).toBe(503);
    expect(run.headers.get('retry-after')).toMatch(/^\d+$/);
  });

  it('makes no key', async () => {
    const service = stage.start(away);
    expect(await service.exit).toBe(1);
    expect(service.err).toMatch(/API_KEY/);
  });
});

describe('a service with a file of settings', () => {
  const own = new Stage();
  const headers = { 'X-API-KEY': 'from-file' };
  let service: Started;
  let base: string;
  beforeAll(async () => {
    const folder = own.folder();
    writeFileSync(path.join(folder, '.env'), 'API_KEY=from-file\nLOG_LEVEL=info\nQUERIES_DIR=nowhere\n');
    service = own.start({ QUERIES_DIR: 'queries' }, folder);
    base = await service.ready();
  });
  afterAll(() => own.end());

  it('reads .env, which the environment overrides', async () => {
    expect((await fetch(`${base}/api/endpoints`, { headers })).status).toBe(200);
    expect(service.out).toContain('$API_KEY');
    expect(service.out + service.err).not.toContain('from-file');
  });

  it('takes up a new stored query while it runs', async () => {
    expect((await fetch(`${base}/api/endpoints/query/new.one`, { headers })).status).toBe(404);
    const head = '/*\nid: 5f0c2d9e-0b51-4f4d-9d57-7e9f2a1c0001\nname: new.one\n*/\n';
    writeFileSync(path.join(service.folder, 'queries/new.one.sql'), `${head}SELECT 1 AS one\n`);
    let status = 404;
    for (let i = 0; i < 100 && status === 404; i++) {
      await sleep(100);
      status = (await fetch(`${base}/api/endpoints/query/new.one`, { headers })).status;
    }
    expect(status).toBe(200);
  });
});

describe('SIGTERM', () => {
  it('turns /ready to 503, keeps the listener open for DRAIN_DELAY, and ends with 0', async () => {
    const service = stage.start({ DRAIN_DELAY: '1', API_KEY: 'k' });
    const base = await service.ready();
    const start = performance.now();
    service.signal('SIGTERM');
    await service.logged(/draining/);
    const ready = await fetch(`${base}/ready`);
    expect(ready.status).toBe(503);
    expect(await ready.json()).toMatchObject({ status: 'draining' });
    const run = await fetch(`${base}/api/endpoints/query/logs.all?project=default`, { headers: { 'X-API-KEY': 'k' } });
    expect(run.status).toBe(200);
    expect(await service.exit).toBe(0);
    expect(performance.now() - start).toBeGreaterThan(1000);
    await expect(fetch(`${base}/health`)).rejects.toThrow();
  });

  it('ends a process that is still starting', async () => {
    const service = stage.start();
    await service.base();
    service.signal('SIGTERM');
    expect(await service.exit).toBe(0);
  });

  it('twice ends it at once', async () => {
    const service = stage.start({ DRAIN_DELAY: '60' });
    await service.ready();
    service.signal('SIGTERM');
    await service.logged(/draining/);
    service.signal('SIGINT');
    expect(await service.exit).toBe(1);
  });

  it('does not wait for a connection that is kept open', async () => {
    // Longer than the test may take: it would wait for it.
    const service = stage.start({ QUERY_TIMEOUT: '600' });
    const base = new URL(await service.ready());
    const socket = net.connect(Number(base.port), '127.0.0.1');
    socket.on('error', () => undefined);
    socket.write('GET /health HTTP/1.1\r\nHost: x\r\n\r\n');
    await new Promise((resolve) => socket.once('data', resolve));
    service.signal('SIGINT');
    expect(await service.exit).toBe(0);
  });
});
