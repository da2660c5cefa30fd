/** A semaphore shared fairly: a name with many waiting delays none with few. */
import { ServiceError } from '../errors';
import { type Clock, SYSTEM_CLOCK } from './clock';
import { checkLimits, deadlineExceeded, remaining, type RunLimits } from './deadline';

export interface SlotBounds {
  /** Slots of all names together. */
  readonly total: number;
  /** Slots of one name. */
  readonly perName: number;
  /** The same while another name has used slots within the last `RECENT` milliseconds; default: as many. */
  readonly perNameBesideOthers?: number;
  /**
   * How many may wait, all together; default: any number. Where as many wait, one more of a name with few takes the place of the
   * newest of the name with most: no name fills the queue for the others.
   */
  readonly waiting?: number;
  /** How long a name that is not alone holds its slot on top, unused; default: it does not. */
  readonly pause?: Pause;
}

/** A share of the processors: work that took longer than `beyond` milliseconds is followed by a pause of `times` what was beyond. */
export interface Pause {
  readonly beyond: number;
  readonly times: number;
  /** Slots whose other names count as well. */
  readonly beside: FairSlots;
}

const RECENT = 10_000;

interface Waiter {
  /** Waits behind those of its name that do not. */
  readonly isLater: boolean;
  /** Hands it a slot. */
  readonly admit: () => void;
  /** Its place in the queue goes to another. */
  readonly refuse: () => void;
}

interface Lane {
  readonly name: string;
  held: number;
  /** Oldest first, and then those that are later. */
  readonly waiters: Waiter[];
}

/** Slots are handed out round robin by name, first come first served within a name. */
export class FairSlots {
  /** In the order in which they are served next. */
  readonly #lanes = new Map<string, Lane>();
  /** When each name has asked for a slot last; the most recent comes last. */
  readonly #uses = new Map<string, number>();
  #held = 0;
  #waiting = 0;

  constructor(
    private readonly bounds: SlotBounds,
    private readonly clock: Clock = SYSTEM_CLOCK,
  ) {}

  get held(): number {
    return this.#held;
  }

  get waiting(): number {
    return this.#waiting;
  }

  /**
   * Runs `work` holding a slot until it has ended.
   *
   * @param name under which the slot is counted
   * @param isLater waits until nothing else of this name waits
   * @throws ServiceError `tooManyConcurrentQueries` when too many wait, and most of them of this name, `deadlineExceeded` when no slot is free in time;
   *   AbortError or the signal's reason after a cancellation; whatever `work` throws
   */
  async use<T>(name: string, limits: RunLimits, work: () => Promise<T>, isLater = false): Promise<T> {
    checkLimits(limits, this.clock);
    const lane = this.#lanes.get(name) ?? { name, held: 0, waiters: [] };
    this.#lanes.set(name, lane);
    this.#note(name);
    try {
      await this.#acquire(lane, limits, isLater);
      const started = this.clock.monotonic();
      try {
        return await work();
      } finally {
        const pause = this.#pauseAfter(name, this.clock.monotonic() - started);
        if (pause > 0) this.clock.after(pause, () => this.#release(lane), true);
        else this.#release(lane);
      }
    } finally {
      this.#forget(lane);
    }
  }

  #pauseAfter(name: string, milliseconds: number): number {
    const { pause } = this.bounds;
    if (pause === undefined || milliseconds <= pause.beyond) return 0;
    return this.isAlone(name) && pause.beside.isAlone(name) ? 0 : pause.times * (milliseconds - pause.beyond);
  }

  #release(lane: Lane): void {
    lane.held--;
    this.#held--;
    this.#handOn();
    this.#forget(lane);
  }

  #forget(lane: Lane): void {
    const { name, held, waiters } = lane;
    if (held === 0 && waiters.length === 0 && this.#lanes.get(name) === lane) this.#lanes.delete(name);
  }

  #isFree(lane: Lane): boolean {
    const { perName, perNameBesideOthers = perName, total } = this.bounds;
    const bound = this.isAlone(lane.name) ? perName : perNameBesideOthers;
    return lane.held < bound && this.#held < total;
  }

  #note(name: string): void {
    this.#uses.delete(name);
    this.#uses.set(name, this.clock.monotonic());
  }

  /** Whether no other name has asked for a slot within the last `RECENT` milliseconds. */
  isAlone(name: string): boolean {
    const since = this.clock.monotonic() - RECENT;
    for (const [other, at] of this.#uses) {
      if (at >= since) break;
      this.#uses.delete(other);
    }
    return this.#uses.size - (this.#uses.has(name) ? 1 : 0) === 0;
  }

  #take(lane: Lane): void {
    lane.held++;
    this.#held++;
  }

  /** Resolves when the slot is already counted as held, so no other caller gets in between. */
  async #acquire(lane: Lane, limits: RunLimits, isLater: boolean): Promise<void> {
    if (this.#isFree(lane)) {
      this.#take(lane);
      return;
    }
    if (this.#waiting >= (this.bounds.waiting ?? Infinity)) this.#makeRoom(lane);
    const { signal } = limits;
    await new Promise<void>((resolve, reject) => {
      const stopWaiting = (): void => {
        cancelTimer();
        signal.removeEventListener('abort', onAbort);
        lane.waiters.splice(lane.waiters.indexOf(waiter), 1);
        this.#waiting--;
      };
      const waiter: Waiter = {
        isLater,
        admit: () => {
          stopWaiting();
          this.#take(lane);
          resolve();
        },
        refuse: () => {
          stopWaiting();
          reject(queueFull());
        },
      };
      const onAbort = (): void => {
        stopWaiting();
        reject(signal.reason as Error);
      };
      const cancelTimer = this.clock.after(remaining(limits, this.clock), () => {
        stopWaiting();
        reject(deadlineExceeded('The deadline passed while the query waited for a slot.'));
      });
      signal.addEventListener('abort', onAbort);
      const firstLater = isLater ? -1 : lane.waiters.findIndex((other) => other.isLater);
      lane.waiters.splice(firstLater < 0 ? lane.waiters.length : firstLater, 0, waiter);
      this.#waiting++;
    });
  }

  /** @throws ServiceError where no name has two waiters more than this one: its place would be worth no more to another */
  #makeRoom(lane: Lane): void {
    const longest = [...this.#lanes.values()].reduce((a, b) => (b.waiters.length > a.waiters.length ? b : a), lane);
    if (longest.waiters.length <= lane.waiters.length + 1) throw queueFull();
    longest.waiters.at(-1)?.refuse();
  }

  /** Hands free slots to the names in their order; a name that is served moves to the end. */
  #handOn(): void {
    for (const [name, lane] of [...this.#lanes]) {
      if (this.#held >= this.bounds.total) return;
      const [next] = lane.waiters;
      if (next === undefined || !this.#isFree(lane)) continue;
      next.admit();
      this.#lanes.delete(name);
      this.#lanes.set(name, lane);
    }
  }
}

function queueFull(): ServiceError {
  return new ServiceError('tooManyConcurrentQueries', 'Too many queries wait for a slot.', { retryAfter: 1 });
}

/**
 * Slots that one name may hold of `total`: half of them, as another name with a single slot would wait five times as long
 * next to slow queries (docs/decisions/engine-process.md); one at least.
 */
export function fairShare(total: number): number {
  return Math.max(1, Math.floor(total / 2));
}
