import fc from 'fast-check';

import { ByteShares, type Holding } from '../../src/limits/byte-shares';
import { runs } from '../scale';

const BOUNDS = { perKey: 100, all: 250 };

interface Step {
  readonly key: string;
  readonly bytes: number;
  /** Which of a few objects the bytes are of; null: of one of their own. */
  readonly of: number | null;
  readonly cuttable: boolean;
  /** Whether the oldest that is held is released instead. */
  readonly release: boolean;
}

const step = fc.record<Step>({
  key: fc.constantFrom('a', 'b', 'c', 'd'),
  bytes: fc.integer({ min: 1, max: 100 }),
  of: fc.option(fc.nat(2)),
  cuttable: fc.boolean(),
  release: fc.boolean(),
});
/** What is shared has one size. */
const SHARED = [{ bytes: 10 }, { bytes: 50 }, { bytes: 90 }];

it('holds no more than it may, for a key and for all, and nothing in the end', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const shares = new ByteShares(BOUNDS);
      const open = new Map<Holding, { readonly key: string; readonly of: { readonly bytes: number } }>();
      const held = (key: string | null): number =>
        [...new Set([...open.values()].filter((one) => key === null || one.key === key).map(({ of }) => of))].reduce(
          (sum, { bytes }) => sum + bytes,
          0,
        );
      for (const { key, bytes, of: shared, cuttable, release } of steps) {
        const [oldest] = open;
        if (release && oldest !== undefined) {
          oldest[0].release();
          open.delete(oldest[0]);
          continue;
        }
        const of = shared === null ? { bytes } : (SHARED[shared] ?? { bytes });
        const holding: Holding = shares.hold(key, cuttable ? () => open.delete(holding) : null);
        const before = held(key);
        const others = open.size;
        const took = holding.take(of.bytes, of);
        if (took) open.set(holding, { key, of });
        // Nobody who has less gives way.
        else expect(open.size).toBe(others);
        expect(held(key)).toBeLessThanOrEqual(BOUNDS.perKey);
        if (took) expect(held(key)).toBeGreaterThanOrEqual(before);
        expect(held(null)).toBeLessThanOrEqual(BOUNDS.all);
        expect(shares.bytes).toBe(held(null));
      }
      for (const holding of open.keys()) holding.release();
      expect(shares.bytes).toBe(0);
    }),
    runs(2000),
  );
});

it('takes room from the key that has most, its oldest first', () => {
  const shares = new ByteShares(BOUNDS);
  const cut: string[] = [];
  const hold = (name: string, key: string, bytes: number): boolean =>
    shares.hold(key, () => cut.push(name)).take(bytes);
  expect([hold('a1', 'a', 40), hold('a2', 'a', 60), hold('b1', 'b', 90), hold('c1', 'c', 60)]).toEqual([
    true,
    true,
    true,
    true,
  ]);
  expect(hold('a3', 'a', 1)).toBe(false);
  expect(hold('d1', 'd', 30)).toBe(true);
  expect(cut).toEqual(['a1']);
});

it('lets a key that holds nothing have more than its share', () => {
  const shares = new ByteShares(BOUNDS);
  expect(shares.hold('a').take(1000)).toBe(true);
  expect(shares.hold('a').take(1)).toBe(false);
});

it('leaves room for others, however many users of one issuer hold bytes', () => {
  const shares = new ByteShares({ all: 16, perKey: 8, perIssuer: 8 });
  const users = ['a', 'b', 'c', 'd', 'e'].map((user) => shares.hold(`app/${user}`));
  expect(users.map((user) => user.take(2))).toEqual([true, true, true, true, false]);
  expect(shares.hold('app/a').take(1)).toBe(false);
  expect(shares.hold('key').take(8)).toBe(true);
  users[0]?.release();
  expect(users[4]?.take(2)).toBe(true);
  for (const user of users) user.release();
  expect(shares.bytes).toBe(8);
  expect(shares.hold('app/f').take(8)).toBe(true);
});
