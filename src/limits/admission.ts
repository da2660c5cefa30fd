import type { RunLimits } from '../concurrency/deadline';
import { fairShare, FairSlots } from '../concurrency/fair-slots';
import type { Engine } from '../engines/contract';

export interface AdmissionBounds {
  /** Engine runs at a time, of one key and of all. */
  readonly runningPerKey: number;
  /** The same while another key runs queries too; default: as many. */
  readonly runningBesideOthers?: number;
  readonly running: number;
  /** Runs of all keys that wait for a slot. */
  readonly waiting: number;
}

/** What the operator allows: queries at a time, of a key and of all, and how many may wait. */
interface Allowed {
  readonly maxRunningPerKey: number;
  readonly maxRunning: number;
  readonly maxWaiting: number;
}

/**
 * What is admitted to an engine. One that runs `concurrency` queries at once gets no more: the rest wait here, where
 * slots are handed out round robin by key, and one key never has all of them. Others get what the operator allows.
 */
export function admissionBounds(
  { maxRunningPerKey, maxRunning, maxWaiting }: Allowed,
  { concurrency }: Pick<Engine, 'concurrency'>,
): AdmissionBounds {
  if (concurrency === undefined) return { runningPerKey: maxRunningPerKey, running: maxRunning, waiting: maxWaiting };
  const running = Math.min(maxRunning, concurrency);
  const runningPerKey = Math.min(maxRunningPerKey, fairShare(concurrency), Math.max(1, running - 1));
  return { runningPerKey, runningBesideOthers: 1, running, waiting: maxWaiting };
}

/** Exports that wait for a slot, of all keys. */
const WAITING_EXPORTS = 16;
/** Exports at once on an engine without a bound of its own: each has a page or two in memory. */
const EXPORTS = 4;

/**
 * Slots for exports, which last as long as their clients read: one of a key at a time, and never more than half of the queries
 * that the engine runs at once.
 */
export function exportSlots({ concurrency }: Pick<Engine, 'concurrency'>): FairSlots {
  const total = concurrency === undefined ? EXPORTS : fairShare(concurrency);
  return new FairSlots({ total, perName: 1, waiting: WAITING_EXPORTS });
}

/**
 * Bounds the runs on the engine (docs/http.md). Runs beyond the bounds wait within their own deadline; slots are handed out
 * round robin by key, so a key with many waiting delays none with few.
 */
export class Admission {
  readonly #slots: FairSlots;

  constructor({ running, runningPerKey, runningBesideOthers = runningPerKey, waiting }: AdmissionBounds) {
    this.#slots = new FairSlots({
      total: running,
      perName: runningPerKey,
      perNameBesideOthers: runningBesideOthers,
      waiting,
    });
  }

  /** Runs that hold a slot. */
  get running(): number {
    return this.#slots.held;
  }

  /** Runs that wait now. */
  get waiting(): number {
    return this.#slots.waiting;
  }

  /**
   * Runs `work` once it has a slot.
   *
   * @param key whose runs are counted together
   * @throws ServiceError tooManyConcurrentQueries when the queue is full, deadlineExceeded when no slot is free in
   *   time; after an abort the signal's reason; whatever `work` throws
   */
  run<T>(key: string, limits: RunLimits, work: () => Promise<T>): Promise<T> {
    return this.#slots.use(key, limits, work);
  }

  /**
   * Checks a long text in a slot of its key, once no run of the key waits. A text that is admitted has to wait for its run as well: in one
   * queue, a hundred texts at once would all be checked before the first is run, and end at their deadlines.
   *
   * @throws as `run`
   */
  check<T>(key: string, limits: RunLimits, work: () => Promise<T>): Promise<T> {
    return this.#slots.use(key, limits, work, true);
  }
}
