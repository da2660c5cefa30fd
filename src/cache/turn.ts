import { setTimeout as sleep } from 'node:timers/promises';

import { type Entry, isFresh } from './entry';
import type { Identity } from './identity';
import type { Lease, SharedStore } from './stores';

/** Milliseconds between two looks at a run of another process: the first, and the longest. */
const FIRST_LOOK = 10;
const LONGEST_LOOK = 200;

/** How waiting for the right to run ends: with that right, or with no need of it. */
export type Turn =
  | { readonly lease: Lease; readonly entry: null }
  | { readonly lease: null; readonly entry: Entry; /** For another process's run. */ readonly waited: boolean };

/**
 * Waits until there is a fresh entry or this process may run. While another process runs, it is told that somebody waits.
 *
 * @param tell is given every entry that is met, stale ones too
 * @throws RedisUnavailable; the signal's reason
 */
export async function takeTurn(
  identity: Identity,
  shared: SharedStore,
  signal: AbortSignal,
  tell: (entry: Entry) => void,
): Promise<Turn> {
  let waited = false;
  try {
    for (;;) {
      const met = await shared.read(identity);
      if (met !== null) tell(met);
      if (isGood(met)) return { lease: null, entry: met, waited };
      signal.throwIfAborted();
      const lease = await shared.acquire(identity);
      if (lease !== null) {
        const entry = await madeMeanwhile(lease, met, identity, shared);
        if (entry === null) return { lease, entry };
        tell(entry);
        return { lease: null, entry, waited };
      }
      waited = true;
      await over(identity, shared, signal);
    }
  } finally {
    if (waited) shared.leave(identity).catch(ignore);
  }
}

/** The fresh entry of a run that ended between the look at `met` and the lease; with one the lease is given back. */
async function madeMeanwhile(
  lease: Lease,
  met: Entry | null,
  identity: Identity,
  shared: SharedStore,
): Promise<Entry | null> {
  if (lease.previous === (met?.fence ?? null)) return null;
  try {
    const entry = await shared.read(identity);
    if (!isGood(entry)) return null;
    lease.release().catch(ignore);
    return entry;
  } catch (error) {
    // Others need not wait for a process that goes on alone.
    lease.release().catch(ignore);
    throw error;
  }
}

function isGood(entry: Entry | null): entry is Entry {
  return entry !== null && isFresh(entry, Date.now());
}

/** Resolves when no other process runs. */
async function over(identity: Identity, shared: SharedStore, signal: AbortSignal): Promise<void> {
  for (
    let pause = FIRST_LOOK;
    (await shared.await(identity)) === 'running';
    pause = Math.min(pause * 2, LONGEST_LOOK)
  ) {
    await sleep(pause, undefined, { signal });
  }
}

function ignore(): void {
  // What nobody waits for.
}
