/** What limits and budgets send works on a Cluster too: each command has its keys in one slot. */
import { setTimeout as sleep } from 'node:timers/promises';

import { Redis } from 'ioredis';

import type { RedisConnection } from '../../src/redis/connection';
import { Budgets, RedisSpending } from '../../src/limits/budget';
import { RateLimits } from '../../src/limits/rate-limits';
import { describeWithRedis, type RedisServer, startRedis } from '../redis-server';
import { connectTo } from './redis';

describeWithRedis('on a Redis Cluster', () => {
  let redis: RedisServer;
  let connections: RedisConnection[];

  beforeAll(async () => {
    redis = await startRedis(['--cluster-enabled', 'yes', '--cluster-announce-ip', '127.0.0.1']);
    const direct = new Redis(redis.port);
    await direct.call('CLUSTER', 'ADDSLOTSRANGE', 0, 16383);
    while (!String(await direct.call('CLUSTER', 'INFO')).includes('cluster_state:ok')) await sleep(50);
    direct.disconnect();
    connections = [1, 2].map(() => connectTo(`redis+cluster://127.0.0.1:${String(redis.port)}`, 1000));
    await Promise.all(connections.map(({ tried }) => tried));
    expect(connections.map(({ state }) => state)).toEqual(['closed', 'closed']);
  }, 40_000);
  afterAll(async () => {
    for (const connection of connections) connection.close();
    await redis.stop();
  });

  it('processes keep one limit', async () => {
    const limits = connections.map((connection) => new RateLimits(0, connection));
    let admitted = 0;
    // 21 in 10 seconds.
    for (let i = 0; i < 60; i++) {
      const answer = await limits[i % 2]?.count({ name: `key`, rateLimit: 2.1 });
      if (answer?.refusal === null) admitted++;
      await sleep(10);
    }
    expect(admitted).toBeGreaterThanOrEqual(21);
    expect(admitted).toBeLessThanOrEqual(25);
    expect(connections.map(({ counts }) => counts.failed + counts.refused)).toEqual([0, 0]);
  });

  it('processes keep one budget', async () => {
    const budgets = connections.map(
      (connection) => new Budgets({ perDay: 100n, shared: new RedisSpending(connection) }),
    );
    const key = { name: 'key', dailyBytes: null };
    budgets[0]?.charge('key', 99n);
    await budgets[0]?.close();
    await budgets[1]?.check(key);
    budgets[1]?.charge('key', 1n);
    await budgets[1]?.close();
    await expect(budgets[0]?.check(key)).rejects.toMatchObject({ reason: 'budgetExceeded' });
    expect(connections.map(({ counts }) => counts.failed + counts.refused)).toEqual([0, 0]);
  });
});
