import type { RunLimits } from '../../src/concurrency/deadline';
import { fairShare, FairSlots, SharedNames } from '../../src/concurrency/fair-slots';
import { ManualClock, settled } from '../../../../test/manual-clock';

let test: AbortController;
beforeEach(() => {
  test = new AbortController();
});
// Who still waits at the end of a test goes away.
afterEach(() => {
  test.abort();
});

/** Holders of slots, who hold them until they are to let go. */
class Holders {
  readonly order: string[] = [];
  readonly #ends = new Map<string, () => void>();

  constructor(private readonly slots: FairSlots) {}

  start(...names: readonly string[]): void {
    for (const name of names) {
      const limits = { deadline: performance.now() + 60_000, signal: test.signal };
      const held = this.slots.use(name.charAt(0), limits, () => {
        this.order.push(name);
        return new Promise<void>((resolve) => this.#ends.set(name, resolve));
      });
      held.catch(() => undefined);
    }
  }

  async end(name: string): Promise<void> {
    this.#ends.get(name)?.();
    await new Promise((resolve) => setImmediate(resolve));
  }
}

it('leave some for another name, whatever one name wants', async () => {
  const slots = new FairSlots({ total: 4, perName: fairShare(4) });
  const holders = new Holders(slots);
  holders.start('a1', 'a2', 'a3', 'a4', 'b1', 'b2', 'b3');
  await holders.end('nobody');
  expect(holders.order).toEqual(['a1', 'a2', 'b1', 'b2']);
  expect([slots.held, slots.waiting]).toEqual([4, 3]);
  for (const name of ['b1', 'b2', 'b3']) await holders.end(name);
  // Two slots are free now, and stay so: they are not for the name that has its share.
  expect(holders.order).toEqual(['a1', 'a2', 'b1', 'b2', 'b3']);
  expect([slots.held, slots.waiting]).toEqual([2, 2]);
  holders.start('c1');
  await holders.end('a1');
  expect(holders.order.slice(5)).toEqual(['c1', 'a3']);
});

it('a name gets fewer slots while another is about', async () => {
  const clock = new ManualClock();
  const slots = new FairSlots({ total: 4, perName: 2, perNameBesideOthers: 1 }, clock);
  const holders = new Holders(slots);
  holders.start('a1', 'a2', 'a3');
  await settled();
  expect(holders.order).toEqual(['a1', 'a2']);
  holders.start('b1', 'b2');
  await settled();
  expect(holders.order.slice(2)).toEqual(['b1']);
  // What runs goes on; then one at a time.
  await holders.end('a1');
  expect(holders.order.slice(3)).toEqual([]);
  await holders.end('a2');
  expect(holders.order.slice(3)).toEqual(['a3']);
  await holders.end('b1');
  await holders.end('b2');
  await holders.end('a3');
  await clock.advance(10_001);
  holders.start('a4', 'a5');
  await settled();
  expect(holders.order.slice(5)).toEqual(['a4', 'a5']);
});

it('a name that works for long next to others pauses between two works, and one that is alone does not', async () => {
  const clock = new ManualClock();
  const beside = new FairSlots({ total: 4, perName: 2 }, clock);
  const slots = new FairSlots({ total: 4, perName: 1, pause: { beyond: 100, times: 2, beside } }, clock);
  const holders = new Holders(slots);
  holders.start('a1', 'a2', 'a3', 'a4', 'a5');
  await settled();
  await clock.advance(1_100);
  await holders.end('a1');
  expect(holders.order).toEqual(['a1', 'a2']);
  // Another is about, among those that count as well.
  await beside.use('b', { deadline: clock.monotonic() + 1_000, signal: test.signal }, () => Promise.resolve());
  await clock.advance(100);
  await holders.end('a2');
  expect(holders.order.slice(2)).toEqual(['a3']);
  await clock.advance(600);
  await holders.end('a3');
  expect([slots.held, slots.waiting]).toEqual([1, 2]);
  await clock.advance(999);
  expect(holders.order.slice(3)).toEqual([]);
  await clock.advance(1);
  expect(holders.order.slice(3)).toEqual(['a4']);
  // The others do not wait for it.
  holders.start('c1');
  await settled();
  expect(holders.order.slice(4)).toEqual(['c1']);
  await clock.advance(600);
  await holders.end('a4');
  await holders.end('c1');
  await clock.advance(1_000);
  await holders.end('a5');
  expect([slots.held, slots.waiting]).toEqual([0, 0]);
});

it('no name fills the queue for the others', async () => {
  const slots = new FairSlots({ total: 1, perName: 1, waiting: 4 });
  const answers: string[] = [];
  let end = (): void => undefined;
  const use = (name: string): void => {
    const work = (): Promise<void> => {
      answers.push(name);
      return Promise.resolve();
    };
    const limits = { deadline: performance.now() + 60_000, signal: test.signal };
    slots.use(name.charAt(0), limits, work).catch((error: unknown) => {
      answers.push(`${name} ${(error as { reason: string }).reason}`);
    });
  };
  const first = slots.use('a', { deadline: performance.now() + 60_000, signal: test.signal }, () => {
    return new Promise<void>((resolve) => (end = resolve));
  });
  for (const name of ['a1', 'a2', 'a3', 'a4']) use(name);
  for (const [name, refused] of [
    ['a5', 'a5'],
    // The newest of the name with most makes room, until another would gain nothing by it.
    ['b1', 'a4'],
    ['c1', 'a3'],
    ['b2', 'b2'],
    ['d1', 'a2'],
    ['e1', 'e1'],
  ] as const) {
    use(name);
    await settled();
    expect(answers.splice(0)).toEqual([`${refused} tooManyConcurrentQueries`]);
    expect(slots.waiting).toBe(4);
  }
  end();
  await first;
  await settled();
  expect(answers).toEqual(['a1', 'b1', 'c1', 'd1']);
  expect([slots.held, slots.waiting]).toEqual([0, 0]);
});

it('what is later waits until nothing else of its name does, and delays no other name', async () => {
  const slots = new FairSlots({ total: 1, perName: 1, waiting: 4 });
  const order: string[] = [];
  const limits = { deadline: performance.now() + 60_000, signal: test.signal };
  const start = (name: string, isLater = false): Promise<void> =>
    slots.use(
      name.charAt(0),
      limits,
      () => {
        order.push(name);
        return new Promise((resolve) => setImmediate(resolve));
      },
      isLater,
    );
  const first = [start('a1'), start('a2', true)];
  const newest = expect(start('a3', true)).rejects.toMatchObject({ reason: 'tooManyConcurrentQueries' });
  // The queue is full with the last of these: the newest of the later ones goes.
  const others = [start('a4'), start('b1', true), start('b2')];
  await Promise.all([...first, newest, ...others]);
  expect(order).toEqual(['a1', 'a4', 'b2', 'a2', 'b1']);
});

it('a single slot is everybody’s', () => {
  expect([1, 2, 3, 4].map(fairShare)).toEqual([1, 1, 1, 2]);
});

describe('slots of one name', () => {
  let clock: ManualClock;
  beforeEach(() => {
    clock = new ManualClock();
  });
  const slotsOf = (total: number): FairSlots => new FairSlots({ total, perName: total }, clock);
  const limits = (milliseconds = 5_000, signal: AbortSignal = test.signal): RunLimits => ({
    deadline: clock.monotonic() + milliseconds,
    signal,
  });

  it('are released after a failure', async () => {
    const slots = slotsOf(1);
    await expect(slots.use('', limits(), () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(await slots.use('', limits(), () => Promise.resolve('yes'))).toBe('yes');
  });

  it('are not handed to a caller that was cancelled or whose deadline passed', async () => {
    const slots = slotsOf(1);
    let end = (): void => undefined;
    const first = slots.use('', limits(), () => new Promise<void>((resolve) => (end = resolve)));
    const cancellation = new AbortController();
    const never = jest.fn(() => Promise.resolve());
    const late = expect(slots.use('', limits(20), never)).rejects.toMatchObject({ reason: 'deadlineExceeded' });
    const left = expect(slots.use('', limits(5_000, cancellation.signal), never)).rejects.toMatchObject({
      name: 'AbortError',
    });
    const patient = slots.use('', limits(), () => Promise.resolve('patient'));
    cancellation.abort();
    await clock.advance(20);
    await Promise.all([late, left]);
    end();
    expect(await patient).toBe('patient');
    await first;
    expect(never).not.toHaveBeenCalled();
    expect([slots.held, slots.waiting]).toEqual([0, 0]);
  });
});

describe('users of one issuer', () => {
  const limits = (): RunLimits => ({ deadline: performance.now() + 60_000, signal: test.signal });
  /** Takes slots for `name`, one for each of `runs`. */
  const take = (slots: FairSlots, order: string[], name: string, runs: number, ends: (() => void)[] = []): void => {
    for (let i = 0; i < runs; i++) {
      const run = (): Promise<void> => {
        order.push(name);
        return new Promise((resolve) => ends.push(resolve));
      };
      slots.use(name, limits(), run).catch(() => undefined);
    }
  };

  it('have a quarter of its slots each, two at least, and together no more than a key', async () => {
    const slots = new FairSlots({ total: 100, perName: 16 });
    const order: string[] = [];
    take(slots, order, 'app/a', 10);
    await settled();
    expect(order).toHaveLength(4);
    for (const user of ['b', 'c', 'd', 'e', 'f']) take(slots, order, `app/${user}`, 10);
    take(slots, order, 'key', 3);
    await settled();
    expect(order.filter((name) => name.startsWith('app/'))).toHaveLength(16);
    expect(order.filter((name) => name === 'key')).toHaveLength(3);
    const few = new FairSlots({ total: 100, perName: 4 });
    const two: string[] = [];
    take(few, two, 'app/a', 10);
    await settled();
    expect(two).toHaveLength(2);
  });

  it('have one slot each where a name has one, and together those of a group', async () => {
    const slots = new FairSlots({ total: 4, perName: 1, perGroup: 3 });
    const order: string[] = [];
    for (const name of ['app/a', 'app/b', 'app/c', 'app/d', 'key']) take(slots, order, name, 2);
    await settled();
    expect(order).toEqual(['app/a', 'app/b', 'app/c', 'key']);
  });

  it('do not fill the queue for keys, however many they are, nor one of them for the others', async () => {
    const slots = new FairSlots({ total: 1, perName: 1, waiting: 4 });
    const order: string[] = [];
    const refused: string[] = [];
    take(slots, order, 'first', 1);
    const wait = (name: string): Promise<void> =>
      slots.use(name, limits(), () => Promise.resolve()).catch(() => void refused.push(name));
    for (const name of ['app/a', 'app/b', 'app/c', 'app/d']) void wait(name);
    for (const [name, out] of [
      ['key', 'app/d'],
      ['key', 'app/c'],
      ['key', 'key'],
      ['app/c', 'app/c'],
      ['other/a', 'app/b'],
    ] as const) {
      void wait(name);
      await settled();
      expect([name, ...refused.splice(0)]).toEqual([name, out]);
    }
    const own = new FairSlots({ total: 1, perName: 1, waiting: 3 });
    take(own, order, 'first', 1);
    const waitHere = (name: string): Promise<void> =>
      own.use(name, limits(), () => Promise.resolve()).catch(() => void refused.push(name));
    for (const name of ['app/a', 'app/a', 'app/a', 'app/b']) void waitHere(name);
    await settled();
    expect(refused).toEqual(['app/a']);
  });

  it('take turns among themselves, and their issuer has one turn among keys', async () => {
    const slots = new FairSlots({ total: 1, perName: 1 });
    const order: string[] = [];
    const ends: (() => void)[] = [];
    take(slots, order, 'first', 1, ends);
    take(slots, order, 'app/a', 3, ends);
    take(slots, order, 'app/b', 3, ends);
    take(slots, order, 'key', 3, ends);
    for (let i = 0; i < 9; i++) {
      await settled();
      ends.shift()?.();
    }
    await settled();
    expect(order).toEqual(['first', 'app/a', 'key', 'app/b', 'key', 'app/a', 'key', 'app/b', 'app/a', 'app/b']);
  });
});

describe('work of several names', () => {
  const limits = () => ({ deadline: performance.now() + 60_000, signal: test.signal });

  it('has the slot of the first that has one, also of a name that comes while it waits', async () => {
    const slots = new FairSlots({ total: 3, perName: 1 });
    const holders = new Holders(slots);
    holders.start('a1', 'a2');
    const names = new SharedNames('a');
    const under: string[] = [];
    const held = slots.useAny(names, limits(), async (name) => under.push(name));
    await settled();
    expect([under, slots.waiting]).toEqual([[], 2]);
    names.add('b');
    await held;
    await settled();
    // Of its places none is left, and later names get none.
    names.add('c');
    expect([under, slots.held, slots.waiting]).toEqual([['b'], 1, 1]);
  });

  it('is done once where two names have a slot in one turn', async () => {
    const slots = new FairSlots({ total: 2, perName: 2 });
    const holders = new Holders(slots);
    holders.start('x1', 'x2');
    const under: string[] = [];
    const held = slots.useAny(new SharedNames('a', 'b'), limits(), async (name) => under.push(name));
    await settled();
    void holders.end('x1');
    void holders.end('x2');
    await held;
    await settled();
    expect([under, slots.held, slots.waiting]).toEqual([['a'], 0, 0]);
  });

  it('ends when nobody waits any more, and when every name is refused', async () => {
    const slots = new FairSlots({ total: 1, perName: 1, waiting: 1 });
    const holders = new Holders(slots);
    holders.start('x1');
    const leaving = new AbortController();
    const left = slots.useAny(new SharedNames('a', 'b'), { ...limits(), signal: leaving.signal }, async () => 1);
    left.catch(() => undefined);
    await settled();
    expect(slots.waiting).toBe(1);
    leaving.abort();
    await expect(left).rejects.toThrow('aborted');
    expect(slots.waiting).toBe(0);
    holders.start('y1');
    await expect(slots.useAny(new SharedNames('a', 'b'), limits(), async () => 1)).rejects.toMatchObject({
      reason: 'tooManyConcurrentQueries',
    });
  });
});
