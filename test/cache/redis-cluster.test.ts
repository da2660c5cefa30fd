import { setTimeout as sleep } from 'node:timers/promises';

import { Redis } from 'ioredis';

import { RedisUnavailable } from '../../src/redis/unavailable';
import { describeWithRedis, type RedisServer, startRedis } from '../redis-server';
import { entryOf, newIdentity, rowsOf } from './entries';
import { type OpenedRedis, openTestRedis, Processes } from './opened';
import { testSharedStore } from './store-contract';

/** Longer than the default: a machine that is busy with other tests may leave Redis without a turn for as long. */
const TIMEOUT = 250;
const SLACK = 200;

/** Masters, each with a third of the slots. */
async function startCluster(): Promise<RedisServer[]> {
  const settings = [
    '--cluster-enabled',
    'yes',
    '--cluster-node-timeout',
    '60000',
    '--cluster-require-full-coverage',
    'no',
  ];
  const servers = await Promise.all([0, 1, 2].map(() => startRedis(settings)));
  const directs = servers.map(({ port }) => new Redis(port));
  for (const [i, direct] of directs.entries()) {
    const [from, to] = [Math.ceil((16384 / 3) * i), Math.ceil((16384 / 3) * (i + 1)) - 1];
    await direct.call('CLUSTER', 'ADDSLOTSRANGE', from, to);
    await direct.call('CLUSTER', 'SET-CONFIG-EPOCH', i + 1);
  }
  for (const { port } of servers.slice(1)) await directs[0]?.call('CLUSTER', 'MEET', '127.0.0.1', port);
  for (const direct of directs) {
    const ready = async (): Promise<boolean> =>
      /cluster_state:ok[^]*cluster_slots_ok:16384/.test(String(await direct.call('CLUSTER', 'INFO')));
    while (!(await ready())) await sleep(50);
    direct.disconnect();
  }
  return servers;
}

describeWithRedis('the store in a Redis Cluster', () => {
  const processes = new Processes();
  let servers: RedisServer[];
  let url: string;

  beforeAll(async () => {
    servers = await startCluster();
    url = `redis+cluster://${servers.map(({ port }) => `127.0.0.1:${port}`).join(',')}`;
    await processes.open(url);
  }, 40_000);
  afterAll(async () => {
    await processes.close();
    await Promise.all(servers.map((server) => server.stop()));
  });

  testSharedStore(() => processes.next().store);

  it('spreads identities over the nodes', async () => {
    const identities = Array.from({ length: 30 }, () => newIdentity());
    for (const identity of identities) {
      expect(await processes.next().store.write(identity, await entryOf(identity, '{}', 3), 60_000)).toBe(true);
    }
    for (const identity of identities) expect((await processes.next().store.read(identity))?.fence).toBe(3);
    for (const { port } of servers) {
      const direct = new Redis(port);
      expect(await direct.dbsize()).toBeGreaterThan(0);
      direct.disconnect();
    }
  });

  it('keeps the book of usage', async () => {
    const usage = {
      hash: newIdentity().hash,
      endpointId: 'e',
      values: {},
      redacted: true,
      representation: 'text/csv',
      keyName: 'k',
    } as const;
    const { usage: book } = processes.next();
    book.touch(usage, 1000);
    await sleep(400);
    await book.failed(usage.hash, 1);
    await sleep(20);
    expect(await processes.next().usage.inUse(60_000, 5)).toMatchObject([{ usage, failures: 1 }]);
    await book.forget(usage.hash);
  });

  it('follows a slot that has moved to another node', async () => {
    const identity = newIdentity();
    const key = `test:2:{${identity.hash}}:entry`;
    const directs = servers.map(({ port }) => new Redis(port));
    const [first] = directs;
    if (first === undefined) throw new Error('There are three.');
    const slot = Number(await first.cluster('KEYSLOT', key));
    const from = Math.floor(slot / (16384 / 3));
    const to = (from + 1) % 3;
    const id = String(await directs[to]?.call('CLUSTER', 'MYID'));
    // To the node that takes it over first: it is the one that the others must believe.
    for (const i of [to, from, 3 - to - from]) await directs[i]?.call('CLUSTER', 'SETSLOT', slot, 'NODE', id);
    const { store, connection } = processes.next();
    expect(await store.write(identity, await entryOf(identity, rowsOf(900), 3), 60_000)).toBe(true);
    expect((await store.read(identity))?.fence).toBe(3);
    expect(await directs[to]?.exists(key)).toBe(1);
    expect(connection.state).toBe('closed');
    directs.forEach((direct) => direct.disconnect());
  });

  /** How reads of many identities end, each within its time. */
  async function reads({ store }: OpenedRedis): Promise<{ fine: number; unavailable: number }> {
    const ends = { fine: 0, unavailable: 0 };
    for (let i = 0; i < 40; i++) {
      const began = performance.now();
      await store.read(newIdentity()).then(
        () => ends.fine++,
        (error: unknown) => {
          expect(error).toBeInstanceOf(RedisUnavailable);
          ends.unavailable++;
        },
      );
      expect(performance.now() - began).toBeLessThan(TIMEOUT + SLACK);
    }
    return ends;
  }

  it('does without a node that hangs, and uses the others', async () => {
    const redis = openTestRedis(url, { timeout: TIMEOUT });
    await redis.connection.tried;
    expect(await reads(redis)).toEqual({ fine: 40, unavailable: 0 });
    servers[1]?.freeze();
    const { fine, unavailable } = await reads(redis);
    process.stdout.write(`with a third of the Cluster hanging: ${fine} reads of 40 fine\n`);
    expect(fine).toBeGreaterThan(0);
    expect(unavailable).toBeGreaterThan(0);
    servers[1]?.thaw();
    await sleep(1500);
    expect(await reads(redis)).toEqual({ fine: 40, unavailable: 0 });
    await redis.close();
  }, 40_000);

  it('does without a Cluster that hangs as a whole, or is dead, and finds it when it answers again', async () => {
    const redis = openTestRedis(url, { timeout: TIMEOUT });
    await redis.connection.tried;
    servers.forEach((server) => server.freeze());
    expect((await reads(redis)).fine).toBe(0);
    expect(redis.connection.counts.timeout).toBeLessThanOrEqual(3);
    servers.forEach((server) => server.thaw());
    for (let i = 0; redis.connection.state !== 'closed' && i < 1000; i++) await sleep(10);
    expect(await reads(redis)).toEqual({ fine: 40, unavailable: 0 });
    await Promise.all(servers.map((server) => server.kill()));
    await sleep(100);
    expect((await reads(redis)).fine).toBe(0);
    const began = performance.now();
    await redis.close();
    expect(performance.now() - began).toBeLessThan(TIMEOUT + SLACK);
  }, 40_000);
});
