import { connect, type Socket } from 'node:net';

import request from 'supertest';

import { ByteShares } from '../../src/limits/byte-shares';
import { until } from '../until';

import { ScriptedEngine, serve, type Served, type ServedOptions } from './served';

const PLAIN = '/api/endpoints/query/test.plain?project=a';
/** Kept for 900 seconds. */
const CACHED = '/api/endpoints/query/test.typed?project=a';

/** Requests per second: no window ends while a test runs. */
const A_MINUTE = 1 / 59;
/** At most that of a window. */
const SECONDS = /^([1-9]|[1-5]\d|60)$/;
const left = (requests: number): RegExp => new RegExp(`^"key";r=${String(requests)};t=([1-9]|[1-5]\\d|60)$`);

let served: Served | null = null;
afterEach(() => served?.close());

async function start(options: ServedOptions = {}): Promise<Served> {
  served = await serve(options);
  return served;
}

describe('requests per second', () => {
  it('are in headers of every response of the run path, with Retry-After where refused', async () => {
    const { server } = await start({ rate: A_MINUTE * 3 });
    const get = (path: string): request.Test => request(server).get(path).set('X-API-KEY', 'all');
    await get(PLAIN).expect(200).expect('RateLimit-Policy', '"key";q=3;w=59').expect('RateLimit', left(2));
    await get('/api/endpoints/query/nowhere').expect(404).expect('RateLimit', left(1));
    await get('/api/endpoints/query/test.plain').expect(400).expect('RateLimit', left(0));
    const { body } = await get(PLAIN).expect(429).expect('Retry-After', SECONDS).expect('RateLimit', left(0));
    expect(body).toMatchObject({
      error: {
        code: 429,
        status: 'RESOURCE_EXHAUSTED',
        errors: [{ reason: 'rateLimitExceeded', message: 'This key may make 3 requests in 59 seconds.' }],
      },
    });
    // Others are other keys, and looking at the catalogue runs nothing.
    await request(server).get(PLAIN).set('X-API-KEY', 'other').expect(200);
    const { headers } = await get('/api/endpoints').expect(200);
    expect(headers).not.toHaveProperty('ratelimit');
  });

  it('count answers that are kept, 304, HEAD and POST, and no request without a key', async () => {
    const engine = new ScriptedEngine();
    const { server } = await start({ engine, rate: A_MINUTE * 5 });
    const all = { 'X-API-KEY': 'all' };
    await request(server).get(CACHED).expect(401);
    await request(server).get(CACHED).set('X-API-KEY', 'wrong').expect(401);
    const { headers } = await request(server).get(CACHED).set(all).expect(200);
    await request(server).get(CACHED).set(all).expect('Cache-Status', /hit/).expect('RateLimit', left(3));
    await request(server)
      .get(CACHED)
      .set({ ...all, 'If-None-Match': String((headers as Record<string, string>).etag) })
      .expect(304)
      .expect('RateLimit', left(2));
    await request(server).head(CACHED).set(all).expect(200).expect('RateLimit', left(1));
    await request(server).post(CACHED).set(all).expect(200).expect('RateLimit', left(0));
    await request(server).head(CACHED).set(all).expect(429).expect('Retry-After', SECONDS);
    expect(engine.queries).toHaveLength(1);
  });

  it('are the key’s own where it says so', async () => {
    const { server } = await start({ rate: 100 });
    const get = (): request.Test => request(server).get(PLAIN).set('X-API-KEY', 'slow');
    await get().expect(200).expect('RateLimit-Policy', '"key";q=2;w=59');
    await get().expect(200);
    await get().expect(429);
  });
});

describe('the daily budget of bytes billed', () => {
  async function billing(options: ServedOptions = {}): Promise<{ engine: ScriptedEngine; get: typeof get }> {
    const engine = new ScriptedEngine('bigquery');
    engine.bytes = { processed: 60n, billed: 60n };
    const { server } = await start({ engine, ...options });
    const get = (path: string, key = 'poor'): request.Test =>
      request(server).get(path).set({ 'X-API-KEY': key, 'Accept-Encoding': 'identity' });
    return { engine, get };
  }

  it('refuses before anything runs, and charges what was billed', async () => {
    const { engine, get } = await billing();
    await get(PLAIN).expect(200).expect('X-Query-Bytes-Billed', '60');
    await get(PLAIN).expect(200);
    const { body, headers } = await get(PLAIN).expect(429);
    expect(body).toMatchObject({
      error: {
        code: 429,
        errors: [
          {
            reason: 'budgetExceeded',
            message: expect.stringMatching(
              /^The budget of this key is spent: of 100 bytes a day, 0 are left\. It resets at \d{4}-\d\d-\d\dT00:00:00Z, in \d+ h \d+ min\.$/,
            ) as string,
          },
        ],
      },
    });
    const seconds = Number((headers as Record<string, string>)['retry-after']);
    expect(Math.abs(seconds - (86_400 - ((Date.now() / 1000) % 86_400)))).toBeLessThan(3);
    expect(engine.queries).toHaveLength(2);
    await get(PLAIN, 'all').expect(200);
  });

  it('means nothing on an engine that bills nothing', async () => {
    const engine = new ScriptedEngine('duckdb');
    const { server } = await start({ engine, dailyBytes: 1n });
    for (let i = 0; i < 3; i++) await request(server).get(PLAIN).set('X-API-KEY', 'all').expect(200);
  });
});

describe('answers that clients do not read', () => {
  const MIB = 1024 * 1024;
  /** More than the system takes for a connection. */
  const LONG = 16 * MIB;
  const sockets: Socket[] = [];
  afterEach(() => {
    for (const socket of sockets.splice(0)) socket.destroy();
  });

  /** Two such answers of a key, three of all. */
  async function small(): Promise<{
    readonly shares: ByteShares;
    readonly engine: ScriptedEngine;
    readonly served: Served;
  }> {
    const engine = new ScriptedEngine();
    engine.rows = [JSON.stringify({ id: 'x'.repeat(LONG) })];
    const shares = new ByteShares({ perKey: 2.5 * LONG, all: 3.5 * LONG });
    return { shares, engine, served: await start({ engine, shares: { unread: shares } }) };
  }

  /** Sends requests on one connection and reads nothing. */
  function deaf(port: number, ...heads: readonly string[]): Socket {
    const socket = connect(port, '127.0.0.1').on('error', () => undefined);
    sockets.push(socket.pause());
    socket.write(heads.map((head) => `${head}\r\nHost: a\r\n\r\n`).join(''));
    return socket;
  }
  const head = (key: string, project: string): string =>
    `GET /api/endpoints/query/test.plain?project=${project} HTTP/1.1\r\nX-API-KEY: ${key}`;

  it('are refused beyond the share of a key, and cost others nothing', async () => {
    const { shares, served: target } = await small();
    const { port, server } = target;
    deaf(port, head('all', 'a'));
    deaf(port, head('all', 'b'));
    await until(() => shares.bytes > 2 * LONG);
    const ask = (key: string, path = PLAIN): request.Test =>
      request(server).get(path).set({ 'X-API-KEY': key, 'Accept-Encoding': 'identity' });
    const { body } = await ask('all').expect(429).expect('Retry-After', '5');
    expect(body).toMatchObject({ error: { errors: [{ reason: 'tooManyConcurrentQueries' }] } });
    await ask('all', '/api/endpoints').expect(200);
    await ask('other').expect(200);
    // All is full: the key that has most gives way.
    deaf(port, head('other', 'c'));
    await until(() => shares.bytes > 3 * LONG);
    await ask('listed').expect(200);
    await until(() => target.logged.some((line) => line.includes('"status":429,') && line.includes('"key":"all"')));
    for (const socket of sockets) socket.destroy();
    await until(() => shares.bytes === 0);
  });

  it('count on one connection too, where its requests wait for each other, and are forgotten with it', async () => {
    const { shares, engine, served: target } = await small();
    const socket = deaf(target.port, ...Array.from({ length: 6 }, (_, i) => head('all', `p${String(i)}`)));
    await until(() => engine.queries.length === 6 && shares.bytes > 2 * LONG);
    expect(shares.bytes).toBeLessThan(3 * LONG);
    socket.destroy();
    await until(() => shares.bytes === 0);
    // Those that waited, too, have their lines.
    await until(() => target.logged.filter((line) => line.includes('"msg":"request"')).length === 6);
  });
});
