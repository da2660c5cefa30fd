import { setTimeout as sleep } from 'node:timers/promises';

import { Redis } from 'ioredis';

import { MemoryUsageBook } from '../../src/cache/memory';
import type { Usage, UsageBook } from '../../src/cache/usage';
import { describeWithRedis, type RedisServer, startRedis } from '../redis-server';
import { ManualClock } from '../manual-clock';
import { newIdentity } from './entries';
import { openTestRedis, Processes } from './opened';

/** How many the books under test remember. */
const MOST = 50;

/** Milliseconds after which a request is in the book. */
const RECORDED = 350;

function usageOf(hash = newIdentity().hash, keyName = 'a'): Usage {
  return {
    hash,
    endpointId: 'e1',
    values: { project: 'größe "x"', interval: 'daily' },
    redacted: false,
    representation: 'application/json',
    keyName,
  };
}

/** @param pass lets time go by in the book, after everything recorded has arrived */
function testUsageBook(open: () => UsageBook, pass: (milliseconds: number) => Promise<void>): void {
  it('gives what was asked for, that asked for last first', async () => {
    const book = open();
    const [a, b, c] = [usageOf(), usageOf(), usageOf()];
    for (const usage of [a, b, c]) {
      book.touch(usage, 1000);
      await pass(RECORDED);
    }
    expect((await book.inUse(60_000, 10)).map(({ usage }) => usage)).toEqual([c, b, a]);
    expect((await book.inUse(60_000, 2)).map(({ usage }) => usage)).toEqual([c, b]);
    book.touch(usageOf(a.hash, 'another key'), 1000);
    await pass(RECORDED);
    const found = await book.inUse(60_000, 10);
    expect(found.map(({ usage }) => usage.hash)).toEqual([a.hash, c.hash, b.hash]);
    expect(found[0]?.usage.keyName).toBe('another key');
    for (const { idle, failures } of found) {
      expect(idle).toBeGreaterThanOrEqual(0);
      expect(idle).toBeLessThan(60_000);
      expect(failures).toBe(0);
    }
    expect(found[2]?.idle).toBeGreaterThan(found[1]?.idle ?? Infinity);
  });

  it('does not give what was asked for too long ago', async () => {
    const book = open();
    book.touch(usageOf(), 1000);
    await pass(RECORDED);
    expect(await book.inUse(1, 10)).toEqual([]);
    expect(await book.inUse(60_000, 10)).toHaveLength(1);
  });

  it('holds off what has failed, and counts how often', async () => {
    const book = open();
    const [a, b] = [usageOf(), usageOf()];
    book.touch(a, 1000);
    book.touch(b, 1000);
    await pass(RECORDED);
    const heldOff = (): Promise<boolean[]> => Promise.all([a, b].map(({ hash }) => book.isHeldOff(hash)));
    expect(await heldOff()).toEqual([false, false]);
    await book.failed(a.hash, 60_000);
    expect(await heldOff()).toEqual([true, false]);
    expect((await book.inUse(60_000, 1)).map(({ usage }) => usage.hash)).toEqual([b.hash]);
    await book.succeeded(a.hash);
    expect(await heldOff()).toEqual([false, false]);
    await book.failed(a.hash, 300);
    await pass(400);
    expect(await heldOff()).toEqual([false, false]);
    await book.failed(b.hash, 60_000);
    const found = await book.inUse(60_000, 10);
    expect(found.map(({ usage, failures }) => [usage.hash, failures])).toEqual([[a.hash, 1]]);
    await book.failed(a.hash, 1);
    await pass(50);
    expect((await book.inUse(60_000, 10))[0]?.failures).toBe(2);
    // Asking again does not undo it.
    book.touch(b, 1000);
    await pass(RECORDED);
    expect(await book.inUse(60_000, 10)).toHaveLength(1);
    await book.succeeded(a.hash);
    await book.succeeded(b.hash);
    expect((await book.inUse(60_000, 10)).map(({ failures }) => failures)).toEqual([0, 0]);
  });

  it('forgets what is removed, and knows nothing of what nobody asked for', async () => {
    const book = open();
    const [a, b] = [usageOf(), usageOf()];
    book.touch(a, 1000);
    book.touch(b, 1000);
    await pass(RECORDED);
    await book.failed(a.hash, 60_000);
    await book.forget(a.hash);
    await book.failed(usageOf().hash, 10);
    await book.succeeded(usageOf().hash);
    await book.forget(usageOf().hash);
    expect((await book.inUse(60_000, 10)).map(({ usage }) => usage.hash)).toEqual([b.hash]);
    book.touch(a, 1000);
    await pass(RECORDED);
    expect((await book.inUse(60_000, 10)).map(({ failures }) => failures)).toEqual([0, 0]);
  });

  it('remembers a bounded number, those asked for last', async () => {
    const book = open();
    const all = Array.from({ length: MOST + 30 }, () => usageOf());
    for (const usage of all.slice(0, MOST)) book.touch(usage, 1000);
    await pass(RECORDED);
    for (const usage of all.slice(0, 20)) await book.failed(usage.hash, 1);
    for (const usage of all.slice(MOST)) book.touch(usage, 1000);
    await pass(RECORDED);
    const found = await book.inUse(60_000, 1000);
    expect(found).toHaveLength(MOST);
    const hashes = new Set(found.map(({ usage }) => usage.hash));
    expect(all.slice(MOST).every(({ hash }) => hashes.has(hash))).toBe(true);
  });
}

describe('the book of usage in memory', () => {
  const clock = new ManualClock();
  testUsageBook(
    () => new MemoryUsageBook(MOST, clock),
    (milliseconds) => clock.advance(milliseconds),
  );
});

describeWithRedis('the book of usage in Redis', () => {
  const processes = new Processes();
  const clock = new ManualClock();
  const pass = async (milliseconds: number): Promise<void> => {
    await clock.advance(milliseconds);
    await processes.settled();
    // The book's times are Redis's.
    await sleep(milliseconds);
  };
  let server: RedisServer;
  let direct: Redis;

  beforeAll(async () => {
    server = await startRedis();
    direct = new Redis(server.url);
    await processes.open(server.url, { mostInUse: MOST, clock });
  });
  beforeEach(() => direct.flushall());
  afterAll(async () => {
    await processes.close();
    direct.disconnect();
    await server.stop();
  });

  testUsageBook(() => processes.next().usage, pass);

  it('is one for all processes, and outlives them', async () => {
    const usage = usageOf();
    const one = openTestRedis(server.url);
    await one.connection.tried;
    one.usage.touch(usage, 1000);
    // At once: closing sends what is still to be sent.
    await one.close();
    expect((await processes.next().usage.inUse(60_000, 10)).map((found) => found.usage)).toEqual([usage]);
    await processes.next().usage.failed(usage.hash, 60_000);
    expect(await processes.next().usage.inUse(60_000, 10)).toEqual([]);
  });

  it('keeps its three keys in one slot, and lets them expire', async () => {
    const { usage } = processes.next();
    const one = usageOf();
    usage.touch(one, 1000);
    await pass(RECORDED);
    await usage.failed(one.hash, 10);
    const keys = (await direct.keys('*')).sort();
    expect(keys).toEqual(['failures', 'records', 'requests'].map((part) => `test:3:{usage}:${part}`));
    for (const key of keys) expect(await direct.pttl(key)).toBeGreaterThan(0);
  });

  it('sends many requests to Redis as one, and again when a tenth of the ttl has passed', async () => {
    const { usage } = processes.next();
    const one = usageOf();
    const calls = async (): Promise<number> =>
      Number(/cmdstat_evalsha:calls=(\d+)/.exec(await direct.info('commandstats'))?.[1] ?? 0);
    usage.touch(one, 30_000);
    await pass(RECORDED);
    const before = await calls();
    for (let i = 0; i < 10_000; i++) usage.touch(one, 30_000);
    await pass(RECORDED);
    expect(await calls()).toBe(before);
    usage.touch(one, 2000);
    for (let i = 0; i < 100; i++) usage.touch(usageOf(), 2000);
    await pass(RECORDED);
    expect(await calls()).toBe(before + 1);
  });

  it('passes over records that it cannot read', async () => {
    const { usage } = processes.next();
    const one = usageOf();
    usage.touch(one, 1000);
    await pass(RECORDED);
    for (const [name, record] of [
      ['x', 'not JSON'],
      ['y', '{}'],
      ['z', JSON.stringify({ ...one, representation: 'text/html' })],
    ] as const) {
      await direct.zadd('test:3:{usage}:requests', Date.now(), name);
      await direct.hset('test:3:{usage}:records', name, record);
    }
    await direct.hset('test:3:{usage}:failures', one.hash, 'nonsense');
    expect((await usage.inUse(60_000, 10)).map((found) => found.usage)).toEqual([one]);
  });
});
