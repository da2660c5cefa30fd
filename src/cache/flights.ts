/** Runs in flight: one for each question at a time, shared by everybody who asks it meanwhile. */
import type { RunLimits } from '../engines/contract';
import { abortError, checkLimits, raceLimits } from '../concurrency/deadline';

/** How often a run that only other processes wait for asks whether they still do, in milliseconds. */
const ASK_ELSEWHERE = 500;

/** What a flight's work may know and say of those who wait for it. */
export interface FlightControl {
  /** Aborted when nobody waits any more. */
  readonly signal: AbortSignal;
  /** Whether somebody waits in another process; set by work that others can wait for. Its failure counts as no. */
  awaitedElsewhere: (() => Promise<boolean>) | null;
}

interface Flight<T> {
  readonly outcome: Promise<T>;
  readonly control: FlightControl;
  readonly abort: AbortController;
  /** Those of this process. */
  waiters: number;
  /** Whether somebody already looks if it is to be aborted. */
  doubted: boolean;
}

export class Flights<T> {
  /** Those that may be joined, by name. */
  readonly #open = new Map<string, Flight<T>>();
  /** All that have not ended, also those that were aborted and do not know it yet. */
  readonly #aloft = new Set<Flight<T>>();

  /** Flights that may be joined. */
  get size(): number {
    return this.#open.size;
  }

  has(name: string): boolean {
    return this.#open.has(name);
  }

  /**
   * Waits for the flight of that name, beginning it where there is none. Who leaves, by their deadline or signal, disturbs
   * nobody; when the last has left, the work is aborted.
   *
   * @throws whatever `work` rejects with; ServiceError deadlineExceeded and AbortError by `limits`
   */
  async join(name: string, limits: RunLimits, work: (control: FlightControl) => Promise<T>): Promise<T> {
    // Nothing is begun for who has left already.
    checkLimits(limits);
    const flight = this.#open.get(name) ?? this.#begin(name, work);
    flight.waiters++;
    try {
      return await raceLimits(limits, () => flight.outcome, ignore);
    } finally {
      flight.waiters--;
      if (flight.waiters === 0 && !flight.doubted) void this.#doubt(name, flight);
    }
  }

  /** Aborts every flight, whoever waits, and resolves when all have ended. */
  async close(): Promise<void> {
    this.#open.clear();
    for (const { abort } of this.#aloft) abort.abort(abortError());
    while (this.#aloft.size > 0) await Promise.allSettled([...this.#aloft].map(({ outcome }) => outcome));
  }

  #begin(name: string, work: (control: FlightControl) => Promise<T>): Flight<T> {
    const abort = new AbortController();
    const control: FlightControl = { signal: abort.signal, awaitedElsewhere: null };
    const outcome = work(control).finally(() => {
      this.#aloft.delete(flight);
      if (this.#open.get(name) === flight) this.#open.delete(name);
    });
    outcome.catch(ignore); // whoever still waits hears of it
    const flight: Flight<T> = { outcome, control, abort, waiters: 0, doubted: false };
    this.#open.set(name, flight);
    this.#aloft.add(flight);
    return flight;
  }

  /** Aborts a flight that nobody waits for; while somebody elsewhere does it goes on, and who asks here joins it. */
  async #doubt(name: string, flight: Flight<T>): Promise<void> {
    flight.doubted = true;
    while (flight.waiters === 0 && this.#open.get(name) === flight) {
      const awaited = (await flight.control.awaitedElsewhere?.().catch(() => false)) ?? false;
      if (flight.waiters > 0 || this.#open.get(name) !== flight) break;
      if (!awaited) {
        this.#open.delete(name);
        flight.abort.abort(abortError());
        break;
      }
      await new Promise((resolve) => setTimeout(resolve, ASK_ELSEWHERE).unref());
    }
    flight.doubted = false;
  }
}

function ignore(): void {
  // on purpose
}
