import { setTimeout as sleep } from 'node:timers/promises';

import { FairSlots } from '../../packages/duckdb-engine/src/concurrency/fair-slots';
import { admissionBounds, exportSlots } from '../../src/limits/admission';
import { laneOf } from '../../src/run/export';
import { Tails } from '../../src/run/tail/tails';
import { Cursors } from '../../src/run/tail/types';

let test: AbortController;
beforeEach(() => {
  test = new AbortController();
});
// What still waits at the end of a test goes away.
afterEach(() => {
  test.abort();
});

/** Runs that begin when they are let in and end when they are to. */
class Runs {
  readonly begun: string[] = [];
  readonly #ends = new Map<string, () => void>();
  readonly all: Promise<unknown>[] = [];

  constructor(private readonly admission: FairSlots) {}

  start(name: string, limits: { signal?: AbortSignal; within?: number } = {}): Promise<string> {
    const { signal = test.signal, within = 10_000 } = limits;
    const key = name.charAt(0);
    const run = this.admission.use(key, { deadline: performance.now() + within, signal }, async () => {
      this.begun.push(name);
      await new Promise<void>((resolve) => this.#ends.set(name, resolve));
      return name;
    });
    this.all.push(run.catch(() => undefined));
    return run;
  }

  async end(name: string): Promise<void> {
    this.#ends.get(name)?.();
    await sleep(0);
  }
}

function runs(bounds: Partial<ConstructorParameters<typeof FairSlots>[0]> = {}) {
  const admission = new FairSlots({ perName: 2, total: 100, waiting: 4, ...bounds });
  return { admission, runs: new Runs(admission) };
}

it('goes round the keys, oldest run of each first', async () => {
  const { runs: all } = runs({ perName: 10, total: 1, waiting: 10 });
  for (const name of ['z', 'a1', 'a2', 'a3', 'b1', 'b2', 'c1']) void all.start(name);
  for (const name of ['z', 'a1', 'b1', 'c1', 'a2', 'b2', 'a3']) {
    await sleep(0);
    expect(all.begun.at(-1)).toBe(name);
    await all.end(name);
  }
  await Promise.all(all.all);
});

it('refuses only when the queue is full', async () => {
  const { runs: all } = runs({ perName: 1, waiting: 2 });
  for (const name of ['a1', 'a2', 'b1', 'b2']) void all.start(name);
  await expect(all.start('a3')).rejects.toMatchObject({
    reason: 'tooManyConcurrentQueries',
    details: { retryAfter: 1 },
  });
  // Another key that need not wait is not refused.
  void all.start('c1');
  await sleep(0);
  expect(all.begun).toEqual(['a1', 'b1', 'c1']);
});

it('ends at the deadline, and frees the place in the queue', async () => {
  const { runs: all, admission } = runs({ perName: 1, waiting: 1 });
  void all.start('a1');
  await expect(all.start('a2', { within: 20 })).rejects.toMatchObject({ reason: 'deadlineExceeded' });
  expect(admission.waiting).toBe(0);
  void all.start('a3');
  await all.end('a1');
  expect(all.begun).toEqual(['a1', 'a3']);
});

it('ends when nobody waits any more', async () => {
  const { runs: all, admission } = runs({ perName: 1 });
  void all.start('a1');
  const gone = new AbortController();
  const waiting = all.start('a2', { signal: gone.signal });
  gone.abort();
  await expect(waiting).rejects.toMatchObject({ name: 'AbortError' });
  expect(admission.waiting).toBe(0);
  await expect(all.start('b1', { signal: gone.signal })).rejects.toMatchObject({ name: 'AbortError' });
  expect(all.begun).toEqual(['a1']);
});

it('frees the place of a run that fails', async () => {
  const { runs: all, admission } = runs({ perName: 1 });
  const limits = { deadline: performance.now() + 1000, signal: test.signal };
  await expect(admission.use('a', limits, () => Promise.reject(new Error('broken')))).rejects.toThrow('broken');
  void all.start('a1');
  await sleep(0);
  expect(all.begun).toEqual(['a1']);
});

it('never runs more than its bounds, and everything in the end', async () => {
  const admission = new FairSlots({ perName: 3, total: 5, waiting: 1000 });
  const running = new Map<string, number>();
  let total = 0;
  let done = 0;
  await Promise.all(
    Array.from({ length: 300 }, async (_, i) => {
      const key = 'abcd'[i % 4] ?? 'a';
      await sleep(Math.random() * 20);
      const limits = { deadline: performance.now() + 10_000, signal: new AbortController().signal };
      await admission.use(key, limits, async () => {
        running.set(key, (running.get(key) ?? 0) + 1);
        total++;
        expect(running.get(key)).toBeLessThanOrEqual(3);
        expect(total).toBeLessThanOrEqual(5);
        await sleep(Math.random() * 3);
        total--;
        running.set(key, (running.get(key) ?? 0) - 1);
        done++;
      });
    }),
  );
  expect(done).toBe(300);
  expect(admission.waiting).toBe(0);
});

it.each([
  [{ maxRunningPerKey: 16, maxRunning: 64, maxWaiting: 100 }, undefined, { perName: 16, total: 64 }],
  [{ maxRunningPerKey: 16, maxRunning: 64, maxWaiting: 100 }, 4, { perName: 2, perNameBesideOthers: 1, total: 4 }],
  [{ maxRunningPerKey: 1, maxRunning: 64, maxWaiting: 100 }, 4, { perName: 1, perNameBesideOthers: 1, total: 4 }],
  [{ maxRunningPerKey: 3, maxRunning: 2, maxWaiting: 100 }, 4, { perName: 1, perNameBesideOthers: 1, total: 2 }],
  [{ maxRunningPerKey: 3, maxRunning: 1, maxWaiting: 100 }, 4, { perName: 1, perNameBesideOthers: 1, total: 1 }],
])('of %j, an engine of %s queries at once gets %j', (allowed, concurrency, bounds) => {
  const engine = concurrency === undefined ? {} : { concurrency };
  expect(admissionBounds(allowed, engine)).toEqual({ ...bounds, waiting: 100 });
});

it('lets exports of one user hold up neither exports nor runs of another of the same issuer', async () => {
  const begun: string[] = [];
  const use = (slots: FairSlots, name: string, what: string): void => {
    const work = (): Promise<void> => {
      begun.push(what);
      return new Promise((resolve) => test.signal.addEventListener('abort', () => resolve(), { once: true }));
    };
    slots.use(name, { deadline: performance.now() + 10_000, signal: test.signal }, work).catch(() => undefined);
  };
  const exports = exportSlots({});
  for (const user of ['a', 'a', 'b', 'c', 'd']) use(exports, `app/${user}`, `export ${user}`);
  use(exports, 'key', 'export key');
  await sleep(0);
  expect(begun.splice(0)).toEqual(['export a', 'export b', 'export c', 'export key']);
  const bounds = { maxRunningPerKey: 16, maxRunning: 64, maxWaiting: 100 };
  const runs = new FairSlots(admissionBounds(bounds, { concurrency: 4 }));
  use(runs, 'key', 'run key');
  use(runs, laneOf('app/a'), 'export a');
  use(runs, 'app/b', 'run b');
  await sleep(0);
  expect(begun).toEqual(['run key', 'export a', 'run b']);
});

it('leaves live tails to others, however many users of one issuer listen', () => {
  const nothing = (): void => undefined;
  const ends = { onRows: nothing, onEnd: nothing, onFailure: nothing };
  const tails = new Tails({ cursors: new Cursors(null), mostPerKey: 3, most: 10, endOf: () => null, ...ends });
  const tooMany = expect.objectContaining({ reason: 'tooManyConcurrentQueries' });
  const slots = ['a', 'a', 'a', 'b', 'c'].map((user) => tails.reserve({ name: `app/${user}` }));
  for (const name of ['app/a', 'app/d']) expect(() => tails.reserve({ name })).toThrow(tooMany);
  for (const name of ['key', 'key', 'key', 'other/a', 'other/a']) tails.reserve({ name });
  expect(() => tails.reserve({ name: 'other/b' })).toThrow(tooMany);
  for (const slot of slots) {
    slot.release();
    slot.release();
  }
  expect(() => tails.reserve({ name: 'app/d' })).not.toThrow();
});
