/** A real Redis that fails, by a clock that stands still while something can still answer: no result depends on the machine. */
import { setTimeout as sleep } from 'node:timers/promises';

import { Redis } from 'ioredis';

import type { Identity, Lease } from '../../src/cache/stores';
import { RedisUnavailable } from '../../src/redis/failure';
import { ManualClock, settled } from '../manual-clock';
import { describeWithRedis, freePort, type RedisServer, startRedis } from '../redis-server';
import { until } from '../until';
import { entryOf, newIdentity, rowsOf } from './entries';
import { type OpenedRedis, openTestRedis } from './opened';
import { Proxy } from './proxy';

const TIMEOUT = 150;

/** In which the breaker must have healed once Redis answers again: the longest pause between two attempts. */
const HEALING = 5000;

/** Failures that nothing has handled. */
const unhandled: unknown[] = [];
const onUnhandled = (error: unknown): number => unhandled.push(error);
process.on('unhandledRejection', onUnhandled);
process.on('uncaughtException', onUnhandled);

describeWithRedis('the store in a Redis that fails', () => {
  let server: RedisServer;
  let proxy: Proxy;
  let redis: OpenedRedis;
  let clock: ManualClock;
  const later: (() => Promise<unknown>)[] = [];

  const open = (url: string): OpenedRedis => openTestRedis(url, { timeout: TIMEOUT, clock });

  beforeEach(async () => {
    clock = new ManualClock();
    server = await startRedis();
    proxy = await Proxy.to(server.port, clock);
    redis = open(proxy.url);
    await redis.connection.tried;
  });
  afterEach(async () => {
    // While time stands still: it waits for nothing.
    await redis.close();
    for (const close of later.splice(0)) await close();
    await proxy.close();
    await server.stop();
    await settled();
    expect(unhandled).toEqual([]);
  });
  afterAll(() => {
    process.removeListener('unhandledRejection', onUnhandled);
    process.removeListener('uncaughtException', onUnhandled);
  });

  /** Has the connection try a write of its own, and waits for the answer. */
  async function triesToWrite(): Promise<void> {
    const { refused } = redis.connection.counts;
    await clock.advanceToNext();
    await until(() => redis.connection.refusal === null || redis.connection.counts.refused > refused);
    await settled();
  }

  /**
   * How a call ends: `fine`, or that Redis is not available. Anything else fails the test.
   *
   * @param silent Redis does not answer: the call ends by its timeout. Otherwise time stands still.
   */
  async function endOf(call: Promise<unknown>, silent: boolean): Promise<string> {
    let end: string | null = null;
    const ended = call.then(
      () => (end = 'fine'),
      (error: unknown) => (end = error instanceof RedisUnavailable ? 'unavailable' : `threw ${String(error)}`),
    );
    await settled();
    if (silent && end === null) await clock.advance(TIMEOUT);
    return ended;
  }

  /** How each kind of call ends. */
  async function everyCall(
    on: OpenedRedis,
    identity: Identity,
    lease: Lease | null,
    { silent = false } = {},
  ): Promise<string[]> {
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
      () => on.usage.isHeldOff(identity.hash),
      () => on.usage.succeeded(identity.hash),
      () => on.usage.forget(identity.hash),
    ];
    const ends: string[] = [];
    for (const call of calls) ends.push(await endOf(call(), silent));
    return ends;
  }

  const only = (ends: readonly string[]): string => [...new Set(ends)].join(' and ');

  /** While the breaker is open, or half-open with a connection under test: nothing is sent. */
  async function rejectsAtOnce(on: OpenedRedis): Promise<void> {
    expect(on.connection.state).not.toBe('closed');
    const skipped = on.connection.counts.skipped;
    const began = process.cpuUsage();
    for (let i = 0; i < 100; i++) await expect(on.store.read(newIdentity())).rejects.toThrow(RedisUnavailable);
    const { user, system } = process.cpuUsage(began);
    expect(user + system).toBeLessThan(1_000_000);
    expect(on.connection.counts.skipped).toBe(skipped + 100);
  }

  /** So many attempts to connect fail. */
  async function attempts(on: OpenedRedis, count: number): Promise<void> {
    for (let i = 0; i < count; i++) {
      expect(on.connection.state).not.toBe('closed');
      if (on.connection.state === 'open') await clock.advanceToNext();
      while (on.connection.state === 'half-open') {
        await sleep(1);
        await clock.advanceToNext();
      }
    }
    expect(on.connection.state).toBe('open');
  }

  /** Once no attempt from before is left; time passes only between attempts. */
  async function heals(on: OpenedRedis, within = HEALING): Promise<void> {
    const began = clock.monotonic();
    await until(async () => {
      if (on.connection.state === 'open') await clock.advanceToNext();
      return on.connection.state === 'closed';
    });
    expect(clock.monotonic() - began).toBeLessThanOrEqual(within);
    const identity = newIdentity();
    expect(only(await everyCall(on, identity, await on.store.acquire(newIdentity())))).toBe('fine');
    expect(await on.store.read(identity)).not.toBeNull();
  }

  /** Messages of the log. */
  const messages = (): string[] => redis.logged.map((line) => String((JSON.parse(line) as { msg: unknown }).msg));
  const UP = 'Redis answers: results are shared';
  const DOWN = 'Redis does not answer: results are not shared';
  const AGAIN = 'Redis answers again: results are shared';

  it('does without one that is dead at the start, and finds it when it has started', async () => {
    const port = await freePort();
    const early = open(`redis://:hidden-word@127.0.0.1:${port}`);
    later.push(() => early.close());
    expect(early.connection.state).toBe('half-open');
    expect(only(await everyCall(early, newIdentity(), null))).toBe('unavailable');
    await early.connection.tried;
    await rejectsAtOnce(early);
    await attempts(early, 3);
    const started = await startRedis(['--requirepass', 'hidden-word'], { port });
    later.push(() => started.stop());
    await heals(early);
    expect(early.logged.map((line) => (JSON.parse(line) as { msg: string }).msg)).toEqual([DOWN, AGAIN]);
    expect(early.logged.join()).toContain('ECONNREFUSED');
    expect(early.logged.join()).not.toContain('hidden-word');
  });

  it.each(['frozen', 'behind a line that hangs'])('drops a connection that is %s, and finds it again', async (how) => {
    const lease = await redis.store.acquire(newIdentity());
    if (how === 'frozen') server.freeze();
    else proxy.mode = 'hang';
    const began = clock.monotonic();
    expect(only(await everyCall(redis, newIdentity(), lease, { silent: true }))).toBe('unavailable');
    // The first timeout is followed by a PING, which nobody answers; what comes after that waits for nothing.
    expect(redis.connection.counts.timeout).toBeLessThanOrEqual(3);
    expect(clock.monotonic() - began).toBeLessThanOrEqual(3 * TIMEOUT);
    await rejectsAtOnce(redis);
    await attempts(redis, 3);
    await rejectsAtOnce(redis);
    if (how === 'frozen') server.thaw();
    else proxy.mode = 'through';
    await heals(redis);
    expect(messages()).toEqual([UP, DOWN, AGAIN]);
    // Nothing of the dead connections is left.
    await until(() => proxy.size === 1);
  });

  it('drops a connection that hangs though only one command met it', async () => {
    proxy.mode = 'hang';
    expect(await endOf(redis.store.read(newIdentity()), true)).toBe('unavailable');
    expect(redis.connection.state).toBe('closed');
    await clock.advance(TIMEOUT);
    await attempts(redis, 1);
    proxy.mode = 'through';
    await heals(redis);
  });

  it('fails one command that takes too long, and goes on', async () => {
    server.freeze();
    expect(await endOf(redis.store.read(newIdentity()), true)).toBe('unavailable');
    // Within the time for the PING that follows.
    await clock.advance(TIMEOUT / 2);
    server.thaw();
    expect(only(await everyCall(redis, newIdentity(), null))).toBe('fine');
    await clock.advance(TIMEOUT);
    expect(redis.connection.state).toBe('closed');
    expect(redis.connection.counts).toMatchObject({ timeout: 1, opened: 0 });
  });

  it('does not take its own being busy for a failure of Redis', async () => {
    server.freeze();
    const reads = Array.from({ length: 10 }, () => redis.store.read(newIdentity()));
    await settled();
    await clock.jump(3 * TIMEOUT);
    server.thaw();
    expect(await Promise.all(reads)).toEqual(reads.map(() => null));
    expect(redis.connection.counts).toMatchObject({ timeout: 0, opened: 0 });
  });

  it('does without one that was killed, and finds it when it runs again', async () => {
    const calls = Array.from({ length: 20 }, () => redis.store.read(newIdentity()).catch((error: unknown) => error));
    await server.kill();
    for (const end of await Promise.all(calls)) expect(end === null || end instanceof RedisUnavailable).toBe(true);
    await until(() => redis.connection.state !== 'closed');
    expect(only(await everyCall(redis, newIdentity(), null))).toBe('unavailable');
    await rejectsAtOnce(redis);
    server = await startRedis([], { port: server.port });
    await heals(redis);
    expect(messages()).toEqual([UP, DOWN, AGAIN]);
  });

  it('comes back at once when the line was cut', async () => {
    proxy.cut();
    await until(() => redis.connection.counts.opened === 1);
    await heals(redis, 50);
  });

  it.each(['garbage', 'nonsense'] as const)('does without one that answers %s', async (mode) => {
    const lease = await redis.store.acquire(newIdentity());
    proxy.mode = mode;
    const ends = await everyCall(redis, newIdentity(), lease);
    expect(ends.filter((end) => end !== 'unavailable' && end !== 'fine')).toEqual([]);
    for (let i = 0; i < 3; i++) await redis.store.acquire(newIdentity()).catch(() => null);
    await until(() => redis.connection.state !== 'closed');
    await rejectsAtOnce(redis);
    await attempts(redis, 3);
    proxy.mode = 'through';
    await heals(redis);
  });

  it('reads from one that is full, and writes again when there is room', async () => {
    const direct = new Redis(server.url);
    later.push(async () => direct.disconnect());
    const identity = newIdentity();
    await redis.store.write(identity, await entryOf(identity, rowsOf(3000), 7), 60_000);
    const lease = await redis.store.acquire(newIdentity());
    await direct.config('SET', 'maxmemory-policy', 'noeviction');
    await direct.config('SET', 'maxmemory', '1');
    for (let i = 0; i < 10; i++) {
      const identity = newIdentity();
      await expect(redis.store.write(identity, await entryOf(identity, '{}'), 60_000)).rejects.toThrow(
        RedisUnavailable,
      );
      await expect(redis.store.acquire(identity)).rejects.toThrow(RedisUnavailable);
      await expect(redis.store.write(identity, await entryOf(identity, '{}', 8), 60_000)).rejects.toThrow(
        RedisUnavailable,
      );
    }
    expect((await redis.store.read(identity))?.fence).toBe(7);
    expect(await lease?.renew()).toBe(true);
    await lease?.release();
    expect(redis.connection.state).toBe('closed');
    expect(redis.connection.counts).toMatchObject({ refused: 30, opened: 0, timeout: 0 });
    // Said once, not thirty times.
    expect(messages()).toEqual([UP, 'Redis refuses commands: some results are not shared']);
    expect(redis.logged.join()).toContain('answered OOM');
    // A write of the connection's own is refused, too.
    await triesToWrite();
    expect(redis.connection.refusal).toBe('answered OOM');
    await direct.config('SET', 'maxmemory', '0');
    await triesToWrite();
    expect(redis.connection.refusal).toBeNull();
    expect(clock.pending).toBe(0);
    await heals(redis);
  });

  it('says that it may not write, until it may', async () => {
    const direct = new Redis(server.url);
    later.push(async () => direct.disconnect());
    await direct.call('ACL', 'SETUSER', 'default', 'resetkeys', '%R~*');
    const identity = newIdentity();
    await expect(redis.store.write(identity, await entryOf(identity, '{}'), 60_000)).rejects.toThrow(RedisUnavailable);
    expect([redis.connection.state, redis.connection.refusal]).toEqual(['closed', 'answered NOPERM']);
    await direct.call('ACL', 'SETUSER', 'default', '~*');
    await triesToWrite();
    expect(redis.connection.refusal).toBeNull();
  });

  it('leaves alone one that does not let it in, and tells no password', async () => {
    const locked = await startRedis(['--requirepass', 'right']);
    later.push(() => locked.stop());
    for (const url of [`redis://127.0.0.1:${locked.port}`, `redis://:hidden-word@127.0.0.1:${locked.port}`]) {
      const refused = open(url);
      later.push(() => refused.close());
      await refused.connection.tried;
      await rejectsAtOnce(refused);
      expect(refused.logged).toHaveLength(1);
      expect(refused.logged.join()).toMatch(/NOAUTH|WRONGPASS/);
      expect(refused.logged.join()).not.toContain('hidden-word');
    }
    const direct = new Redis(`redis://:right@127.0.0.1:${locked.port}`);
    later.push(async () => direct.disconnect());
    const admitted = open(`redis://:right@127.0.0.1:${locked.port}`);
    later.push(() => admitted.close());
    await heals(admitted);
    // Rights are taken away while it runs.
    await direct.config('SET', 'requirepass', 'another');
    await direct.call('CLIENT', 'KILL', 'TYPE', 'normal');
    await until(() => admitted.connection.counts.opened === 1);
    await attempts(admitted, 2);
    await rejectsAtOnce(admitted);
  });

  it('leaves one that does not take writes any more, and asks anew where to go', async () => {
    const direct = new Redis(server.url);
    later.push(async () => direct.disconnect());
    const connections = proxy.connections;
    await direct.replicaof('127.0.0.1', String(await freePort()));
    await expect(redis.store.acquire(newIdentity())).rejects.toThrow(RedisUnavailable);
    await until(async () => {
      if (redis.connection.state === 'open') await clock.advanceToNext();
      return proxy.connections > connections;
    });
    await direct.replicaof('NO', 'ONE');
    await heals(redis);
    expect(redis.logged.join()).toContain('READONLY');
  });

  it('closes at once, whatever Redis does, and answers nothing after that', async () => {
    proxy.mode = 'hang';
    const pending = redis.store.read(newIdentity()).catch((error: unknown) => error);
    // While time stands still.
    await redis.close();
    expect(await pending).toBeInstanceOf(RedisUnavailable);
    await expect(redis.store.read(newIdentity())).rejects.toThrow(RedisUnavailable);
    await until(() => proxy.size === 0);
  });

  it('closes at once while it is asking whether Redis is back', async () => {
    proxy.mode = 'hang';
    const hopeful = open(proxy.url);
    await until(() => proxy.size === 2);
    await hopeful.close();
    await until(() => proxy.size === 1);
    await hopeful.connection.tried;
    expect(hopeful.logged).toEqual([]);
  });
});
