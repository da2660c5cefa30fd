import type { Clock } from '../packages/duckdb-engine/src/concurrency/clock';

interface Timer {
  readonly at: number;
  readonly callback: () => void;
}

/** A clock that moves when the test says so: nothing depends on how busy the machine is. */
export class ManualClock implements Clock {
  #elapsed = 0;
  readonly #timers = new Set<Timer>();
  /** As the machine has it at the start, for deadlines that other parts set. */
  readonly #start = { now: Date.now(), monotonic: Math.floor(performance.now()) };

  now(): number {
    return this.#start.now + this.#elapsed;
  }

  monotonic(): number {
    return this.#start.monotonic + this.#elapsed;
  }

  after(milliseconds: number, callback: () => void): () => void {
    const timer = { at: this.#elapsed + Math.max(0, milliseconds), callback };
    this.#timers.add(timer);
    return () => void this.#timers.delete(timer);
  }

  /** Timers that have not fired. */
  get pending(): number {
    return this.#timers.size;
  }

  /** Milliseconds until the next timer; Infinity: there is none. */
  get next(): number {
    return Math.max(0, Math.min(...[...this.#timers].map(({ at }) => at)) - this.#elapsed);
  }

  /** Moves on, firing timers in their order; what each of them starts goes on before the next one fires. */
  async advance(milliseconds: number): Promise<void> {
    const end = this.#elapsed + milliseconds;
    await settled();
    for (;;) {
      const [due] = [...this.#timers].filter(({ at }) => at <= end).sort((a, b) => a.at - b.at);
      if (due === undefined) break;
      this.#timers.delete(due);
      this.#elapsed = Math.max(this.#elapsed, due.at);
      due.callback();
      await settled();
    }
    this.#elapsed = end;
    await settled();
  }

  /** Moves on to the next timer; with none it stands still. */
  async advanceToNext(): Promise<void> {
    if (this.pending > 0) await this.advance(this.next);
  }

  /** Moves on at once, as while the event loop is blocked: timers fire late. */
  async jump(milliseconds: number): Promise<void> {
    this.#elapsed += milliseconds;
    await this.advance(0);
  }
}

/** Lets promises and callbacks of the event loop go on that wait for nothing outside the process. */
export async function settled(): Promise<void> {
  for (let i = 0; i < 5; i++) await new Promise((resolve) => setImmediate(resolve));
}
