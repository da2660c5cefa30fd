import type { Redis } from 'ioredis';

import { RateLimits } from '../../src/limits/rate-limits';
import type { RedisConnection } from '../../src/redis/connection';
import { describeWithRedis, type RedisServer, startRedis } from '../redis-server';
import { until } from '../until';
import { connectTo } from './redis';

const key = (name: string, rateLimit: number | null = null): { name: string; rateLimit: number | null } => ({
  name,
  rateLimit,
});

/** How many of so many requests that come at once are let through. */
async function burst(limits: RateLimits, name: string, requests: number, rate: number | null = null): Promise<number> {
  const answers = await Promise.all(Array.from({ length: requests }, () => limits.count(key(name, rate))));
  return answers.filter(({ refusal }) => refusal === null).length;
}

describe('a process', () => {
  it('counts by key, by its own limit or the default', async () => {
    const limits = new RateLimits(20 / 59, null);
    for (const name of ['a', 'b']) expect(await burst(limits, name, 50)).toBe(20);
    expect(await burst(limits, 'c', 50, 3 / 59)).toBe(3);
  });

  it('counts all tokens of a user together, whatever rate each says', async () => {
    const limits = new RateLimits(10 / 59, null);
    const token = (rateLimit: number, most: number | null) => ({
      ...key('app/u', rateLimit),
      issuer: { rateLimit: most },
    });
    const passed = async (...tokens: ReturnType<typeof token>[]): Promise<number> => {
      const answers = await Promise.all(tokens.map((one) => limits.count(one)));
      return answers.filter(({ refusal }) => refusal === null).length;
    };
    // Wider than its entry, or than the default where that says nothing, is no token.
    expect(limits.perSecond(token(1e9, null))).toBe(10 / 59);
    expect(limits.perSecond(token(2, 5))).toBe(2);
    expect(await passed(...Array.from({ length: 5 }, () => token(3 / 59, null)))).toBe(3);
    expect(await passed(...Array.from({ length: 5_000 }, (_, i) => token(9 / 59 + i * 1e-7, null)))).toBe(5);
  });

  it('lets a quota through, and no request more', async () => {
    for (const quota of [1, 2, 58, 117]) {
      const limits = new RateLimits(quota / 59, null);
      expect(await burst(limits, 'k', quota)).toBe(quota);
      expect(await burst(limits, 'k', 3)).toBe(0);
    }
  });

  it('says the policy, what is left of it, and when to come back', async () => {
    const limits = new RateLimits(0, null);
    expect(await limits.count(key('slow', 0.1))).toEqual({
      headers: ['RateLimit-Policy', '"key";q=1;w=10', 'RateLimit', '"key";r=0;t=10'],
      refusal: null,
    });
    const { headers, refusal } = await limits.count(key('slow', 0.1));
    expect(headers[3]).toMatch(/^"key";r=0;t=([1-9]|10)$/);
    expect(refusal).toMatchObject({
      reason: 'rateLimitExceeded',
      message: 'This key may make 1 request in 10 seconds.',
    });
    expect(refusal?.details.retryAfter).toBeLessThanOrEqual(10);
  });

  it.each([
    [2, 'q=2;w=1'],
    [0.5, 'q=1;w=2'],
    [2.1, 'q=21;w=10'],
    [1 / 3, 'q=1;w=3'],
    [0.001, 'q=1;w=1000'],
    [1e-9, 'q=1;w=86400'],
  ])('%d a second is %s', async (rate, policy) => {
    expect((await new RateLimits(rate, null).count(key('a'))).headers[1]).toBe(`"key";${policy}`);
  });

  it('says nothing where there is no limit', async () => {
    expect(await new RateLimits(0, null).count(key('a'))).toEqual({ headers: [], refusal: null });
    expect(await new RateLimits(1, null).count(key('a', 0))).toEqual({ headers: [], refusal: null });
  });

  it('takes up a changed limit at once', async () => {
    const limits = new RateLimits(0, null);
    expect(await burst(limits, 'a', 2, 1 / 59)).toBe(1);
    expect(await burst(limits, 'a', 2, 5 / 59)).toBe(2);
  });

  it('begins again when the window is over', async () => {
    const limits = new RateLimits(1, null);
    expect(await burst(limits, 'a', 5)).toBe(1);
    await until(async () => (await burst(limits, 'a', 1)) === 1);
  });
});

/** 61 a minute: a window longer than any of these tests takes. */
const QUOTA = 61;
const RATE = QUOTA / 60;

describeWithRedis('processes that share a Redis', () => {
  let redis: RedisServer;
  const connections: RedisConnection[] = [];

  beforeAll(async () => {
    redis = await startRedis();
  });
  afterEach(() => {
    for (const connection of connections.splice(0)) connection.close();
  });
  afterAll(() => redis.stop());

  async function connected(url: string, timeout = 5000): Promise<RedisConnection> {
    const connection = connectTo(url, timeout);
    connections.push(connection);
    await connection.tried;
    return connection;
  }

  const inRedis = <T>(work: (client: Redis) => Promise<T>): Promise<T> =>
    connections[0]!.run((client) => work(client as Redis));

  it('keep one limit together', async () => {
    const all = await Promise.all([1, 2, 3].map(async () => new RateLimits(RATE, await connected(redis.url))));
    let admitted = 0;
    for (let i = 0; i < 3 * QUOTA; i++) {
      admitted += await burst(all[i % 3]!, 'shared', 1);
      // Redis has added it up, and the next process will have heard of it.
      await until(async () => (await inRedis((client) => client.get('test:rate:shared'))) === String(i + 1));
    }
    // A process hears of the others with its own next request.
    expect(admitted).toBeGreaterThanOrEqual(QUOTA);
    expect(admitted).toBeLessThanOrEqual(QUOTA + 6);
  });

  it('are within one quota each where all requests come at once', async () => {
    const all = await Promise.all([1, 2].map(async () => new RateLimits(RATE, await connected(redis.url))));
    const admitted = await Promise.all(all.map((one) => burst(one, 'at once', 100)));
    expect(admitted).toEqual([QUOTA, QUOTA]);
    await until(async () => (await inRedis((client) => client.get('test:rate:at once'))) === '200');
    expect(await Promise.all(all.map((one) => burst(one, 'at once', 100)))).toEqual([0, 0]);
  });

  it('begin a new count where the clock of Redis was set back by an hour', async () => {
    const limits = new RateLimits(RATE, await connected(redis.url));
    await inRedis((client) => client.set('test:rate:set back', 500, 'PX', 3_660_000));
    await burst(limits, 'set back', 1);
    await until(async () => (await inRedis((client) => client.exists('test:rate:set back'))) === 0);
    expect(await burst(limits, 'set back', 1)).toBe(1);
    await until(async () => (await inRedis((client) => client.exists('test:rate:set back'))) === 1);
    expect(await inRedis((client) => client.pttl('test:rate:set back'))).toBeLessThanOrEqual(60_000);
  });

  it('wait for no answer of Redis, and count each for itself while it fails', async () => {
    const own = await startRedis();
    // A command would be waited for longer than this test may take.
    const all = await Promise.all([1, 2].map(async () => new RateLimits(RATE, await connected(own.url, 600_000))));
    own.freeze();
    expect(await Promise.all(all.map((one) => burst(one, 'k', 100)))).toEqual([QUOTA, QUOTA]);
    await own.kill();
    expect(await Promise.all(all.map((one) => burst(one, 'other', 100)))).toEqual([QUOTA, QUOTA]);
  });
});
