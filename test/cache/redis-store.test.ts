import { Redis } from 'ioredis';

import type { Identity } from '../../src/cache/stores';
import { describeWithRedis, type RedisServer, startRedis } from '../redis-server';
import { until } from '../until';
import { entryOf, newIdentity, rowsOf } from './entries';
import { Processes } from './opened';
import { testSharedStore } from './store-contract';

describeWithRedis('the store in Redis', () => {
  const processes = new Processes();
  let server: RedisServer;
  let direct: Redis;

  beforeAll(async () => {
    server = await startRedis();
    direct = new Redis(server.url);
    await processes.open(server.url);
  });
  afterAll(async () => {
    await processes.close();
    direct.disconnect();
    await server.stop();
  });

  testSharedStore((leaseTime) => processes.store(leaseTime));

  /** Writes an entry, and gives the name of its key. */
  async function written(identity: Identity): Promise<string> {
    await processes.next().store.write(identity, await entryOf(identity, rowsOf(5000), 5), 60_000);
    return `test:3:{${identity.hash}}:entry`;
  }

  it('names keys by prefix and format, those of one identity in one slot, and lets each of them expire', async () => {
    const identity = newIdentity();
    const { store } = processes.next();
    await written(identity);
    const lease = await store.acquire(identity);
    await processes.next().store.await(identity);
    const keys = (await direct.keys(`*${identity.hash}*`)).sort();
    expect(keys).toEqual(['entry', 'fence', 'lease', 'waiters'].map((part) => `test:3:{${identity.hash}}:${part}`));
    for (const key of keys) expect(await direct.pttl(key)).toBeGreaterThan(0);
    await lease?.release();
  });

  it.each([
    ['body', 'body'],
    ['gzip form', 'gzip'],
    ['br form', 'br'],
    ['metadata', 'meta'],
    ['question', 'question'],
    ['fence', 'fence'],
  ])('takes a damaged %s for no entry, and replaces it', async (_, field) => {
    const { store } = processes.next();
    const identity = newIdentity();
    const key = await written(identity);
    const value = await direct.hgetBuffer(key, field);
    if (value === null) throw new Error('It was written.');
    const damaged = Buffer.from(value);
    damaged[damaged.length >> 1] = (damaged[damaged.length >> 1] ?? 0) ^ 0x81;
    for (const instead of [damaged, value.subarray(0, -1), Buffer.alloc(0), null]) {
      const before = store.unreadable;
      if (instead === null) await direct.hdel(key, field);
      else await direct.hset(key, field, instead);
      if (field === 'fence' && instead === value.subarray(0, -1)) continue;
      expect(await store.read(identity)).toBeNull();
      expect(store.unreadable).toBe(before + 1);
    }
    await direct.hset(key, field, value);
    expect(await store.read(identity)).not.toBeNull();
    await direct.hset(key, field, damaged);
    const lease = await store.acquire(identity);
    expect(await store.write(identity, await entryOf(identity, '{}', lease?.fence), 60_000)).toBe(true);
    expect(await store.read(identity)).not.toBeNull();
  });

  it('takes a value of another type, and another hash, for no entry, and replaces them', async () => {
    const identity = newIdentity();
    const key = await written(identity);
    const others = [
      () => direct.set(key, 'text'),
      () => direct.lpush(key, 'text'),
      () => direct.hset(key, 'other', 'field'),
      () =>
        direct.hset(key, { fence: '9'.repeat(30), question: identity.text, meta: '[]', body: '', gzip: '', br: '' }),
      () => direct.hset(key, 'fence', 'inf'),
    ];
    for (const other of others) {
      await direct.del(key);
      await other();
      const { store } = processes.next();
      expect(await store.read(identity)).toBeNull();
      expect(await store.fenceOf(identity)).toBeNull();
      const lease = await store.acquire(identity);
      expect(lease?.fence).toBeLessThan(Date.now() * 1100);
      expect(await store.write(identity, await entryOf(identity, '{}', lease?.fence), 60_000)).toBe(true);
      expect(await store.fenceOf(identity)).toBe(lease?.fence);
      expect(await store.read(identity)).not.toBeNull();
      await lease?.release();
    }
    expect(processes.next().connection.state).toBe('closed');
  });

  it('goes on when Redis has forgotten its scripts, and everything else', async () => {
    const identity = newIdentity();
    const { store } = processes.next();
    const lease = await store.acquire(identity);
    await direct.script('FLUSH');
    await direct.flushall();
    expect(await lease?.renew()).toBe(false);
    expect(await lease?.awaited()).toBe(false);
    await lease?.release();
    const later = await store.acquire(identity);
    expect(later?.fence).toBeGreaterThan(lease?.fence ?? 0);
    expect(await store.write(identity, await entryOf(identity, '{}', later?.fence), 60_000)).toBe(true);
  });

  it('leaves alone what stands under another prefix', async () => {
    const other = new Processes();
    await other.open(server.url, { prefix: 'other' });
    const identity = newIdentity();
    await written(identity);
    expect(await other.next().store.read(identity)).toBeNull();
    expect(await other.next().store.acquire(identity)).not.toBeNull();
    expect(await processes.next().store.acquire(identity)).not.toBeNull();
    await other.close();
  });

  it.each([
    ['without an end', (key: string) => direct.set(key, 'somebody')],
    ['with an end far away', (key: string) => direct.set(key, 'somebody', 'EX', 86_400)],
    ['of another type', (key: string) => direct.lpush(key, 'somebody')],
  ])('a lease %s is gone within one lease time', async (_, write) => {
    const store = processes.store(300);
    const identity = newIdentity();
    const key = `test:3:{${identity.hash}}:lease`;
    await write(key);
    expect(await store.acquire(identity)).toBeNull();
    expect(await direct.pttl(key)).toBeLessThanOrEqual(300);
    await write(key);
    await store.await(identity);
    expect(await direct.pttl(key)).toBeLessThanOrEqual(300);
    await until(async () => (await direct.exists(key)) === 0);
    expect(await store.acquire(identity)).not.toBeNull();
  });

  it('an entry of a time to come does not count, and is replaced', async () => {
    const store = processes.store(300);
    const identity = newIdentity();
    const entry = await entryOf(identity, '{}', 2 ** 53 - 2);
    await store.write(identity, { ...entry, createdAt: Date.now() + 3_600_000 }, 60_000);
    expect(await store.read(identity)).toBeNull();
    const lease = await store.acquire(identity);
    expect(await store.write(identity, await entryOf(identity, '{"result":[]}', lease?.fence), 60_000)).toBe(true);
    expect((await store.read(identity))?.response.bytes.toString()).toBe('{"result":[]}');
    await lease?.release();
    const later = await store.acquire(identity);
    expect(later).not.toBeNull();
    expect(await store.write(identity, await entryOf(identity, '{}', later?.fence), 60_000)).toBe(true);
  });
});
