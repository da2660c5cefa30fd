/** A bound on what is done at once, shared fairly: whoever has much waiting holds up nobody who has little. */
import { ServiceError } from '../errors';

export interface SlotBounds {
  /** Holders of a slot, all together. */
  readonly total: number;
  /** Holders of a slot under one name. */
  readonly perName: number;
  /** Waiting for a slot, all together; default: no bound. */
  readonly waiting?: number;
}

export interface SlotLimits {
  /** Milliseconds of `performance.now()` until which a slot is waited for. */
  readonly deadline: number;
  readonly signal: AbortSignal;
}

/** What one name holds and waits for. */
interface Lane {
  held: number;
  /** Each hands a slot to one that waits; oldest first. */
  readonly waiters: Set<() => void>;
}

/** Slots that go round robin by name, first come first served within a name. */
export class FairSlots {
  /** In the order in which they are served next. */
  readonly #lanes = new Map<string, Lane>();
  #held = 0;
  #waiting = 0;

  constructor(private readonly bounds: SlotBounds) {}

  /** Slots that are held now. */
  get held(): number {
    return this.#held;
  }

  /** Who waits for one now. */
  get waiting(): number {
    return this.#waiting;
  }

  /**
   * Does `work` with a slot, which is held until `work` has ended.
   *
   * @param name under which it is counted
   * @throws ServiceError `tooManyConcurrentQueries` when too many wait, `deadlineExceeded` when no slot is free in time;
   *   after an abort the signal's reason; whatever `work` throws
   */
  async use<T>(name: string, limits: SlotLimits, work: () => Promise<T>): Promise<T> {
    limits.signal.throwIfAborted();
    const lane = this.#lanes.get(name) ?? { held: 0, waiters: new Set() };
    this.#lanes.set(name, lane);
    try {
      await this.#acquire(lane, limits);
      try {
        return await work();
      } finally {
        lane.held--;
        this.#held--;
        this.#handOn();
      }
    } finally {
      if (lane.held === 0 && lane.waiters.size === 0) this.#lanes.delete(name);
    }
  }

  #isFree(lane: Lane): boolean {
    return lane.held < this.bounds.perName && this.#held < this.bounds.total;
  }

  #take(lane: Lane): void {
    lane.held++;
    this.#held++;
  }

  /** Resolves when the slot is counted as held: nobody slips in between. */
  async #acquire(lane: Lane, { deadline, signal }: SlotLimits): Promise<void> {
    if (this.#isFree(lane)) {
      this.#take(lane);
      return;
    }
    if (this.#waiting >= (this.bounds.waiting ?? Infinity)) throw full();
    await new Promise<void>((resolve, reject) => {
      const stopWaiting = (): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', onAbort);
        lane.waiters.delete(admit);
        this.#waiting--;
      };
      const admit = (): void => {
        stopWaiting();
        this.#take(lane);
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

  /** Gives free slots to the names in their order; who is served goes to its end. */
  #handOn(): void {
    for (const [name, lane] of [...this.#lanes]) {
      if (this.#held >= this.bounds.total) return;
      const [next] = lane.waiters;
      if (next === undefined || !this.#isFree(lane)) continue;
      next();
      this.#lanes.delete(name);
      this.#lanes.set(name, lane);
    }
  }
}

/**
 * Slots that one name may hold of `total`, so that there is always one for another name: half, since another that had a single
 * one would wait five times as long beside slow queries (docs/decisions/engine-process.md). A single slot is everybody's.
 */
export function fairShare(total: number): number {
  return Math.max(1, Math.floor(total / 2));
}

function full(): ServiceError {
  return new ServiceError('tooManyConcurrentQueries', 'Too many queries wait for their turn.', { retryAfter: 1 });
}

function late(): ServiceError {
  return new ServiceError('deadlineExceeded', 'The deadline passed while the query waited for its turn.');
}
