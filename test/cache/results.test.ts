/** The life of answers: in a process that is alone, in one of several on a real Redis, and among these. */
import { setTimeout as sleep } from 'node:timers/promises';

import { Redis } from 'ioredis';

import type { Entry, Lease, Identity } from '../../src/cache/stores';
import { RedisUnavailable } from '../../src/redis/failure';
import type { CacheResult } from '../../src/cache/results';
import { ERRORS, type Reason, ServiceError } from '../../src/errors';
import { FairSlots } from '../../packages/duckdb-engine/src/concurrency/fair-slots';
import { ManualClock } from '../manual-clock';
import { describeWithRedis, freePort, type RedisServer, startRedis } from '../redis-server';
import { entryOf, newIdentity, rowsOf } from './entries';
import { until } from '../until';
import { failureOf, MAX_ENTRY, type Process, type ProcessOptions, Stage } from './processes';

let stage: Stage;
beforeEach(() => {
  stage = new Stage();
  const start = Date.now();
  later = (milliseconds) => void jest.spyOn(Date, 'now').mockReturnValue(start + milliseconds);
  later(0);
});
afterEach(async () => {
  jest.restoreAllMocks();
  await stage.close();
});

const fault = (reason: Reason): ServiceError => new ServiceError(reason, 'It failed.');
const textOf = ({ response }: CacheResult): string => response.bytes.toString();
const outcomesOf = (all: readonly CacheResult[]): string[] => all.map(({ outcome }) => outcome).sort();

/** Sets the clock by which answers age, from the start of the test; otherwise it stands still. */
let later: (milliseconds: number) => void;

/** Answers a question by a run that ends with that text. */
async function computed(process: Process, identity: Identity, text: string, ttl = 60_000): Promise<CacheResult> {
  const number = stage.runs.begun.length;
  const answer = process.ask(identity, { ttl });
  (await stage.runs.nth(number)).finish(text);
  return answer;
}

/** What one process does, alone or not. */
function testLife(open: (options?: ProcessOptions) => Promise<Process>): void {
  it('is a miss, then a hit with the same bytes and what remains of its lifetime', async () => {
    const process = await open();
    const identity = newIdentity();
    const miss = await computed(process, identity, '{"result":[1]}');
    expect(miss).toMatchObject({ outcome: 'miss', run: { bytesProcessed: 7n, bytesBilled: 10n }, cached: { age: 0 } });
    expect(await process.ask(identity)).toEqual({ ...miss, outcome: 'hit', run: null });
    const lifetime = miss.cached?.lifetime ?? 0;
    later(20_000);
    expect(process.results.cached(identity)?.cached).toEqual({ age: 20, lifetime });
    later(lifetime * 1000 + 100);
    expect(process.results.cached(identity)).toBeNull();
    expect(await computed(process, identity, '{"result":[2]}')).toMatchObject({ outcome: 'miss', cached: { age: 0 } });
    expect(stage.runs.begun).toHaveLength(2);
  });

  it('is one run for many who ask at once', async () => {
    const process = await open();
    const identity = newIdentity();
    const pending = Array.from({ length: 200 }, () => process.ask(identity));
    (await stage.runs.nth(0)).finish('{"result":[1]}');
    const all = await Promise.all(pending);
    expect(stage.runs.begun).toHaveLength(1);
    expect(outcomesOf(all)).toEqual([...Array<string>(199).fill('collapsed'), 'miss']);
    expect(all.filter((one) => one.run !== null).map(({ outcome }) => outcome)).toEqual(['miss']);
    expect(new Set(all.map(({ response }) => response)).size).toBe(1);
  });

  it('is shared while it is made, and not kept, where nothing is to be kept', async () => {
    const process = await open();
    const identity = newIdentity();
    const pending = [1, 2, 3].map(() => process.ask(identity, { ttl: 0 }));
    (await stage.runs.nth(0)).finish('{"result":[1]}');
    const all = await Promise.all(pending);
    expect(outcomesOf(all)).toEqual(['collapsed', 'collapsed', 'miss']);
    expect(all.map(({ cached }) => cached)).toEqual([null, null, null]);
    expect(process.results.cached(identity)).toBeNull();
    expect(await computed(process, identity, '{"result":[2]}', 0)).toMatchObject({ outcome: 'miss' });
  });

  it('frees the turn of a run that everybody has left, and begins anew for who comes after', async () => {
    const process = await open();
    const identity = newIdentity();
    const admission = new FairSlots({ perName: 1, total: 1, waiting: 10 });
    const asking = {
      run: (limits: Parameters<typeof stage.runs.begin>[0]) =>
        admission.use('somebody', limits, () => stage.runs.begin(limits, process)),
    };
    const leaving = [new AbortController(), new AbortController()];
    const left = leaving.map(({ signal }) => failureOf(process.ask(identity, { ...asking, signal })));
    const run = await stage.runs.nth(0);
    leaving[0]?.abort();
    expect(await left[0]).toMatchObject({ name: 'AbortError' });
    expect(run.aborted).toBe(false);
    leaving[1]?.abort();
    await left[1];
    await until(() => run.aborted);
    const next = process.ask(identity, asking);
    (await stage.runs.nth(1)).finish('{"result":[]}');
    expect((await next).outcome).toBe('miss');
  });

  it('ends who has no more time, and goes on for the others', async () => {
    const process = await open();
    const identity = newIdentity();
    const hasty = failureOf(process.ask(identity, { within: 50 }));
    const unlimited = process.ask(identity);
    expect(await hasty).toMatchObject({ reason: 'deadlineExceeded' });
    const run = await stage.runs.nth(0);
    expect(run.aborted).toBe(false);
    run.finish('{}');
    // Neither began it and still waits: nobody learns what it cost.
    expect(await unlimited).toMatchObject({ outcome: 'collapsed', run: null });
  });

  it('gives a run a time of its own, from its start', async () => {
    const process = await open();
    const pending = process.ask(newIdentity(), { within: 60_000, timeout: 30_000 });
    const run = await stage.runs.nth(0);
    const left = run.limits.deadline - performance.now();
    expect(left).toBeGreaterThan(0);
    expect(left).toBeLessThanOrEqual(30_000);
    run.finish('{}');
    await pending;
  });

  it('fails for all who wait, is never kept, and is tried again by the next', async () => {
    const process = await open();
    const identity = newIdentity();
    const pending = [1, 2, 3].map(() => failureOf(process.ask(identity)));
    const error = fault('invalidQuery');
    (await stage.runs.nth(0)).fail(error);
    expect(await Promise.all(pending)).toEqual([error, error, error]);
    expect(process.results.cached(identity)).toBeNull();
    await computed(process, identity, '{}');
    expect(stage.runs.begun).toHaveLength(2);
  });

  it('is refused to who was to pay, not to others who wait: each payer tries once', async () => {
    const process = await open();
    const identity = newIdentity();
    const payers = ['a', 'a', 'b', 'c', 'b', 'c', 'd'];
    const pending = payers.map((payer) =>
      process.ask(identity, { payer, run: (limits) => stage.runs.begin(limits, process) }).then(
        ({ outcome }) => outcome,
        (error: unknown) => (error as ServiceError).reason,
      ),
    );
    (await stage.runs.nth(0)).fail(fault('budgetExceeded'));
    (await stage.runs.nth(1)).fail(fault('tooManyConcurrentQueries'));
    (await stage.runs.nth(2)).fail(fault('rateLimitExceeded'));
    (await stage.runs.nth(3)).finish('{}');
    const ends = await Promise.all(pending);
    expect(stage.runs.begun).toHaveLength(4);
    const of = (payer: string): string[] => ends.filter((_, i) => payers[i] === payer);
    expect(of('a')).toEqual(['budgetExceeded', 'budgetExceeded']);
    expect(of('b')).toEqual(['tooManyConcurrentQueries', 'tooManyConcurrentQueries']);
    expect(of('c')).toEqual(['rateLimitExceeded', 'rateLimitExceeded']);
    expect(of('d')).toEqual(['miss']);
  });

  it('does not loop when every payer is refused', async () => {
    const process = await open();
    const identity = newIdentity();
    const pending = Array.from({ length: 30 }, (_, i) =>
      failureOf(
        process.ask(identity, {
          payer: `payer ${i % 10}`,
          run: (limits) => {
            void stage.runs.begin(limits, process);
            return Promise.reject(fault('budgetExceeded'));
          },
        }),
      ),
    );
    for (const error of await Promise.all(pending)) expect(error).toMatchObject({ reason: 'budgetExceeded' });
    expect(stage.runs.begun).toHaveLength(10);
  });

  describe('when it is stale and refreshing it fails', () => {
    const SERVICES_OWN = (Object.keys(ERRORS) as Reason[]).filter(
      (reason) => ERRORS[reason].http >= 500 || reason === 'tooManyConcurrentQueries',
    );
    const CALLERS_OWN = (Object.keys(ERRORS) as Reason[]).filter((reason) => !SERVICES_OWN.includes(reason));

    /** One made 10 s more than its lifetime ago. */
    async function stale(
      process: Process,
      identity = newIdentity(),
    ): Promise<{ identity: Identity; lifetime: number }> {
      const { cached } = await computed(process, identity, '{"result":["old"]}');
      const lifetime = cached?.lifetime ?? 0;
      later(lifetime * 1000 + 10_000);
      return { identity, lifetime };
    }

    it.each([...SERVICES_OWN.map(fault), new TypeError('A fault inside.')])('serves on after %s', async (error) => {
      const process = await open();
      const { identity, lifetime } = await stale(process);
      const pending = [process.ask(identity), process.ask(identity)];
      (await stage.runs.nth(1)).fail(error);
      for (const answer of await Promise.all(pending)) {
        expect(answer).toMatchObject({ outcome: 'stale', run: null, cached: { age: lifetime + 10, lifetime } });
        expect(textOf(answer)).toBe('{"result":["old"]}');
      }
    });

    it.each(CALLERS_OWN)('does not serve on after %s', async (reason) => {
      const process = await open();
      const { identity } = await stale(process);
      const pending = failureOf(process.ask(identity));
      (await stage.runs.nth(1)).fail(fault(reason));
      expect(await pending).toMatchObject({ reason });
    });

    it('serves on for who has no more time, and nothing to who has gone', async () => {
      const process = await open();
      const { identity } = await stale(process);
      const gone = new AbortController();
      const left = failureOf(process.ask(identity, { signal: gone.signal }));
      const hasty = process.ask(identity, { within: 100 });
      await stage.runs.nth(1);
      gone.abort();
      expect(await left).toMatchObject({ name: 'AbortError' });
      expect(await hasty).toMatchObject({ outcome: 'stale' });
    });

    it('is not tried again for five seconds, then once, however many ask', async () => {
      const process = await open();
      const { identity, lifetime } = await stale(process);
      const first = process.ask(identity);
      (await stage.runs.nth(1)).fail(fault('backendError'));
      await first;
      for (let i = 0; i < 50; i++) expect((await process.ask(identity)).outcome).toBe('stale');
      expect(process.results.cached(identity)).toMatchObject({ outcome: 'stale' });
      expect(stage.runs.begun).toHaveLength(2);
      later(lifetime * 1000 + 16_000);
      const next = Array.from({ length: 50 }, () => process.ask(identity));
      (await stage.runs.nth(2)).finish('{"result":["new"]}');
      for (const answer of await Promise.all(next)) expect(textOf(answer)).toBe('{"result":["new"]}');
      expect(stage.runs.begun).toHaveLength(3);
      expect((await process.ask(identity)).outcome).toBe('hit');
    });

    it('serves on for a bounded time', async () => {
      const process = await open({ staleIfError: 30_000 });
      const { identity, lifetime } = await stale(process);
      later(lifetime * 1000 + 29_000);
      const served = process.ask(identity);
      (await stage.runs.nth(1)).fail(fault('backendUnavailable'));
      expect(await served).toMatchObject({ outcome: 'stale', cached: { age: lifetime + 29 } });
      // Also within the five seconds in which nobody tries again.
      later(lifetime * 1000 + 31_000);
      expect(process.results.cached(identity)).toBeNull();
      const failed = failureOf(process.ask(identity));
      (await stage.runs.nth(2)).fail(fault('backendUnavailable'));
      expect(await failed).toMatchObject({ reason: 'backendUnavailable' });
    });

    it('never serves on where that is switched off', async () => {
      const process = await open({ staleIfError: 0 });
      const { identity } = await stale(process);
      const failed = failureOf(process.ask(identity));
      (await stage.runs.nth(1)).fail(fault('backendError'));
      expect(await failed).toMatchObject({ reason: 'backendError' });
    });
  });

  it('lives whole seconds, at most a tenth shorter than it may, and not all as long', async () => {
    const process = await open();
    const lifetimes = new Set<number>();
    for (let i = 0; i < 60; i++) {
      const { cached } = await computed(process, newIdentity(), '{}', 900_000);
      const { lifetime } = cached ?? { lifetime: 0 };
      expect(Number.isInteger(lifetime)).toBe(true);
      expect(lifetime).toBeGreaterThanOrEqual(810);
      expect(lifetime).toBeLessThanOrEqual(900);
      lifetimes.add(lifetime);
    }
    expect(lifetimes.size).toBeGreaterThan(10);
    for (const ttl of [1, 2, 9])
      expect((await computed(process, newIdentity(), '{}', ttl * 1000)).cached?.lifetime).toBe(ttl);
  });

  it('is not kept when it is too large, and says so', async () => {
    const process = await open();
    const identity = newIdentity();
    for (const run of [1, 2]) {
      const answer = await computed(process, identity, rowsOf(MAX_ENTRY));
      expect(answer).toMatchObject({ outcome: 'miss', cached: null });
      expect(stage.runs.begun).toHaveLength(run);
    }
    // Also when only its compressed forms are too much.
    const bytes = MAX_ENTRY - 5000;
    expect(await computed(process, identity, rowsOf(bytes).slice(0, bytes))).toMatchObject({
      outcome: 'miss',
      cached: null,
    });
  });

  it('is not of another question, though the name be the same', async () => {
    const process = await open();
    const identity = newIdentity();
    await computed(process, identity, '{"result":[1]}');
    const other = { ...identity, text: `${identity.text} ` };
    expect(process.results.cached(other)).toBeNull();
    expect(textOf(await computed(process, other, '{"result":[2]}'))).toBe('{"result":[2]}');
  });

  it('is taken in the order of runs, not of clocks', async () => {
    const process = await open();
    const identity = newIdentity();
    later(3_600_000);
    await computed(process, identity, '{"result":[1]}', 1000);
    // The clock is set back, and what was kept is gone from use meanwhile.
    later(-3_600_000);
    await free(process, identity);
    await process.results.refresh(process.request(identity, { run: answering('{"result":[2]}') }), () => true);
    expect(textOf(await process.ask(identity))).toBe('{"result":[2]}');
  });

  const answering = (text: string) => (limits: Parameters<typeof stage.runs.begin>[0]) => {
    void stage.runs.begin(limits, undefined as unknown as Process);
    stage.runs.begun.at(-1)?.finish(text);
    return stage.runs.begun.at(-1)?.ended ?? Promise.reject(new Error('It has begun.'));
  };

  /** Resolves when no run of it is left: what is written is written, and the right to run is free. */
  function free({ redis }: Process, identity: Identity): Promise<void> {
    return until(async () => {
      const lease = (await redis?.store.acquire(identity)) ?? null;
      await lease?.release();
      return redis === null || lease !== null;
    });
  }

  describe('refreshed before it is stale', () => {
    it('replaces what is kept, if that is due', async () => {
      const process = await open();
      const identity = newIdentity();
      const pending = process.request(identity, { run: answering('{"result":["new"]}') });
      await computed(process, identity, '{"result":["old"]}');
      await free(process, identity);
      expect(await process.results.refresh(pending, (entry) => entry === null)).toBe('not due');
      expect(textOf(await process.ask(identity))).toBe('{"result":["old"]}');
      expect(await process.results.refresh(pending, () => true)).toBe('refreshed');
      expect(await process.ask(identity)).toMatchObject({ outcome: 'hit', run: null });
      expect(textOf(await process.ask(identity))).toBe('{"result":["new"]}');
    });

    it('is left to who is at it already, and shared with the caller meanwhile', async () => {
      const process = await open();
      const identity = newIdentity();
      const refreshing = process.results.refresh(process.request(identity), () => true);
      const run = await stage.runs.nth(0);
      expect(await process.results.refresh(process.request(identity), () => true)).toBe('busy');
      const pending = process.ask(identity);
      run.finish('{}');
      expect(await refreshing).toBe('refreshed');
      expect(await pending).toMatchObject({ outcome: 'collapsed', run: null });
      expect(stage.runs.begun).toHaveLength(1);
    });

    it('fails with what the run fails with, and leaves what is kept', async () => {
      const process = await open();
      const identity = newIdentity();
      await computed(process, identity, '{"result":["old"]}');
      await free(process, identity);
      for (const reason of ['backendError', 'budgetExceeded'] as const) {
        const number = stage.runs.begun.length;
        const refreshing = failureOf(process.results.refresh(process.request(identity), () => true));
        (await stage.runs.nth(number)).fail(fault(reason));
        expect(await refreshing).toMatchObject({ reason });
        await free(process, identity);
      }
      expect(await process.ask(identity)).toMatchObject({ outcome: 'hit' });
    });

    it('keeps nobody from it by a refresh that had no time to begin', async () => {
      const process = await open();
      const identity = newIdentity();
      const late = process.request(identity, { within: -1 });
      expect(await failureOf(process.results.refresh(late, () => true))).toMatchObject({ reason: 'deadlineExceeded' });
      expect(stage.runs.begun).toHaveLength(0);
      await free(process, identity);
    });
  });

  it('leaves nothing behind at the end: what is being computed is cancelled', async () => {
    const process = await open();
    const waiter = failureOf(process.ask(newIdentity()));
    const run = await stage.runs.nth(0);
    await process.results.close();
    expect([run.aborted, process.results.inFlight]).toEqual([true, 0]);
    expect(await waiter).toMatchObject({ name: 'AbortError' });
  });
}

describe('an answer in a process that is alone', () => {
  testLife((options) => stage.open(null, options));
});

describeWithRedis('an answer in a process on a Redis', () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await startRedis();
  });
  afterAll(() => server.stop());

  testLife((options) => stage.open(server.url, options));

  it('is kept there alone where the process has no memory for it', async () => {
    for (const memory of [0, 3000]) {
      const process = await stage.open(server.url, { memory });
      const identity = newIdentity();
      const text = rowsOf(8000);
      expect(await computed(process, identity, text)).toMatchObject({ outcome: 'miss', cached: { age: 0 } });
      const runs = stage.runs.begun.length;
      const hit = await process.ask(identity);
      expect(hit).toMatchObject({ outcome: 'hit', run: null });
      expect(textOf(hit)).toBe(text);
      expect(stage.runs.begun).toHaveLength(runs);
    }
  });
});

describeWithRedis('an answer among processes on one Redis', () => {
  let server: RedisServer;
  let direct: Redis;
  beforeAll(async () => {
    server = await startRedis();
    direct = new Redis(server.url);
  });
  afterAll(async () => {
    direct.disconnect();
    await server.stop();
  });

  const open = (options: ProcessOptions = {}): Promise<Process> => stage.open(server.url, options);
  const keyOf = ({ hash }: Identity, part: string): string => `test:3:{${hash}}:${part}`;
  /** Resolves when so many processes wait for another's run. */
  const awaited = (identity: Identity, by: number): Promise<void> =>
    until(async () => (await direct.zcard(keyOf(identity, 'waiters'))) === by);

  it('is one run for many who ask all of them at once', async () => {
    const processes = await Promise.all([open(), open(), open()]);
    const identity = newIdentity();
    const pending = Array.from(
      { length: 300 },
      (_, i) => processes[i % 3]?.ask(identity) ?? Promise.reject(new Error()),
    );
    const run = await stage.runs.nth(0);
    await awaited(identity, 2);
    run.finish(rowsOf(20_000));
    const all = await Promise.all(pending);
    expect(stage.runs.begun).toHaveLength(1);
    expect(new Set(all.map(textOf))).toEqual(new Set([rowsOf(20_000)]));
    expect(outcomesOf(all)).toEqual([...Array<string>(299).fill('collapsed'), 'miss']);
    expect(all.filter((one) => one.run !== null)).toHaveLength(1);
    expect(new Set(all.map(({ cached }) => cached?.lifetime)).size).toBe(1);
    // Nobody is left waiting, and nobody holds the right to run.
    await until(async () => (await direct.exists(keyOf(identity, 'lease'), keyOf(identity, 'waiters'))) === 0);
  });

  it('is a hit in a process that has not asked before', async () => {
    const [one, other] = await Promise.all([open(), open()]);
    const identity = newIdentity();
    const { cached } = await computed(one, identity, rowsOf(3000));
    await until(async () => (await direct.exists(keyOf(identity, 'entry'))) === 1);
    later(7000);
    const hits = await Promise.all([1, 2, 3].map(() => other.ask(identity)));
    for (const hit of hits)
      expect(hit).toMatchObject({ outcome: 'hit', cached: { age: 7, lifetime: cached?.lifetime } });
    expect(other.results.cached(identity)).toMatchObject({ outcome: 'hit' });
    expect(stage.runs.begun).toHaveLength(1);
  });

  it('goes on being made for who waits elsewhere, until they have left too', async () => {
    const [holder, other] = await Promise.all([open(), open()]);
    const identity = newIdentity();
    const leaving = [new AbortController(), new AbortController()];
    const acquire = jest.spyOn(holder.redis?.store ?? fail(), 'acquire');
    const here = failureOf(holder.ask(identity, { signal: leaving[0]?.signal }));
    const run = await stage.runs.nth(0);
    const there = failureOf(other.ask(identity, { signal: leaving[1]?.signal }));
    await awaited(identity, 1);
    const lease = (await acquire.mock.results[0]?.value) as Lease;
    const checks = jest.spyOn(lease, 'awaited');
    leaving[0]?.abort();
    await here;
    // It has looked more than once whether somebody waits elsewhere.
    await until(() => checks.mock.calls.length >= 3);
    expect(run.aborted).toBe(false);
    leaving[1]?.abort();
    await there;
    await until(() => run.aborted);
    // The right to run is free at once.
    expect(await computed(other, identity, '{}')).toMatchObject({ outcome: 'miss' });
  });

  it('reaches who waits elsewhere when everybody has left before the right to make it is known to be granted', async () => {
    const [holder, other] = await Promise.all([open(), open()]);
    const identity = newIdentity();
    const leaving = new AbortController();
    const store = holder.redis?.store ?? fail();
    const acquire = store.acquire.bind(store);
    let reply = (): void => undefined;
    const late = new Promise<void>((resolve) => (reply = resolve));
    jest.spyOn(store, 'acquire').mockImplementationOnce(async (of) => {
      const lease = await acquire(of);
      await late;
      return lease;
    });
    const here = failureOf(holder.ask(identity, { signal: leaving.signal }));
    await until(async () => (await direct.exists(keyOf(identity, 'lease'))) === 1);
    const there = other.ask(identity);
    await awaited(identity, 1);
    leaving.abort();
    await here;
    reply();
    const run = await stage.runs.nth(0);
    expect(run.by).toBe(holder);
    run.finish('{"result":[1]}');
    expect(await there).toMatchObject({ outcome: 'collapsed', run: null });
    expect(stage.runs.begun).toHaveLength(1);
  });

  it.each(['fails', 'ends', 'ends its process'])('is made by the next when the one who makes it %s', async (how) => {
    const [holder, ...others] = await Promise.all([open(), open(), open()]);
    const identity = newIdentity();
    const leaving = new AbortController();
    const acquire = jest.spyOn(holder.redis?.store ?? fail(), 'acquire');
    const here = failureOf(holder.ask(identity, { signal: leaving.signal }));
    const run = await stage.runs.nth(0);
    // To leave is to believe that nobody waits.
    const lease = (await acquire.mock.results[0]?.value) as Lease;
    const blind = jest.spyOn(lease, 'awaited');
    const there = others.map((other) => other.ask(identity));
    await awaited(identity, 2);
    if (how === 'fails') run.fail(fault('budgetExceeded'));
    else if (how === 'ends its process') await holder.close();
    else {
      blind.mockResolvedValue(false);
      leaving.abort();
    }
    await here;
    const next = await stage.runs.nth(1);
    // Before a lease would end by itself.
    expect(next.by).not.toBe(holder);
    next.finish('{"result":[1]}');
    expect(outcomesOf(await Promise.all(there))).toEqual(['collapsed', 'miss']);
    expect(stage.runs.begun).toHaveLength(2);
  });

  it('is made by the next within the lease time when the process that makes it has died', async () => {
    const dead = await open({ leaseTime: 500, dead: true });
    const other = await open();
    const identity = newIdentity();
    void dead.ask(identity).catch(() => undefined);
    await stage.runs.nth(0);
    const pending = other.ask(identity);
    const run = await stage.runs.nth(1);
    run.finish('{"result":[1]}');
    expect(await pending).toMatchObject({ outcome: 'miss' });
  });

  it('is not brought back by a process that lost the right to make it', async () => {
    const slow = await open({ leaseTime: 500, dead: true });
    const other = await open();
    const identity = newIdentity();
    const first = slow.ask(identity);
    const old = await stage.runs.nth(0);
    expect((await computed(other, identity, '{"result":["new"]}')).outcome).toBe('miss');
    const fence = await until(async () => (await other.redis?.store.fenceOf(identity)) !== null).then(() =>
      other.redis?.store.fenceOf(identity),
    );
    // At once, not only when its own is trusted no more: the clock stands still.
    old.finish('{"result":["old"]}');
    expect(textOf(await first)).toBe('{"result":["old"]}');
    // It takes over the newer one itself, behind its answer.
    await until(async () => textOf(await slow.ask(identity)) === '{"result":["new"]}');
    expect(await other.redis?.store.fenceOf(identity)).toBe(fence);
    expect(textOf(await (await open()).ask(identity))).toBe('{"result":["new"]}');
    expect(stage.runs.begun).toHaveLength(2);
  });

  it('is not replaced by a run that began before it without a lease', async () => {
    const cut = await open();
    const other = await open();
    const identity = newIdentity();
    const acquire = jest.spyOn(cut.redis?.store ?? fail(), 'acquire').mockImplementation(unavailable);
    const first = cut.ask(identity);
    const old = await stage.runs.nth(0);
    acquire.mockRestore();
    await sleep(5);
    await computed(other, identity, '{"result":["new"]}');
    await until(async () => (await direct.exists(keyOf(identity, 'entry'))) === 1);
    old.finish('{"result":["old"]}');
    await first;
    await until(async () => textOf(await cut.ask(identity)) === '{"result":["new"]}');
    expect(textOf(await (await open()).ask(identity))).toBe('{"result":["new"]}');
  });

  it('may take longer than a lease: it is renewed', async () => {
    const [holder, other] = await Promise.all([open({ renewal: 50 }), open()]);
    const identity = newIdentity();
    const pending = [holder.ask(identity)];
    const run = await stage.runs.nth(0);
    pending.push(other.ask(identity));
    await awaited(identity, 1);
    // Most of its time has passed.
    await direct.pexpire(keyOf(identity, 'lease'), 30_000);
    await until(async () => (await direct.pttl(keyOf(identity, 'lease'))) > 30_000);
    expect(stage.runs.begun).toHaveLength(1);
    run.finish('{}');
    expect(outcomesOf(await Promise.all(pending))).toEqual(['collapsed', 'miss']);
  });

  it('that another process has made since is taken over after a while, behind an answer', async () => {
    const [one, other] = await Promise.all([open(), open()]);
    const identity = newIdentity();
    await computed(one, identity, '{"result":["old"]}');
    await until(async () => (await direct.exists(keyOf(identity, 'entry'))) === 1);
    const before = await one.redis?.store.fenceOf(identity);
    const refreshing = other.results.refresh(other.request(identity), () => true);
    (await stage.runs.nth(1)).finish('{"result":["new"]}');
    expect(await refreshing).toBe('refreshed');
    await until(async () => (await one.redis?.store.fenceOf(identity)) !== before);
    const asks = jest.spyOn(one.redis?.store ?? fail(), 'fenceOf');
    for (let i = 0; i < 20; i++) expect(textOf(await one.ask(identity))).toBe('{"result":["old"]}');
    expect(asks).not.toHaveBeenCalled();
    later(6000);
    expect(textOf(await one.ask(identity))).toBe('{"result":["old"]}');
    await until(async () => textOf(await one.ask(identity)) === '{"result":["new"]}');
    // Not asked for every hit.
    expect(asks).toHaveBeenCalledTimes(1);
    expect(stage.runs.begun).toHaveLength(2);
  });

  it('is not made again by who found none before another made it', async () => {
    const [one, other] = await Promise.all([open(), open()]);
    const identity = newIdentity();
    const store = other.redis?.store ?? fail();
    const acquire = store.acquire.bind(store);
    let goOn!: () => void;
    const afterThat = new Promise<void>((resolve) => (goOn = resolve));
    const late = jest.spyOn(store, 'acquire').mockImplementation((wanted) => afterThat.then(() => acquire(wanted)));
    const second = other.ask(identity);
    await until(() => late.mock.calls.length === 1);
    await computed(one, identity, '{"result":[1]}');
    await until(async () => (await direct.exists(keyOf(identity, 'entry'))) === 1);
    await until(async () => (await direct.exists(keyOf(identity, 'lease'))) === 0);
    goOn();
    expect(await second).toMatchObject({ outcome: 'hit', run: null });
    expect(stage.runs.begun).toHaveLength(1);
    await until(async () => (await direct.exists(keyOf(identity, 'lease'))) === 0);
  });

  it('is not refreshed again by who found it due before another made it', async () => {
    const [one, other] = await Promise.all([open(), open()]);
    const identity = newIdentity();
    const store = other.redis?.store ?? fail();
    const acquire = store.acquire.bind(store);
    let finish!: () => void;
    const afterThat = new Promise<void>((resolve) => (finish = resolve));
    const late = jest.spyOn(store, 'acquire').mockImplementation((wanted) => afterThat.then(() => acquire(wanted)));
    const isDue = (entry: Entry | null): boolean => entry === null;
    const second = other.results.refresh(other.request(identity), isDue);
    await until(() => late.mock.calls.length === 1);
    const first = one.results.refresh(one.request(identity), isDue);
    (await stage.runs.nth(0)).finish('{}');
    expect(await first).toBe('refreshed');
    await until(async () => (await direct.exists(keyOf(identity, 'entry'))) === 1);
    await until(async () => (await direct.exists(keyOf(identity, 'lease'))) === 0);
    finish();
    expect(await second).toBe('not due');
    expect(stage.runs.begun).toHaveLength(1);
    await until(async () => (await direct.exists(keyOf(identity, 'lease'))) === 0);
  });

  it('serves on stale in a process that has never made it, with its true age', async () => {
    const [one, other] = await Promise.all([open(), open()]);
    const identity = newIdentity();
    const { cached } = await computed(one, identity, '{"result":["old"]}');
    await until(async () => (await direct.exists(keyOf(identity, 'entry'))) === 1);
    const lifetime = cached?.lifetime ?? 0;
    later(lifetime * 1000 + 3000);
    const pending = other.ask(identity);
    (await stage.runs.nth(1)).fail(fault('backendUnavailable'));
    expect(await pending).toMatchObject({ outcome: 'stale', cached: { age: lifetime + 3, lifetime } });
  });

  it('is made by each on its own when what they share is lost meanwhile, and the newer one stays', async () => {
    const [one, other] = await Promise.all([open(), open()]);
    const identity = newIdentity();
    const first = one.ask(identity);
    const run = await stage.runs.nth(0);
    const second = other.ask(identity);
    await awaited(identity, 1);
    await direct.flushall();
    (await stage.runs.nth(1)).finish('{"result":["second"]}');
    expect(textOf(await second)).toBe('{"result":["second"]}');
    await until(async () => (await direct.exists(keyOf(identity, 'entry'))) === 1);
    run.finish('{"result":["first"]}');
    expect(textOf(await first)).toBe('{"result":["first"]}');
    await until(async () => textOf(await one.ask(identity)) === '{"result":["second"]}');
    expect(textOf(await (await open()).ask(identity))).toBe('{"result":["second"]}');
  });

  it('is found among nonsense', async () => {
    const process = await open();
    const identity = newIdentity();
    await direct.set(keyOf(identity, 'entry'), 'nonsense');
    expect((await computed(process, identity, '{}')).outcome).toBe('miss');
    const other = await open();
    await until(async () => (await direct.type(keyOf(identity, 'entry'))) === 'hash');
    expect((await other.ask(identity)).outcome).toBe('hit');
    // One that cannot be read, though its fence can.
    const damaged = newIdentity();
    await direct.hset(keyOf(damaged, 'entry'), { fence: '7', question: damaged.text });
    expect((await computed(process, damaged, '{}')).outcome).toBe('miss');
    const unreadable = newIdentity();
    await direct.hset(keyOf(unreadable, 'entry'), { fence: '7', question: unreadable.text });
    const refreshing = process.results.refresh(process.request(unreadable), (entry) => entry === null);
    (await stage.runs.nth(2)).finish('{}');
    expect(await refreshing).toBe('refreshed');
    // And one from a clock that is ahead.
    const ahead = newIdentity();
    const fence = (Date.now() + 3_600_000) * 1000;
    const entry = { ...(await entryOf(ahead, '{"result":["ahead"]}', fence)), createdAt: 5, lifetime: 1000 };
    await process.redis?.store.write(ahead, entry, 60_000);
    expect(textOf(await computed(process, ahead, '{"result":["now"]}'))).toBe('{"result":["now"]}');
    await until(async () => ((await process.redis?.store.fenceOf(ahead)) ?? 0) > fence);
    expect(textOf(await other.ask(ahead))).toBe('{"result":["now"]}');
  });
});

describeWithRedis('an answer when Redis fails', () => {
  /** Milliseconds that a command may take. */
  const TIMEOUT = 150;
  let server: RedisServer;
  let clock: ManualClock;
  beforeEach(async () => {
    clock = new ManualClock();
    server = await startRedis();
  });
  afterEach(async () => {
    server.thaw();
    await passing(stage.close());
    await server.stop();
  });

  const open = (): Promise<Process> => stage.open(server.url, { timeout: TIMEOUT, clock });

  /** What comes when nothing is waited for but the timeouts of commands that Redis does not answer. */
  async function passing<T>(outcome: Promise<T>): Promise<T> {
    let ended = false;
    void outcome.catch(() => undefined).finally(() => (ended = true));
    await until(async () => {
      if (!ended) await clock.advance(TIMEOUT / 5);
      return ended;
    });
    return outcome;
  }

  async function promptly(process: Process, identity: Identity): Promise<CacheResult> {
    return passing(computed(process, identity, '{}'));
  }

  it('is made and kept by each process alone while Redis is dead, and shared again when it is back', async () => {
    const port = await freePort();
    const url = `redis://127.0.0.1:${port}`;
    const [one, other] = await Promise.all([stage.open(url), stage.open(url)]);
    const identity = newIdentity();
    expect((await promptly(one, identity)).outcome).toBe('miss');
    expect((await promptly(other, identity)).outcome).toBe('miss');
    expect((await one.ask(identity)).outcome).toBe('hit');
    const back = await startRedis([], { port });
    try {
      await until(() => [one, other].every(({ redis }) => redis?.connection.state === 'closed'));
      const shared = newIdentity();
      await computed(one, shared, '{"result":[1]}');
      await until(async () => (await other.redis?.store.fenceOf(shared)) !== null);
      expect((await other.ask(shared)).outcome).toBe('hit');
      await stage.close();
    } finally {
      await back.stop();
    }
  });

  it.each(['dies', 'hangs'])('reaches everybody who waits for it elsewhere though Redis %s', async (how) => {
    const [one, other] = await Promise.all([open(), open()]);
    const identity = newIdentity();
    const first = one.ask(identity);
    const run = await stage.runs.nth(0);
    const waits = jest.spyOn(other.redis?.store ?? fail(), 'await');
    const second = other.ask(identity);
    await until(() => waits.mock.calls.length > 0);
    if (how === 'dies') await server.kill();
    else server.freeze();
    (await passing(stage.runs.nth(1))).finish('{"result":["second"]}');
    run.finish('{"result":["first"]}');
    const both = await passing(Promise.all([first, second]));
    expect(both.map(textOf)).toEqual(['{"result":["first"]}', '{"result":["second"]}']);
    for (const process of [one, other]) for (let i = 0; i < 5; i++) await promptly(process, newIdentity());
    expect((await one.ask(identity)).outcome).toBe('hit');
    // From now on it is left alone: nothing waits for it at all.
    for (const { redis } of [one, other]) expect(redis?.connection.state).not.toBe('closed');
    const now = clock.monotonic();
    await computed(one, newIdentity(), '{}');
    expect(clock.monotonic()).toBe(now);
  });

  it('does not keep a process from ending', async () => {
    const process = await open();
    const waiter = failureOf(process.ask(newIdentity()));
    await stage.runs.nth(0);
    server.freeze();
    const began = clock.monotonic();
    await passing(process.close());
    expect(clock.monotonic() - began).toBeLessThanOrEqual(3 * TIMEOUT);
    expect(await waiter).toMatchObject({ name: 'AbortError' });
  });
});

function unavailable(): Promise<never> {
  return Promise.reject(new RedisUnavailable('Cut off.'));
}

function fail(): never {
  throw new Error('There is one.');
}
