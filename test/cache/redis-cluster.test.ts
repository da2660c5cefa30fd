import { Redis } from 'ioredis';

import type { Identity } from '../../src/cache/stores';
import { RedisUnavailable } from '../../src/redis/failure';
import { ManualClock, settled } from '../manual-clock';
import { until } from '../until';
import { describeWithRedis, type RedisServer, startRedis } from '../redis-server';
import { entryOf, newIdentity, rowsOf } from './entries';
import { type OpenedRedis, openTestRedis, Processes } from './opened';
import { testSharedStore } from './store-contract';

const TIMEOUT = 150;

const keyOf = ({ hash }: Identity): string => `test:3:{${hash}}:entry`;

/** The number of the server that holds a slot at first. */
const serverOf = (slot: number): number => Math.floor(slot / (16384 / 3));

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
    await until(ready);
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

  testSharedStore((leaseTime) => processes.store(leaseTime));

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
    const inUse = (): Promise<readonly unknown[]> => processes.next().usage.inUse(60_000, 5);
    await until(async () => (await inUse()).length === 1);
    await book.failed(usage.hash, 1);
    await until(async () => (await inUse()).length === 1);
    expect(await inUse()).toMatchObject([{ usage, failures: 1 }]);
    await book.forget(usage.hash);
  });

  it('follows a slot that has moved to another node', async () => {
    const identity = newIdentity();
    const key = keyOf(identity);
    const directs = servers.map(({ port }) => new Redis(port));
    const [first] = directs;
    if (first === undefined) throw new Error('There are three.');
    const slot = await first.cluster('KEYSLOT', key);
    const from = serverOf(slot);
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

  describe('that fails', () => {
    let clock: ManualClock;
    let redis: OpenedRedis;
    /** Of the first server. */
    let direct: Redis;
    beforeEach(async () => {
      clock = new ManualClock();
      redis = openTestRedis(url, { timeout: TIMEOUT, clock });
      direct = new Redis(servers[0]?.port ?? 0);
      await heals();
    });
    afterEach(async () => {
      // While time stands still: it waits for nothing.
      await redis.close();
      direct.disconnect();
    });

    /** How reads of many identities end; time passes only where a server that hangs has to answer. */
    async function reads(frozen: readonly number[] = []): Promise<{ fine: number; unavailable: number }> {
      const ends = { fine: 0, unavailable: 0 };
      const identities = Array.from({ length: 40 }, () => newIdentity());
      for (const identity of identities) {
        const hangs =
          frozen.length === servers.length ||
          (frozen.length > 0 && frozen.includes(serverOf(await direct.cluster('KEYSLOT', keyOf(identity)))));
        let ended = false;
        const end = redis.store.read(identity).then(
          () => ends.fine++,
          (error: unknown) => {
            expect(error).toBeInstanceOf(RedisUnavailable);
            ends.unavailable++;
          },
        );
        void end.finally(() => (ended = true));
        await settled();
        if (hangs && !ended) {
          await clock.advance(TIMEOUT);
          // The servers that live answer the PING that follows a timeout.
          await until(() => clock.pending <= frozen.length);
        }
        await end;
      }
      return ends;
    }

    function heals(): Promise<void> {
      return until(async () => {
        if (redis.connection.state === 'open') await clock.advanceToNext();
        return redis.connection.state === 'closed' && (await reads()).unavailable === 0;
      });
    }

    it('does without a node that hangs, and uses the others', async () => {
      servers[1]?.freeze();
      const { fine, unavailable } = await reads([1]);
      process.stdout.write(`with a third of the Cluster hanging: ${fine} reads of 40 fine\n`);
      expect(fine).toBeGreaterThan(0);
      expect(unavailable).toBeGreaterThan(0);
      servers[1]?.thaw();
      await heals();
    });

    it('does without a Cluster that hangs as a whole, or is dead, and finds it when it answers again', async () => {
      servers.forEach((server) => server.freeze());
      expect((await reads([0, 1, 2])).fine).toBe(0);
      expect(redis.connection.counts.timeout).toBeLessThanOrEqual(3);
      // The attempt under test ends by its timeout.
      while (redis.connection.state !== 'open') await clock.advanceToNext();
      servers.forEach((server) => server.thaw());
      await heals();
      await Promise.all(servers.map((server) => server.kill()));
      await until(() => redis.connection.state !== 'closed');
      expect((await reads()).fine).toBe(0);
    });
  });
});
