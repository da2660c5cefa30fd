/** Single flight: one run for each name at a time, shared by all callers that ask for it meanwhile. */
import { type Clock, sleep, SYSTEM_CLOCK } from '../concurrency/clock';
import { abortError, checkLimits, raceLimits, type RunLimits } from '../concurrency/deadline';

/** Milliseconds between two checks whether other processes still wait for a run without local waiters. */
const CHECK_ELSEWHERE = 500;

/** What a shared run learns of its waiters, and says. */
export interface RunControl {
  /** Aborted when nobody waits any more. */
  readonly signal: AbortSignal;
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
   * @throws whatever `work` rejects with; ServiceError `deadlineExceeded` and AbortError by `limits`
   */
  async join(name: string, limits: RunLimits, work: (control: RunControl) => Promise<T>): Promise<T> {
    checkLimits(limits, this.clock);
    const run = this.#open.get(name) ?? this.#start(name, work);
    run.waiters++;
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

  #start(name: string, work: (control: RunControl) => Promise<T>): InFlight<T> {
    const abort = new AbortController();
    const control: RunControl = { signal: abort.signal, awaitedElsewhere: null };
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
