/** The seam to what keeps answers: one contract for every store, and what processes share beside them. */
import type { Entry } from './entry';
import type { Identity } from './identity';

/** `test/cache/store-contract.ts` is the suite that every implementation passes. */
export interface ResultStore {
  /** Bytes of one entry, with all that it takes, beyond which it is not kept. */
  readonly maxEntry: number;
  /** null: there is none, or none that can be read, or it answers another question. Stale ones are given too. */
  read(identity: Identity): Promise<Entry | null>;
  /**
   * Keeps an entry until `keep` milliseconds have passed.
   *
   * @returns whether it was kept: not when it is larger than one entry may be, nor in place of an entry with a higher
   *   fence
   */
  write(identity: Identity, entry: Entry, keep: number): Promise<boolean>;
  close(): Promise<void>;
}

/**
 * What processes share. Every method rejects with `RedisUnavailable` within the command timeout when the shared store
 * fails, and at once while its breaker is open: callers go on without it.
 */
export interface SharedStore extends ResultStore {
  /** The fence of the entry there is, without its bytes; null: there is none. */
  fenceOf(identity: Identity): Promise<number | null>;
  /** The right to run, for one process at a time; null: another process has it. */
  acquire(identity: Identity): Promise<Lease | null>;
  /**
   * Says that this process waits for another's run, and asks whether that goes on. The word counts for about a lease
   * time; whoever waits on says it again before that.
   */
  await(identity: Identity): Promise<'running' | 'over'>;
  /** This process no longer waits. */
  leave(identity: Identity): Promise<void>;
}

/** The right to run for one identity. It ends by itself after the lease time unless it is renewed. */
export interface Lease {
  /** For the entry that the run makes. */
  readonly fence: number;
  /** Of the entry that there was when the lease was given; null: there was none. */
  readonly previous: number | null;
  /** @returns false when it was lost: it ended, or another process has it now */
  renew(): Promise<boolean>;
  /** Whether another process waits for the run. */
  awaited(): Promise<boolean>;
  /** Gives it back, if it is still this process's. */
  release(): Promise<void>;
}
