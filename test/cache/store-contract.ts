/** What every store of results does: `ResultStore`, and `SharedStore` where processes share it. */
import { setTimeout as sleep } from 'node:timers/promises';

import type { Lease, ResultStore, SharedStore } from '../../src/cache/stores';
import { EncodedResponse } from '../../src/rendering/encoded-response';
import { until } from '../until';
import { entryOf, identityOf, newIdentity, rowsOf } from './entries';

/** Bytes of one entry that the stores under test are to be opened with. */
export const MAX_ENTRY = 200_000;

/** Milliseconds of leases: none ends by itself unless a test wants it to. */
export const LEASE = 60_000;

/** Milliseconds of a lease that is to end by itself. */
const SHORT_LEASE = 300;

/** @param pass lets time go by for the store */
export function testResultStore(
  open: () => ResultStore,
  pass: (milliseconds: number) => Promise<void> = (milliseconds) => sleep(milliseconds),
): void {
  it('gives back every byte of what it keeps', async () => {
    const store = open();
    const identity = newIdentity();
    const entry = await entryOf(identity, rowsOf(20_000), 1_790_000_000_000_001);
    expect(await store.read(identity)).toBeNull();
    expect(await store.write(identity, entry, 60_000)).toBe(true);
    const read = await store.read(identity);
    expect(read).not.toBeNull();
    const { response, ...rest } = read ?? entry;
    const { response: written, ...wrote } = entry;
    expect(rest).toEqual(wrote);
    expect(response.forms).toEqual(written.forms);
    expect(response.forms?.gzip?.length).toBeGreaterThan(0);
    expect(response.forms?.br?.length).toBeGreaterThan(0);
    expect([response.etag, response.representation, response.truncated, response.contentType]).toEqual([
      written.etag,
      written.representation,
      written.truncated,
      written.contentType,
    ]);
  });

  it('keeps results of every representation, truncated or not, and those too small to compress', async () => {
    const store = open();
    for (const representation of ['application/json', 'application/x-ndjson', 'text/csv'] as const) {
      for (const truncated of [true, false]) {
        for (const bytes of [
          Buffer.alloc(0),
          Buffer.from('{}'),
          Buffer.from(rowsOf(3000)),
          Buffer.from([0, 255, 13, 10]),
        ]) {
          const identity = newIdentity();
          const response = new EncodedResponse(bytes, representation, truncated);
          const forms = await response.complete();
          const entry = { question: identity.text, response, createdAt: 5, lifetime: 7.5, fence: 0 };
          expect(await store.write(identity, entry, 60_000)).toBe(true);
          const read = await store.read(identity);
          expect(read?.response.forms).toEqual(forms);
          expect(read).toMatchObject({ createdAt: 5, lifetime: 7.5, fence: 0 });
          expect(read?.response).toMatchObject({ representation, truncated, etag: response.etag });
        }
      }
    }
  });

  it('answers no other question than the one that was asked, though the name be the same', async () => {
    const store = open();
    const identity = newIdentity();
    await store.write(identity, await entryOf(identity, '{}'), 60_000);
    expect(await store.read({ ...identity, text: `${identity.text} ` })).toBeNull();
    expect(await store.read(identityOf('another'))).toBeNull();
    expect(await store.read(identity)).not.toBeNull();
  });

  it('replaces an entry by one with the same or a higher fence, never by one with a lower', async () => {
    const store = open();
    const identity = newIdentity();
    const base = 1_790_000_000_000_000;
    expect(await store.write(identity, await entryOf(identity, '{"result":[1]}', base + 1), 60_000)).toBe(true);
    expect(await store.write(identity, await entryOf(identity, '{"result":[0]}', base), 60_000)).toBe(false);
    expect((await store.read(identity))?.response.bytes.toString()).toBe('{"result":[1]}');
    expect(await store.write(identity, await entryOf(identity, '{"result":[2]}', base + 1), 60_000)).toBe(true);
    expect(await store.write(identity, await entryOf(identity, rowsOf(9000), base + 2), 60_000)).toBe(true);
    expect((await store.read(identity))?.response.forms?.gzip).not.toBeNull();
    expect(await store.write(identity, await entryOf(identity, '{"result":[3]}', base + 3), 60_000)).toBe(true);
    const read = await store.read(identity);
    expect(read?.response.forms).toEqual({ bytes: Buffer.from('{"result":[3]}'), gzip: null, br: null });
    expect(read?.fence).toBe(base + 3);
  });

  it('keeps an entry for its time, and gives stale ones till then', async () => {
    const store = open();
    const identity = newIdentity();
    const entry = { ...(await entryOf(identity, '{}', 5)), lifetime: 1, createdAt: Date.now() - 1000 };
    await store.write(identity, entry, 60_000);
    await pass(100);
    expect(await store.read(identity)).toMatchObject({ lifetime: 1, createdAt: entry.createdAt });
    await store.write(identity, entry, 100);
    await pass(110);
    expect(await store.read(identity)).toBeNull();
    // What is gone has no fence any more.
    expect(await store.write(identity, await entryOf(identity, '{}', 4), 60_000)).toBe(true);
  });

  it('does not keep what is stale for good', async () => {
    const store = open();
    const identity = newIdentity();
    for (const keep of [0, -5]) expect(await store.write(identity, await entryOf(identity, '{}'), keep)).toBe(false);
    expect(await store.read(identity)).toBeNull();
  });

  it('does not keep an entry that is larger than one may be, and leaves the one there is', async () => {
    const store = open();
    const identity = newIdentity();
    expect(await store.write(identity, await entryOf(identity, '{"small":1}', 1), 60_000)).toBe(true);
    expect(await store.write(identity, await entryOf(identity, rowsOf(MAX_ENTRY), 2), 60_000)).toBe(false);
    expect((await store.read(identity))?.fence).toBe(1);
    expect(store.maxEntry).toBe(MAX_ENTRY);
  });
}

/** @param open a store as another process would open it, on the same Redis each time, with leases of so many milliseconds */
export function testSharedStore(open: (leaseTime?: number) => SharedStore): void {
  testResultStore(() => open());

  it('shares entries', async () => {
    const [one, other] = [open(), open()];
    const identity = newIdentity();
    await one.write(identity, await entryOf(identity, rowsOf(500), 77), 60_000);
    expect((await other.read(identity))?.fence).toBe(77);
    expect(await other.fenceOf(identity)).toBe(77);
    expect(await other.fenceOf(newIdentity())).toBeNull();
  });

  it('gives a lease to one at a time', async () => {
    const [one, other] = [open(), open()];
    const identity = newIdentity();
    const takers = Array.from({ length: 20 }, (_, i) => (i % 2 === 0 ? one : other).acquire(identity));
    const leases = (await Promise.all(takers)).filter((lease) => lease !== null);
    expect(leases).toHaveLength(1);
    expect(await other.acquire(newIdentity())).not.toBeNull();
    await leases[0]?.release();
    expect(await other.acquire(identity)).not.toBeNull();
  });

  it('gives fences that rise, also above entries that nobody had a lease for', async () => {
    const store = open();
    const identity = newIdentity();
    let last = 0;
    for (let i = 0; i < 20; i++) {
      const lease = await store.acquire(identity);
      expect(lease?.fence).toBeGreaterThan(last);
      last = lease?.fence ?? 0;
      await lease?.release();
    }
    expect(Math.abs(last / 1000 - Date.now())).toBeLessThan(60_000);
    const ahead = last + 3_600_000_000;
    await store.write(identity, await entryOf(identity, '{}', ahead), 60_000);
    const lease = await store.acquire(identity);
    expect(lease?.fence).toBe(ahead + 1);
    await lease?.release();
    expect((await store.acquire(identity))?.fence).toBe(ahead + 2);
  });

  it('tells with a lease which entry there was', async () => {
    const store = open();
    const identity = newIdentity();
    const first = await store.acquire(identity);
    expect(first?.previous).toBeNull();
    await store.write(identity, await entryOf(identity, '{}', first?.fence), 60_000);
    await first?.release();
    expect((await store.acquire(identity))?.previous).toBe(first?.fence);
  });

  it('lets a lease end by itself, so that another takes over, and tells who lost it', async () => {
    const [one, other] = [open(), open()];
    const identity = newIdentity();
    const lost = await open(SHORT_LEASE).acquire(identity);
    const leases: (Lease | null)[] = [];
    await until(async () => leases.push(await other.acquire(identity)) > 0 && leases.at(-1) !== null);
    const taken = leases.at(-1)!;
    expect(taken.fence).toBeGreaterThan(lost?.fence ?? Infinity);
    expect(await lost?.renew()).toBe(false);
    // The one who lost it takes it from nobody.
    await lost?.release();
    expect(await one.acquire(identity)).toBeNull();
    expect(await taken.renew()).toBe(true);
    // Nor does their entry replace the newer one.
    expect(await other.write(identity, await entryOf(identity, '{"new":1}', taken.fence), 60_000)).toBe(true);
    expect(await one.write(identity, await entryOf(identity, '{"old":1}', lost?.fence), 60_000)).toBe(false);
    expect((await one.read(identity))?.response.bytes.toString()).toBe('{"new":1}');
  });

  it('renews a lease for as long as its owner likes', async () => {
    const [one, other] = [open(SHORT_LEASE), open()];
    let longest: number;
    do {
      const identity = newIdentity();
      let [sent, renewed] = [performance.now(), true];
      longest = 0;
      const lease = await one.acquire(identity);
      for (let i = 0; i < 4; i++) {
        await sleep(SHORT_LEASE / 3);
        const now = performance.now();
        renewed &&= (await lease?.renew()) === true;
        longest = Math.max(longest, performance.now() - sent);
        sent = now;
      }
      const taken = await other.acquire(identity);
      longest = Math.max(longest, performance.now() - sent);
      // Once more where this process itself was too late to renew it.
      if (longest < SHORT_LEASE) expect([renewed, taken]).toEqual([true, null]);
    } while (longest >= SHORT_LEASE);
  });

  it('tells the owner of those who wait elsewhere, for as long as they say so', async () => {
    const [one, other, third] = [open(), open(), open()];
    const identity = newIdentity();
    expect(await other.await(identity)).toBe('over');
    const lease = await one.acquire(identity);
    expect(await lease?.awaited()).toBe(false);
    expect(await one.await(identity)).toBe('running');
    expect(await lease?.awaited()).toBe(false);
    expect(await other.await(identity)).toBe('running');
    expect(await lease?.awaited()).toBe(true);
    await third.await(identity);
    await other.leave(identity);
    expect(await lease?.awaited()).toBe(true);
    await third.leave(identity);
    expect(await lease?.awaited()).toBe(false);
    // Whoever died while waiting is forgotten.
    await open(SHORT_LEASE).await(identity);
    await until(async () => (await lease?.awaited()) === false);
    await lease?.release();
    expect(await other.await(identity)).toBe('over');
  });
}
