import { allButOne, FairSlots, type SlotLimits } from '../concurrency/fair-slots';

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
 * The bounds of an engine that runs `concurrency` queries at once, if it has such a bound: turns go round before the
 * engine, not inside of it, and one key is never let have all of it.
 */
export function admissionBounds(
  { maxRunningPerKey, maxRunning, maxWaiting }: Allowed,
  { concurrency = Infinity }: { readonly concurrency?: number },
): AdmissionBounds {
  const running = Math.min(maxRunning, concurrency);
  const runningPerKey = running < concurrency ? maxRunningPerKey : Math.min(maxRunningPerKey, allButOne(concurrency));
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
  run<T>(key: string, limits: SlotLimits, work: () => Promise<T>): Promise<T> {
    return this.#slots.use(key, limits, work);
  }
}
