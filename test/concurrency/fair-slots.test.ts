import { fairShare, FairSlots } from '../../src/concurrency/fair-slots';

let test: AbortController;
beforeEach(() => {
  test = new AbortController();
});
// Who still waits at the end of a test goes away.
afterEach(() => {
  test.abort();
});

/** Holders of slots, who hold them until they are told to let go. */
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

it('a single slot is everybody’s', () => {
  expect([1, 2, 3, 4].map(fairShare)).toEqual([1, 1, 1, 2]);
});
