/** Requests per second over several processes and one real Redis. The clock of the processes is moved by the tests. */
import { setTimeout as sleep } from 'node:timers/promises';

import type { RedisClient } from '../../src/redis/client';
import type { RedisConnection } from '../../src/redis/connection';
import { RateLimits } from '../../src/limits/rate-limits';
import { RedisRateSync } from '../../src/limits/redis-rate-sync';
import { ManualClock } from '../manual-clock';
import { describeWithRedis, type RedisServer, startRedis } from '../redis-server';
import { until } from '../until';
import { connectTo } from './redis';

/** 60 a minute and one more: a window of a minute by Redis's clock as well, longer than any of these tests takes. */
const QUOTA = 61;
const RATE = QUOTA / 60;
const WINDOW = 60_000;

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

  async function processes(count: number, perKey: number): Promise<Processes> {
    return new Processes(await Promise.all(Array.from({ length: count }, () => connected(redis.url))), perKey);
  }

  it('keep one limit together, about', async () => {
    const all = await processes(3, RATE);
    let admitted = 0;
    for (let i = 0; i < 60; i++) {
      admitted += all.burst('shared', 1);
      await all.synchronised();
    }
    // Each may be a twentieth off.
    expect(admitted).toBeGreaterThanOrEqual(QUOTA);
    expect(admitted).toBeLessThanOrEqual(QUOTA + 3 * Math.ceil(QUOTA / 20));
  });

  it('keep it from the first moment of a window once it is exceeded, when all requests come at once', async () => {
    const all = await processes(3, RATE);
    // Nobody knows better in the first: each lets its own quota through.
    expect(all.burst('bursts', 100)).toBe(3 * QUOTA);
    for (let i = 0; i < 3; i++) {
      await all.synchronised();
      await all.nextWindow('bursts');
      expect(all.burst('bursts', 100)).toBe(3 * Math.floor(QUOTA / 3));
    }
  });

  it('are not held to what is long over', async () => {
    const [one, other] = [await processes(1, RATE), await processes(1, RATE)];
    expect(one.burst('alone', QUOTA)).toBe(QUOTA);
    await one.synchronised();
    await one.nextWindow('alone');
    expect(other.burst('alone', QUOTA)).toBe(QUOTA);
    await other.synchronised();
  });

  it('begin a new count where the clock of Redis was set back by an hour', async () => {
    const all = await processes(2, RATE);
    all.burst('set back', 100);
    await all.synchronised();
    await all.inRedis((client) => client.pexpire('test:rate:key:set back', 3_600_000 + WINDOW));
    await all.advance(WINDOW);
    for (let i = 0; i < 3; i++) {
      expect(all.burst('set back', 100)).toBe(2 * Math.floor(QUOTA / 2));
      await all.synchronised();
      expect(await all.inRedis((client) => client.pttl('test:rate:key:set back'))).toBeLessThanOrEqual(WINDOW);
      await all.nextWindow('set back');
    }
  });

  it('let requests through while the clock of Redis does not move, and not without limit', async () => {
    const all = await processes(2, RATE);
    all.burst('frozen', 100);
    await all.synchronised();
    for (let i = 0; i < 5; i++) {
      // The count in Redis goes on: its window takes as long as before.
      await all.advance(WINDOW);
      const admitted = all.burst('frozen', 100);
      expect(admitted).toBeGreaterThanOrEqual(1);
      expect(admitted).toBeLessThanOrEqual(2 * QUOTA);
      await all.synchronised();
    }
  });

  it('leave low rates to themselves: most requests send nothing', async () => {
    const all = await processes(1, 1000);
    all.burst('quiet', 49);
    await all.synchronised();
    expect(await all.inRedis((client) => client.exists('test:rate:key:quiet'))).toBe(0);
    await all.inRedis((client) => client.set('test:rate:key:quiet', 7, 'EX', 1000));
    all.burst('quiet', 1);
    await all.synchronised();
    expect(await all.inRedis((client) => client.get('test:rate:key:quiet'))).toBe('50');
    expect(await all.inRedis((client) => client.pttl('test:rate:key:quiet'))).toBeLessThanOrEqual(1000);
  });

  it('count each for itself while Redis fails, and together again afterwards', async () => {
    const own = await startRedis();
    const opened = [await connected(own.url), await connected(own.url)];
    const all = new Processes(opened, RATE);
    await own.kill();
    expect(all.burst('k', 100)).toBe(2 * QUOTA);
    const again = await startRedis([], { port: own.port });
    try {
      await until(() => opened.every(({ state }) => state === 'closed'));
      await all.synchronised();
      await all.advance(WINDOW);
      let admitted = 0;
      for (let i = 0; i < QUOTA; i++) {
        admitted += all.burst('k', 1);
        await all.synchronised();
      }
      expect(admitted).toBeGreaterThanOrEqual(QUOTA);
      expect(admitted).toBeLessThanOrEqual(QUOTA + 2 * Math.ceil(QUOTA / 20));
    } finally {
      await again.stop();
    }
  });
});

/** Processes with one clock, each with its connection. */
class Processes {
  readonly #clock = new ManualClock();
  readonly #limits: readonly RateLimits[];
  #inFlight = 0;

  constructor(
    private readonly connections: readonly RedisConnection[],
    perKey: number,
  ) {
    this.#limits = connections.map((connection) => {
      const sync = new RedisRateSync(
        { prefix: connection.prefix, run: (work) => this.#run(connection, work) },
        this.#clock,
      );
      return new RateLimits({ perKey, perEndpoint: 0, sync });
    });
  }

  /** Requests let through, of `each` that come to each process in the same moment. */
  burst(name: string, each: number): number {
    let admitted = 0;
    for (let i = 0; i < each; i++) {
      for (const limits of this.#limits)
        if (limits.countKey({ name, rateLimit: null }, this.#clock.monotonic()).refusal === null) admitted++;
    }
    return admitted;
  }

  /** Each process has sent what it has counted, and learned what the others have. */
  async synchronised(): Promise<void> {
    for (let i = 0; i < 2; i++) {
      await this.#answered();
      await this.advance(50);
    }
    await this.#answered();
  }

  /** The window ends, for the processes and in Redis. */
  async nextWindow(name: string): Promise<void> {
    await this.inRedis((client) => client.del(`test:rate:key:${name}`));
    await this.advance(WINDOW);
  }

  advance(milliseconds: number): Promise<void> {
    return this.#clock.advance(milliseconds);
  }

  inRedis<T>(work: (client: RedisClient) => Promise<T>): Promise<T> {
    const [connection] = this.connections;
    if (connection === undefined) throw new Error('One was opened.');
    return connection.run(work);
  }

  async #answered(): Promise<void> {
    while (this.#inFlight > 0) await sleep(1);
  }

  async #run<T>(connection: RedisConnection, work: (client: RedisClient) => Promise<T>): Promise<T> {
    this.#inFlight++;
    try {
      return await connection.run(work);
    } finally {
      this.#inFlight--;
    }
  }
}
