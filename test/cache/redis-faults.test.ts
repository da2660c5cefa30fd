import { setTimeout as sleep } from 'node:timers/promises';

import { Redis } from 'ioredis';

import type { Identity } from '../../src/cache/identity';
import type { Lease } from '../../src/cache/stores';
import { RedisUnavailable } from '../../src/redis/unavailable';
import { describeWithRedis, freePort, type RedisServer, startRedis } from '../redis-server';
import { entryOf, newIdentity, rowsOf } from './entries';
import { type OpenedRedis, openTestRedis } from './opened';
import { Proxy } from './proxy';

/** Longer than the default: a machine that is busy with other tests may leave Redis without a turn for as long. */
const TIMEOUT = 250;

/** What a call may take beyond the command timeout on a machine that is busy with other tests. */
const SLACK = 200;

/** In which the breaker must have healed once Redis answers again. */
const HEALING = 8000;

/** Whatever nobody waited for. */
const unhandled: unknown[] = [];
const onUnhandled = (error: unknown): number => unhandled.push(error);
process.on('unhandledRejection', onUnhandled);
process.on('uncaughtException', onUnhandled);

describeWithRedis('the store in a Redis that fails', () => {
  let server: RedisServer;
  let proxy: Proxy;
  let redis: OpenedRedis;
  const later: (() => Promise<unknown>)[] = [];

  beforeEach(async () => {
    server = await startRedis(['--enable-debug-command', 'yes']);
    proxy = await Proxy.to(server.port);
    redis = openTestRedis(proxy.url, { timeout: TIMEOUT });
    await redis.connection.tried;
  });
  afterEach(async () => {
    const began = performance.now();
    await redis.close();
    expect(performance.now() - began).toBeLessThan(TIMEOUT + SLACK);
    for (const close of later.splice(0)) await close();
    await proxy.close();
    await server.stop();
    await sleep(20);
    expect(unhandled).toEqual([]);
  });
  afterAll(() => {
    process.removeListener('unhandledRejection', onUnhandled);
    process.removeListener('uncaughtException', onUnhandled);
  });

  /** Every call there is, and how each ends: `fine`, or that Redis is not available. Anything else fails the test. */
  async function everyCall(on: OpenedRedis, identity: Identity, lease: Lease | null): Promise<string[]> {
    const entry = await entryOf(identity, rowsOf(3000), 7);
    const calls: (() => Promise<unknown>)[] = [
      () => on.store.read(identity),
      () => on.store.fenceOf(identity),
      () => on.store.write(identity, entry, 60_000),
      () => on.store.acquire(identity),
      () => on.store.await(identity),
      () => on.store.leave(identity),
      ...(lease === null ? [] : [() => lease.renew(), () => lease.awaited(), () => lease.release()]),
      () => on.usage.inUse(1000, 10),
      () => on.usage.failed(identity.hash, 10),
      () => on.usage.succeeded(identity.hash),
      () => on.usage.forget(identity.hash),
    ];
    const ends: string[] = [];
    for (const call of calls) {
      const began = performance.now();
      const end = await call().then(
        () => 'fine',
        (error: unknown) => (error instanceof RedisUnavailable ? 'unavailable' : `threw ${String(error)}`),
      );
      expect(performance.now() - began).toBeLessThan(TIMEOUT + SLACK);
      ends.push(end);
    }
    return ends;
  }

  const only = (ends: readonly string[]): string => [...new Set(ends)].join(' and ');

  /** Milliseconds that `calls` calls take while the breaker is open. */
  async function rejectsAtOnce(on: OpenedRedis): Promise<void> {
    // It may be asking just now whether Redis is back; either way nothing is sent.
    expect(on.connection.state).not.toBe('closed');
    const skipped = on.connection.counts.skipped;
    const began = process.cpuUsage();
    for (let i = 0; i < 100; i++) await expect(on.store.read(newIdentity())).rejects.toThrow(RedisUnavailable);
    const { user, system } = process.cpuUsage(began);
    expect(user + system).toBeLessThan(1_000_000);
    expect(on.connection.counts.skipped).toBe(skipped + 100);
  }

  async function heals(on: OpenedRedis): Promise<void> {
    const began = performance.now();
    while (on.connection.state !== 'closed') {
      expect(performance.now() - began).toBeLessThan(HEALING);
      await sleep(10);
    }
    const identity = newIdentity();
    expect(only(await everyCall(on, identity, await on.store.acquire(newIdentity())))).toBe('fine');
    expect(await on.store.read(identity)).not.toBeNull();
  }

  /** What the log tells, without the words of every day. */
  const told = (): string[] => redis.logged.map((line) => String((JSON.parse(line) as { msg: unknown }).msg));
  const UP = 'Redis answers: results are shared';
  const DOWN = 'Redis does not answer: results are not shared';
  const AGAIN = 'Redis answers again: results are shared';

  it('is not disturbed by a proxy that does nothing', async () => {
    expect(redis.connection.state).toBe('closed');
    expect(only(await everyCall(redis, newIdentity(), await redis.store.acquire(newIdentity())))).toBe('fine');
    expect(redis.connection.counts).toMatchObject({
      timeout: 0,
      refused: 0,
      failed: 0,
      skipped: 0,
      opened: 0,
      closed: 1,
    });
    expect(told()).toEqual([UP]);
  });

  it('does without one that is dead at the start, and finds it when it has started', async () => {
    const port = await freePort();
    const early = openTestRedis(`redis://:hidden-word@127.0.0.1:${port}`, { timeout: TIMEOUT });
    later.push(() => early.close());
    expect(early.connection.state).toBe('half-open');
    expect(only(await everyCall(early, newIdentity(), null))).toBe('unavailable');
    await early.connection.tried;
    await rejectsAtOnce(early);
    await sleep(500);
    const started = await startRedis(['--requirepass', 'hidden-word'], { port });
    later.push(() => started.stop());
    await heals(early);
    expect(early.logged.map((line) => (JSON.parse(line) as { msg: string }).msg)).toEqual([DOWN, AGAIN]);
    expect(early.logged.join()).toContain('ECONNREFUSED');
    expect(early.logged.join()).not.toContain('hidden-word');
  });

  it.each(['frozen', 'behind a line that hangs'])('gives up one that is %s, and finds it again', async (how) => {
    const lease = await redis.store.acquire(newIdentity());
    if (how === 'frozen') server.freeze();
    else proxy.mode = 'hang';
    expect(only(await everyCall(redis, newIdentity(), lease))).toBe('unavailable');
    await rejectsAtOnce(redis);
    // The first that came too late made it ask for a sign of life; there was none.
    expect(redis.connection.counts.timeout).toBeLessThanOrEqual(3);
    await sleep(1000);
    await rejectsAtOnce(redis);
    if (how === 'frozen') server.thaw();
    else proxy.mode = 'through';
    await heals(redis);
    expect(told()).toEqual([UP, DOWN, AGAIN]);
    await sleep(2 * TIMEOUT);
    // Nothing of the dead connection is left.
    expect(proxy.size).toBe(1);
  });

  it('drops a connection that hangs though only one command met it', async () => {
    proxy.mode = 'hang';
    await expect(redis.store.read(newIdentity())).rejects.toThrow(RedisUnavailable);
    await sleep(3 * TIMEOUT);
    expect(redis.connection.state).not.toBe('closed');
    proxy.mode = 'through';
    await heals(redis);
  });

  it('does without one that takes 2 seconds for an answer', async () => {
    proxy.delay = 2000;
    expect(only(await everyCall(redis, newIdentity(), null))).toBe('unavailable');
    await rejectsAtOnce(redis);
    await sleep(3000);
    // It does answer, and is too slow all the same.
    expect(redis.connection.state).not.toBe('closed');
    expect(redis.connection.counts.closed).toBe(1);
    proxy.delay = 0;
    await heals(redis);
    expect(told()).toEqual([UP, DOWN, AGAIN]);
  });

  it('fails one command that takes too long, and goes on', async () => {
    const direct = new Redis(server.url);
    later.push(() => Promise.resolve(direct.disconnect()));
    await direct.ping();
    // Awake again in the middle of the time that the sign of life may take.
    const asleep = direct.call('DEBUG', 'SLEEP', String((1.6 * TIMEOUT) / 1000));
    await sleep(20);
    await expect(redis.store.read(newIdentity())).rejects.toThrow(RedisUnavailable);
    await asleep;
    expect(only(await everyCall(redis, newIdentity(), null))).toBe('fine');
    expect(redis.connection.counts).toMatchObject({ timeout: 1, opened: 0 });
  });

  it('does not take its own being busy for a failure of Redis', async () => {
    const reads = Array.from({ length: 10 }, () => redis.store.read(newIdentity()));
    await sleep(1);
    const until = performance.now() + 3 * TIMEOUT;
    while (performance.now() < until); // as a long computation would
    expect(await Promise.all(reads)).toEqual(reads.map(() => null));
    expect(redis.connection.counts).toMatchObject({ timeout: 0, opened: 0 });
  });

  it('does without one that was killed, and finds it when it runs again', async () => {
    const calls = Array.from({ length: 20 }, () => redis.store.read(newIdentity()).catch((error: unknown) => error));
    await server.kill();
    for (const end of await Promise.all(calls)) expect(end === null || end instanceof RedisUnavailable).toBe(true);
    await sleep(50);
    expect(only(await everyCall(redis, newIdentity(), null))).toBe('unavailable');
    await rejectsAtOnce(redis);
    server = await startRedis([], { port: server.port });
    await heals(redis);
    expect(told()).toEqual([UP, DOWN, AGAIN]);
  });

  it('comes back at once when the line was cut', async () => {
    proxy.cut();
    await sleep(10);
    const began = performance.now();
    while (redis.connection.state !== 'closed') await sleep(5);
    expect(performance.now() - began).toBeLessThan(1000);
    expect(only(await everyCall(redis, newIdentity(), null))).toBe('fine');
  });

  it.each(['garbage', 'nonsense'] as const)('does without one that answers %s', async (mode) => {
    const lease = await redis.store.acquire(newIdentity());
    proxy.mode = mode;
    const ends = await everyCall(redis, newIdentity(), lease);
    expect(ends.filter((end) => end !== 'unavailable' && end !== 'fine')).toEqual([]);
    for (let i = 0; i < 3; i++) await redis.store.acquire(newIdentity()).catch(() => null);
    await sleep(50);
    await rejectsAtOnce(redis);
    await sleep(500);
    expect(redis.connection.state).not.toBe('closed');
    proxy.mode = 'through';
    await heals(redis);
  });

  it('reads from one that is full, and writes again when there is room', async () => {
    const direct = new Redis(server.url);
    later.push(() => Promise.resolve(direct.disconnect()));
    const kept = newIdentity();
    await redis.store.write(kept, await entryOf(kept, rowsOf(3000), 7), 60_000);
    const lease = await redis.store.acquire(newIdentity());
    await direct.config('SET', 'maxmemory-policy', 'noeviction');
    await direct.config('SET', 'maxmemory', '1');
    for (let i = 0; i < 10; i++) {
      const identity = newIdentity();
      await expect(redis.store.write(identity, await entryOf(identity, '{}'), 60_000)).rejects.toThrow(
        RedisUnavailable,
      );
      await expect(redis.store.acquire(identity)).rejects.toThrow(RedisUnavailable);
      await expect(redis.store.write(kept, await entryOf(kept, '{}', 8), 60_000)).rejects.toThrow(RedisUnavailable);
    }
    expect((await redis.store.read(kept))?.fence).toBe(7);
    expect(await lease?.renew()).toBe(true);
    await lease?.release();
    expect(redis.connection.state).toBe('closed');
    expect(redis.connection.counts).toMatchObject({ refused: 30, opened: 0, timeout: 0 });
    // Said once, not thirty times.
    expect(told()).toEqual([UP, 'Redis refuses commands: some results are not shared']);
    expect(redis.logged.join()).toContain('answered OOM');
    await direct.config('SET', 'maxmemory', '0');
    await heals(redis);
  });

  it('begins anew with one that was flushed', async () => {
    const direct = new Redis(server.url);
    later.push(() => Promise.resolve(direct.disconnect()));
    const identity = newIdentity();
    await redis.store.write(identity, await entryOf(identity, '{}'), 60_000);
    const lease = await redis.store.acquire(identity);
    await direct.flushall();
    expect(await redis.store.read(identity)).toBeNull();
    expect(await lease?.renew()).toBe(false);
    await heals(redis);
  });

  it('leaves alone one that does not let it in, and tells no password', async () => {
    const locked = await startRedis(['--requirepass', 'right']);
    later.push(() => locked.stop());
    for (const url of [`redis://127.0.0.1:${locked.port}`, `redis://:hidden-word@127.0.0.1:${locked.port}`]) {
      const refused = openTestRedis(url, { timeout: TIMEOUT });
      later.push(() => refused.close());
      await refused.connection.tried;
      await rejectsAtOnce(refused);
      expect(refused.logged).toHaveLength(1);
      expect(refused.logged.join()).toMatch(/NOAUTH|WRONGPASS/);
      expect(refused.logged.join()).not.toContain('hidden-word');
    }
    const direct = new Redis(`redis://:right@127.0.0.1:${locked.port}`);
    later.push(() => Promise.resolve(direct.disconnect()));
    const admitted = openTestRedis(`redis://:right@127.0.0.1:${locked.port}`, { timeout: TIMEOUT });
    later.push(() => admitted.close());
    await heals(admitted);
    // Rights are taken away while it runs.
    await direct.config('SET', 'requirepass', 'another');
    await direct.call('CLIENT', 'KILL', 'TYPE', 'normal');
    await sleep(200);
    await rejectsAtOnce(admitted);
  });

  it('leaves one that does not take writes any more, and asks anew where to go', async () => {
    const direct = new Redis(server.url);
    later.push(() => Promise.resolve(direct.disconnect()));
    const connections = proxy.connections;
    await direct.replicaof('127.0.0.1', String(await freePort()));
    await expect(redis.store.acquire(newIdentity())).rejects.toThrow(RedisUnavailable);
    await sleep(300);
    expect(proxy.connections).toBeGreaterThan(connections);
    await direct.replicaof('NO', 'ONE');
    await heals(redis);
    expect(redis.logged.join()).toContain('READONLY');
  });

  it('closes at once, whatever Redis does, and answers nothing after that', async () => {
    proxy.mode = 'hang';
    const pending = redis.store.read(newIdentity()).catch((error: unknown) => error);
    const began = performance.now();
    await redis.close();
    expect(performance.now() - began).toBeLessThan(TIMEOUT + SLACK);
    expect(await pending).toBeInstanceOf(RedisUnavailable);
    await expect(redis.store.read(newIdentity())).rejects.toThrow(RedisUnavailable);
    await sleep(500);
    expect(proxy.size).toBe(0);
  });

  it('closes at once while it is asking whether Redis is back', async () => {
    proxy.mode = 'hang';
    const hopeful = openTestRedis(proxy.url, { timeout: TIMEOUT });
    await sleep(50);
    expect(proxy.size).toBe(2);
    await hopeful.close();
    await sleep(2 * TIMEOUT);
    expect(proxy.size).toBe(1);
    expect(hopeful.logged).toEqual([]);
    await hopeful.connection.tried;
  });
});
