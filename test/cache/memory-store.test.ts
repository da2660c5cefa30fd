import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';

import { MemoryStore, sizeOf } from '../../src/cache/memory';
import { ManualClock } from '../manual-clock';
import { inLong } from '../scale';
import { entryOf, identityOf, newIdentity } from './entries';
import { MAX_ENTRY, testResultStore } from './store-contract';

const run = promisify(execFile);

describe('the store in memory', () => {
  const clock = new ManualClock();
  testResultStore(
    () => new MemoryStore({ bytes: 8_000_000, maxEntry: MAX_ENTRY, clock }),
    (milliseconds) => clock.advance(milliseconds),
  );

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

  it.each([['small', 300, 16_000_000] as const, ...inLong([['of some kilobytes', 6000, 32_000_000] as const])])(
    'stays within its bound with 10,000 distinct keys, results %s',
    async (_, bytes, bound) => {
      const script = path.join(__dirname, 'memory-taken.js');
      // Threads that compress side by side cost a third more than one that does it all.
      const env = { ...process.env, UV_THREADPOOL_SIZE: '1' };
      const { stdout } = await run(process.execPath, ['--expose-gc', script, String(bytes), String(bound)], { env });
      const { entries, counted, taken } = JSON.parse(stdout) as Record<'entries' | 'counted' | 'taken', number>;
      expect(counted).toBeLessThanOrEqual(bound);
      // All of them, or as many as make use of what there is.
      expect(entries === 10_000 || counted > bound * 0.9).toBe(true);
      expect(taken).toBeLessThan(bound);
      // Nor is the count so careful that half of the memory is wasted.
      expect(taken).toBeGreaterThan(counted / 2);
    },
  );
});
