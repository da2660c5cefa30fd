import { type Clock, sleep, SYSTEM_CLOCK } from '../concurrency/clock';
import { type Entry, isFresh } from './entry';
import type { Identity } from './identity';
import type { RunControl } from './single-flight';
import type { Lease, SharedStore } from './stores';

/** Milliseconds between two polls for the end of another process's run: the first pause, and the longest. */
const FIRST_PAUSE = 10;
const LONGEST_PAUSE = 200;

/** A lease to run under, or a fresh entry that makes the run unnecessary. */
export type LeaseResult =
  | { readonly lease: Lease; readonly entry: null }
  | { readonly lease: null; readonly entry: Entry; /** For another process's run. */ readonly waited: boolean };

/**
 * Waits until there is a fresh entry or this process holds the lease. Meanwhile the holder sees that somebody waits.
 *
 * @param control may ask from then on whether others wait for a lease
 * @param onEntry receives every entry read, stale ones too
 * @throws RedisUnavailable; the signal's reason
 */
export async function acquireLease(
  identity: Identity,
  shared: SharedStore,
  control: RunControl,
  onEntry: (entry: Entry) => void,
  clock: Clock = SYSTEM_CLOCK,
): Promise<LeaseResult> {
  const { signal } = control;
  const isUsable = (entry: Entry | null): entry is Entry => entry !== null && isFresh(entry, clock.now());
  let waited = false;
  try {
    for (;;) {
      const found = await shared.read(identity);
      if (found !== null) onEntry(found);
      if (isUsable(found)) return { lease: null, entry: found, waited };
      signal.throwIfAborted();
      const acquiring = shared.acquire(identity);
      // Others may wait for the lease before the reply that grants it is here.
      control.awaitedElsewhere = async () => (await acquiring)?.awaited() ?? false;
      const lease = await acquiring;
      if (lease !== null) {
        const newer = await newerEntry(lease, found, identity, shared);
        if (!isUsable(newer)) return { lease, entry: null };
        lease.release().catch(() => undefined);
        onEntry(newer);
        return { lease: null, entry: newer, waited };
      }
      waited = true;
      await runEnded(identity, shared, signal, clock);
    }
  } finally {
    if (waited) shared.leave(identity).catch(() => undefined);
  }
}

/** The entry of a run that ended between reading `found` and acquiring the lease; null: there was no such run. */
async function newerEntry(
  lease: Lease,
  found: Entry | null,
  identity: Identity,
  shared: SharedStore,
): Promise<Entry | null> {
  if (lease.previous === (found?.fence ?? null)) return null;
  try {
    return await shared.read(identity);
  } catch (error) {
    // This process goes on without Redis: others need not wait for it.
    lease.release().catch(() => undefined);
    throw error;
  }
}

/** Resolves when no other process holds the lease. */
async function runEnded(identity: Identity, shared: SharedStore, signal: AbortSignal, clock: Clock): Promise<void> {
  let pause = FIRST_PAUSE;
  while ((await shared.await(identity)) === 'running') {
    await sleep(clock, pause, signal);
    pause = Math.min(pause * 2, LONGEST_PAUSE);
  }
}
