import type { RunLimits } from '../concurrency/deadline';
import { fairShare, FairSlots } from '../concurrency/fair-slots';

export interface AdmissionBounds {
  /** Engine runs at a time, of one key and of all. */
  readonly runningPerKey: number;
  readonly running: number;
  /** Runs of all keys that wait for their turn. */
  readonly waiting: number;
}

/** What the operator allows: queries at a time, of a key and of all, and how many may wait. */
interface Allowed {
  readonly maxRunningPerKey: number;
  readonly maxRunning: number;
  readonly maxWaiting: number;
}

/**
 * What is admitted to an engine. One that runs `concurrency` queries at once gets no more: they wait here, where turns go
 * round by key, and one key never has all of it. Others get what the operator allows.
 */
export function admissionBounds(
  { maxRunningPerKey, maxRunning, maxWaiting }: Allowed,
  { concurrency }: { readonly concurrency?: number },
): AdmissionBounds {
  if (concurrency === undefined) return { runningPerKey: maxRunningPerKey, running: maxRunning, waiting: maxWaiting };
  const running = Math.min(maxRunning, concurrency);
  const runningPerKey = Math.min(maxRunningPerKey, fairShare(concurrency), Math.max(1, running - 1));
  return { runningPerKey, running, waiting: maxWaiting };
}

/**
 * Who may use the engine now (docs/http.md, Sizes and turns). Runs beyond the bounds wait their turn inside their own
 * deadline, in a queue that all keys share; turns go round by key, so that a key with many waiting holds up none with
 * few.
 */
export class Admission {
  readonly #slots: FairSlots;

  constructor({ running, runningPerKey, waiting }: AdmissionBounds) {
    this.#slots = new FairSlots({ total: running, perName: runningPerKey, waiting });
  }

  /** Runs that have their turn now. */
  get running(): number {
    return this.#slots.held;
  }

  /** Runs that wait now. */
  get waiting(): number {
    return this.#slots.waiting;
  }

  /**
   * Does `work` when its turn has come.
   *
   * @param key whose runs are counted together
   * @throws ServiceError tooManyConcurrentQueries when the queue is full, deadlineExceeded when the turn does not come in
   *   time; after an abort the signal's reason; whatever `work` throws
   */
  run<T>(key: string, limits: RunLimits, work: () => Promise<T>): Promise<T> {
    return this.#slots.use(key, limits, work);
  }
}
