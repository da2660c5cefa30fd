/** Single flight: one run for each name at a time, shared by all callers that ask for it meanwhile. */
import {
  type Clock,
  SharedNames,
  sleep,
  SYSTEM_CLOCK,
  abortError,
  checkLimits,
  raceLimits,
  type RunLimits,
} from '@logquay/duckdb-engine/concurrency';
import { type Identity, type Entry, isFresh, type Lease, type SharedStore } from './stores';

/** Milliseconds between two checks whether other processes still wait for a run without local waiters. */
const CHECK_ELSEWHERE = 500;

/** What a shared run learns of its waiters, and says. */
export interface RunControl {
  /** Aborted when nobody waits any more. */
  readonly signal: AbortSignal;
  /** The keys of those who wait, or have: any of them may give it a slot. */
  readonly payers: SharedNames;
  /** Whether another process waits; set by runs that others can wait for. Its failure counts as no. */
  awaitedElsewhere: (() => Promise<boolean>) | null;
}

interface InFlight<T> {
  readonly outcome: Promise<T>;
  readonly control: RunControl;
  readonly abort: AbortController;
  /** In this process. */
  waiters: number;
  /** Whether `#abandon` is at work on it. */
  checking: boolean;
}

export class SingleFlight<T> {
  /** Those that may be joined, by name. */
  readonly #open = new Map<string, InFlight<T>>();
  /** All that have not ended, including those that were aborted. */
  readonly #all = new Set<InFlight<T>>();

  constructor(private readonly clock: Clock = SYSTEM_CLOCK) {}

  /** Runs that may be joined. */
  get size(): number {
    return this.#open.size;
  }

  has(name: string): boolean {
    return this.#open.has(name);
  }

  /**
   * Waits for the run of that name, starting it if need be. A caller that leaves, by its deadline or signal, does
   * not affect the others; after the last one the run is aborted.
   *
   * @param payer name of the caller's key
   * @throws whatever `work` rejects with; ServiceError `deadlineExceeded` and AbortError by `limits`
   */
  async join(name: string, limits: RunLimits, work: (control: RunControl) => Promise<T>, payer = ''): Promise<T> {
    checkLimits(limits, this.clock);
    const run = this.#open.get(name) ?? this.#start(name, work, payer);
    run.waiters++;
    run.control.payers.add(payer);
    try {
      return await raceLimits(
        limits,
        () => run.outcome,
        () => undefined,
        this.clock,
      );
    } finally {
      run.waiters--;
      if (run.waiters === 0 && !run.checking) void this.#abandon(name, run);
    }
  }

  /** Aborts all runs and resolves when they have ended. */
  async close(): Promise<void> {
    this.#open.clear();
    for (const { abort } of this.#all) abort.abort(abortError());
    while (this.#all.size > 0) await Promise.allSettled([...this.#all].map(({ outcome }) => outcome));
  }

  #start(name: string, work: (control: RunControl) => Promise<T>, payer: string): InFlight<T> {
    const abort = new AbortController();
    const control: RunControl = { signal: abort.signal, payers: new SharedNames(payer), awaitedElsewhere: null };
    const outcome = work(control).finally(() => {
      this.#all.delete(run);
      if (this.#open.get(name) === run) this.#open.delete(name);
    });
    outcome.catch(() => undefined); // every waiter gets it
    const run: InFlight<T> = { outcome, control, abort, waiters: 0, checking: false };
    this.#open.set(name, run);
    this.#all.add(run);
    return run;
  }

  /** Aborts a run without waiters, unless another process waits for it: then it may still be joined here. */
  async #abandon(name: string, run: InFlight<T>): Promise<void> {
    run.checking = true;
    while (run.waiters === 0 && this.#open.get(name) === run) {
      const awaited = (await run.control.awaitedElsewhere?.().catch(() => false)) ?? false;
      if (run.waiters > 0 || this.#open.get(name) !== run) break;
      if (!awaited) {
        this.#open.delete(name);
        run.abort.abort(abortError());
        break;
      }
      await sleep(this.clock, CHECK_ELSEWHERE);
    }
    run.checking = false;
  }
}

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
