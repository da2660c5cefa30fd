import type { RunLimits } from '../engines/contract';
import { ServiceError } from '../errors';

export interface AdmissionBounds {
  /** Engine runs at a time, of one key and of all. */
  readonly runningPerKey: number;
  readonly running: number;
  /** Runs of all keys that wait for their turn. */
  readonly waiting: number;
}

/** The runs of one key. */
interface Lane {
  running: number;
  /** Each lets one waiting run begin; oldest first. */
  readonly waiters: Set<() => void>;
}

/**
 * Who may use the engine now (docs/http.md, Sizes and turns). Runs beyond the bounds wait their turn inside their own
 * deadline, in a queue that all keys share; turns go round by key, so that a key with many waiting holds up none with
 * few.
 */
export class Admission {
  /** In the order of their next turns. */
  readonly #lanes = new Map<string, Lane>();
  #running = 0;
  #waiting = 0;

  constructor(private readonly bounds: AdmissionBounds) {}

  /** Runs that have their turn now. */
  get running(): number {
    return this.#running;
  }

  /** Runs that wait now. */
  get waiting(): number {
    return this.#waiting;
  }

  /**
   * Does `work` when its turn has come.
   *
   * @param key whose runs are counted together
   * @throws ServiceError tooManyConcurrentQueries when the queue is full, deadlineExceeded when the turn does not come in
   *   time; after an abort the signal's reason; whatever `work` throws
   */
  async run<T>(key: string, limits: RunLimits, work: () => Promise<T>): Promise<T> {
    limits.signal.throwIfAborted();
    const lane = this.#lanes.get(key) ?? { running: 0, waiters: new Set() };
    this.#lanes.set(key, lane);
    try {
      await this.#turn(lane, limits);
      try {
        return await work();
      } finally {
        lane.running--;
        this.#running--;
        this.#goOn();
      }
    } finally {
      if (lane.running === 0 && lane.waiters.size === 0) this.#lanes.delete(key);
    }
  }

  #mayBegin(lane: Lane): boolean {
    return lane.running < this.bounds.runningPerKey && this.#running < this.bounds.running;
  }

  #begin(lane: Lane): void {
    lane.running++;
    this.#running++;
  }

  /** Resolves when the run is counted as running: nobody slips in between that and its beginning. */
  async #turn(lane: Lane, { deadline, signal }: RunLimits): Promise<void> {
    if (this.#mayBegin(lane)) {
      this.#begin(lane);
      return;
    }
    if (this.#waiting >= this.bounds.waiting) throw full();
    await new Promise<void>((resolve, reject) => {
      const stopWaiting = (): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', onAbort);
        lane.waiters.delete(admit);
        this.#waiting--;
      };
      const admit = (): void => {
        stopWaiting();
        this.#begin(lane);
        resolve();
      };
      const onAbort = (): void => {
        stopWaiting();
        reject(signal.reason as Error);
      };
      const onDeadline = (): void => {
        stopWaiting();
        reject(late());
      };
      const timer = setTimeout(onDeadline, Math.max(0, deadline - performance.now()));
      signal.addEventListener('abort', onAbort);
      lane.waiters.add(admit);
      this.#waiting++;
    });
  }

  /** Gives free places to the keys in turn. */
  #goOn(): void {
    for (const [key, lane] of [...this.#lanes]) {
      if (this.#running >= this.bounds.running) return;
      const [next] = lane.waiters;
      if (next === undefined || !this.#mayBegin(lane)) continue;
      next();
      this.#lanes.delete(key);
      this.#lanes.set(key, lane);
    }
  }
}

function full(): ServiceError {
  return new ServiceError('tooManyConcurrentQueries', 'Too many queries wait for their turn.', { retryAfter: 1 });
}

function late(): ServiceError {
  return new ServiceError('deadlineExceeded', 'The deadline passed while the query waited for its turn.');
}
