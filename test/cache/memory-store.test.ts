import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

import { MemoryStore, sizeOf } from '../../src/cache/memory-store';
import { entryOf, identityOf, newIdentity, rowsOf } from './entries';
import { MAX_ENTRY, testResultStore } from './store-contract';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** Bytes that the process's objects and buffers take. */
async function memoryInUse(): Promise<number> {
  for (let i = 0; i < 3; i++) {
    collectGarbage();
    // Memory of buffers is given back behind the collector's back.
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

describe('the store in memory', () => {
  testResultStore(() => new MemoryStore({ bytes: 8_000_000, maxEntry: MAX_ENTRY }));

  it('gives and takes at once what it gives and takes', async () => {
    const store = new MemoryStore({ bytes: 8_000_000, maxEntry: MAX_ENTRY });
    const identity = newIdentity();
    const entry = await entryOf(identity, '{}');
    expect(store.set(identity, entry, 1000)).toBe(true);
    expect(store.get(identity)).toBe(entry);
    await store.close();
    expect(store.get(identity)).toBeNull();
    expect(store.size).toEqual({ entries: 0, bytes: 0 });
  });

  it('keeps nothing in no memory, and no entry larger than all of it', async () => {
    const identity = newIdentity();
    const entry = await entryOf(identity, '{}');
    for (const options of [
      { bytes: 0, maxEntry: MAX_ENTRY },
      { bytes: 8_000_000, maxEntry: 0 },
      { bytes: sizeOf(entry) - 1, maxEntry: MAX_ENTRY },
    ]) {
      const store = new MemoryStore(options);
      expect(store.set(identity, entry, 1000)).toBe(false);
      expect(store.get(identity)).toBeNull();
    }
    const store = new MemoryStore({ bytes: sizeOf(entry), maxEntry: sizeOf(entry) });
    expect(store.set(identity, entry, 1000)).toBe(true);
  });

  it('lets go first of what was asked for least recently', async () => {
    const identities = Array.from({ length: 4 }, (_, i) => identityOf(`question ${i}`));
    const [a, b, c, d] = await Promise.all(identities.map((identity) => entryOf(identity, '{"result":[]}')));
    if (!a || !b || !c || !d) throw new Error('Four were made.');
    const store = new MemoryStore({ bytes: 3 * sizeOf(a), maxEntry: MAX_ENTRY });
    const [ia, ib, ic, id] = [a, b, c, d].map(({ question }) => identityOf(question));
    if (!ia || !ib || !ic || !id) throw new Error('Four were made.');
    store.set(ia, a, 60_000);
    store.set(ib, b, 60_000);
    store.set(ic, c, 60_000);
    expect(store.get(ia)).toBe(a);
    store.set(id, d, 60_000);
    expect([ia, ib, ic, id].map((identity) => store.get(identity))).toEqual([a, null, c, d]);
    expect(store.size).toEqual({ entries: 3, bytes: 3 * sizeOf(a) });
  });

  it.each([
    ['small', 300, 16_000_000],
    ['of some kilobytes', 6000, 32_000_000],
  ])('stays within its bound with 10,000 distinct keys, results %s', async (_, bytes, bound) => {
    // What the first entry brings with it, such as the compressors, is none of the store's.
    await entryOf(identityOf('first'), rowsOf(bytes));
    const before = await memoryInUse();
    const store = new MemoryStore({ bytes: bound, maxEntry: MAX_ENTRY });
    const text = rowsOf(bytes);
    for (let i = 0; i < 10_000; i++) {
      // Each string is its own, as those of requests are.
      const identity = identityOf(`["usage.api-counts","${String(i).padStart(6)}","${'p'.repeat(100)}${i}"]`);
      store.set(identity, await entryOf(identity, text.replace('"result"', `"r${i}"`)), 60_000);
    }
    const taken = (await memoryInUse()) - before;
    process.stdout.write(
      `${store.size.entries} entries of ${bytes} bytes counted as ${store.size.bytes}, measured as ${taken}\n`,
    );
    expect(store.size.bytes).toBeLessThanOrEqual(bound);
    // All of them, or as many as make use of what there is.
    expect(store.size.entries === 10_000 || store.size.bytes > bound * 0.9).toBe(true);
    expect(taken).toBeLessThan(bound);
    // Nor is the count so careful that half of the memory is wasted.
    expect(taken).toBeGreaterThan(store.size.bytes / 2);
  });
});
