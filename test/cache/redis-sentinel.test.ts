import { writeFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { Redis } from 'ioredis';

import { ManualClock } from '../manual-clock';
import { until } from '../until';
import { describeWithRedis, freePort, type RedisServer, startRedis } from '../redis-server';
import { entryOf, newIdentity, rowsOf } from './entries';
import { type OpenedRedis, openTestRedis, Processes } from './opened';
import { testSharedStore } from './store-contract';

describeWithRedis('the store in a Redis that Sentinels watch', () => {
  const processes = new Processes();
  const folder = mkdtempSync(join(tmpdir(), 'logquay-sentinel-'));
  let master: RedisServer;
  let replica: RedisServer;
  let sentinel: RedisServer;
  let url: string;

  beforeAll(async () => {
    const password = ['--requirepass', 'pass', '--masterauth', 'pass'];
    master = await startRedis(password);
    replica = await startRedis([
      ...password,
      '--replicaof',
      `127.0.0.1 ${master.port}`,
      '--repl-diskless-sync-delay',
      '0',
    ]);
    const settings = join(folder, 'sentinel.conf');
    writeFileSync(
      settings,
      [
        `sentinel monitor main 127.0.0.1 ${master.port} 1`,
        'sentinel auth-pass main pass',
        'sentinel down-after-milliseconds main 500',
        'sentinel failover-timeout main 5000',
        'requirepass sentinel-pass',
        '',
      ].join('\n'),
    );
    sentinel = await startRedis([], { sentinel: settings });
    // The first of the Sentinels is one that is not there.
    const hosts = `127.0.0.1:${await freePort()},127.0.0.1:${sentinel.port}`;
    url = `redis+sentinel://:pass@${hosts}/main?sentinel_password=sentinel-pass`;
    await processes.open(url);
  });
  afterAll(async () => {
    await processes.close();
    await Promise.all([master, replica, sentinel].map((server) => server.stop()));
    rmSync(folder, { recursive: true, force: true });
  });

  testSharedStore((leaseTime) => processes.store(leaseTime));

  /** Resolves when the replica has all that the master has, and the Sentinel knows of it. */
  async function replicated(): Promise<void> {
    const direct = new Redis({ port: sentinel.port, password: 'sentinel-pass' });
    const copy = new Redis({ port: replica.port, password: 'pass' });
    const ready = async (): Promise<boolean> =>
      String(await direct.call('SENTINEL', 'REPLICAS', 'main')).includes(String(replica.port)) &&
      (await copy.info('replication')).includes('master_link_status:up');
    await until(ready);
    direct.disconnect();
    copy.disconnect();
  }

  /** Resolves when the replica has what has been written to the master. */
  async function copied(): Promise<void> {
    const direct = new Redis({ port: master.port, password: 'pass' });
    await direct.set('written', 'last');
    await until(async () => (await direct.wait(1, 1000)) === 1);
    direct.disconnect();
  }

  /** By a clock that moves between attempts alone: what answers has as long as it needs. */
  function openByHand(): { redis: OpenedRedis; healed: () => Promise<void> } {
    const clock = new ManualClock();
    const redis = openTestRedis(url, { timeout: 250, clock });
    const healed = (): Promise<void> =>
      until(async () => {
        if (redis.connection.state === 'open') await clock.advanceToNext();
        return redis.connection.state === 'closed';
      });
    return { redis, healed };
  }

  it('follows to the replica when the master dies, and finds there what it had kept', async () => {
    await replicated();
    const { redis, healed } = openByHand();
    await healed();
    const before = redis.logged.length;
    const identity = newIdentity();
    expect(await redis.store.write(identity, await entryOf(identity, rowsOf(2000), 5), 60_000)).toBe(true);
    const lease = await redis.store.acquire(identity);
    await copied();
    await master.kill();
    await until(() => redis.connection.state !== 'closed');
    await healed();
    expect((await redis.store.read(identity))?.fence).toBe(5);
    const later = await redis.store.acquire(newIdentity());
    expect(later?.fence).toBeGreaterThan(lease?.fence ?? Infinity);
    expect(await redis.store.write(identity, await entryOf(identity, '{}', later?.fence), 60_000)).toBe(true);
    expect(redis.logged).toHaveLength(before + 2);
    expect(redis.logged.join()).not.toMatch(/pass|127\.0\.0\.1/);
    await redis.close();
  });
});
