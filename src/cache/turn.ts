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
 * @throws SharedUnavailable; the signal's reason
 */
export async function takeTurn(
  identity: Identity,
  shared: SharedStore,
  signal: AbortSignal,
  tell: (entry: Entry) => void,
): Promise<Turn> {
  const look = async (): Promise<Entry | null> => {
    const entry = await shared.read(identity);
    if (entry !== null) tell(entry);
    return entry !== null && isFresh(entry, Date.now()) ? entry : null;
  };
  let waited = false;
  try {
    const before = await shared.fenceOf(identity);
    let entry = before === null ? null : await look();
    while (entry === null) {
      signal.throwIfAborted();
      const lease = await shared.acquire(identity);
      if (lease !== null) {
        entry = await unlessMade(lease, before, identity, shared, look);
        if (entry === null) return { lease, entry };
        break;
      }
      waited = true;
      await over(identity, shared, signal);
      entry = await look();
    }
    return { lease: null, entry, waited };
  } finally {
    if (waited) shared.leave(identity).catch(() => undefined);
  }
}

/** The entry of a run that ended between the first look and the lease; with one the lease is given back. */
async function unlessMade(
  lease: Lease,
  before: number | null,
  identity: Identity,
  shared: SharedStore,
  look: () => Promise<Entry | null>,
): Promise<Entry | null> {
  try {
    const entry = (await shared.fenceOf(identity)) === before ? null : await look();
    if (entry !== null) await lease.release();
    return entry;
  } catch (error) {
    // Others need not wait for a process that goes on alone.
    lease.release().catch(() => undefined);
    throw error;
  }
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
