/** Requests per second over several processes and one real Redis. */
import { setTimeout as sleep } from 'node:timers/promises';

import type { RedisConnection } from '../../src/redis/connection';
import { RateLimits } from '../../src/limits/rate-limits';
import { RedisRateSync } from '../../src/limits/redis-rate-sync';
import { describeWithRedis, type RedisServer, startRedis } from '../redis-server';
import { until } from '../until';
import { connectTo } from './redis';

jest.setTimeout(180_000);

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

  async function processes(count: number, perKey: number): Promise<RateLimits[]> {
    const opened = Array.from({ length: count }, () => connectTo(redis.url));
    connections.push(...opened);
    await Promise.all(opened.map(({ tried }) => tried));
    return opened.map((connection) => new RateLimits({ perKey, perEndpoint: 0, sync: new RedisRateSync(connection) }));
  }

  /** Requests let through, of `each` a process in rounds of one each, `gap` milliseconds apart. */
  async function flood(limits: readonly RateLimits[], name: string, each: number, gap: number): Promise<number> {
    let admitted = 0;
    for (let i = 0; i < each; i++) {
      for (const one of limits) {
        if (one.countKey({ name, rateLimit: null }, performance.now()).refusal === null) admitted++;
      }
      if (gap > 0) await sleep(gap);
    }
    return admitted;
  }

  it('keep one limit together, about', async () => {
    // 41 in 10 seconds: the requests of the test are of one window.
    const limits = await processes(3, 4.1);
    const admitted = await flood(limits, 'shared', 60, 4);
    expect(admitted).toBeGreaterThanOrEqual(41);
    // Each may be a twentieth off, and what was on its way.
    expect(admitted).toBeLessThan(41 * 1.4);
  });

  it('keep it from the first moment of a second once it is exceeded, when all requests come at once', async () => {
    const limits = await processes(3, 30);
    const bursts: number[] = [];
    for (let i = 0; i < 4; i++) {
      bursts.push(await flood(limits, 'bursts', 60, 0));
      await sleep(1100);
    }
    // Nobody knows better in the first: each lets its own quota through.
    expect(bursts[0]).toBe(90);
    for (const burst of bursts.slice(1)) {
      expect(burst).toBeGreaterThanOrEqual(20);
      expect(burst).toBeLessThanOrEqual(30);
    }
  });

  it('are not held to what is long over', async () => {
    const [one, other] = await processes(2, 10);
    if (one === undefined || other === undefined) throw new Error('Two were opened.');
    await flood([one], 'alone', 10, 5);
    await sleep(1100);
    expect(await flood([other], 'alone', 10, 5)).toBe(10);
  });

  it('leave low rates to themselves: most requests send nothing', async () => {
    const [one] = await processes(1, 1000);
    if (one === undefined) throw new Error('One was opened.');
    await flood([one], 'quiet', 49, 0);
    await sleep(50);
    const watcher = connectTo(redis.url);
    connections.push(watcher);
    await watcher.tried;
    expect(await watcher.run((client) => client.exists('test:rate:key:quiet'))).toBe(0);
    await flood([one], 'quiet', 1, 0);
    await until(async () => (await watcher.run((client) => client.get('test:rate:key:quiet'))) === '50');
    expect(await watcher.run((client) => client.pttl('test:rate:key:quiet'))).toBeLessThanOrEqual(1000);
  });

  it('count each for itself while Redis fails, and together again afterwards', async () => {
    const own = await startRedis();
    const opened = [connectTo(own.url, 50), connectTo(own.url, 50)];
    connections.push(...opened);
    await Promise.all(opened.map(({ tried }) => tried));
    const limits = opened.map(
      (connection) => new RateLimits({ perKey: 10, perEndpoint: 0, sync: new RedisRateSync(connection) }),
    );
    await own.kill();
    expect(await flood(limits, 'k', 20, 0)).toBe(20);
    const again = await startRedis([], { port: own.port });
    try {
      await until(() => opened.every(({ state }) => state === 'closed'));
      await sleep(1000);
      const admitted = await flood(limits, 'k', 20, 10);
      expect(admitted).toBeGreaterThanOrEqual(10);
      expect(admitted).toBeLessThanOrEqual(13);
    } finally {
      await again.stop();
    }
  });
});
