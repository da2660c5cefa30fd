/** Refuses requests to a service that keeps failing, then lets one trial through (docs/decisions/bounded-work.md). */
import { type Clock, SYSTEM_CLOCK } from '@logquay/duckdb-engine/concurrency';

export type BreakerState = 'closed' | 'open' | 'half-open';

export interface CircuitBreakerOptions {
  /** Failures in a row that open it. */
  readonly failures: number | (() => number);
  /** Milliseconds from opening until a trial is allowed. */
  readonly cooldown: number | (() => number);
  /** Starts half-open: the service has not answered yet. */
  readonly untested?: boolean;
  readonly clock?: Clock;
  readonly onChange?: (state: 'closed' | 'open') => void;
}

export class CircuitBreaker {
  readonly #options: CircuitBreakerOptions;
  readonly #clock: Clock;
  #failures = 0;
  /** Set while it is not closed: when a trial is allowed, on the monotonic clock. */
  #trialAt: number | null;
  #trial: symbol | null = null;

  constructor(options: CircuitBreakerOptions) {
    this.#options = options;
    this.#clock = options.clock ?? SYSTEM_CLOCK;
    this.#trialAt = options.untested === true ? -Infinity : null;
  }

  get state(): BreakerState {
    if (this.#trialAt === null) return 'closed';
    return this.remaining() > 0 ? 'open' : 'half-open';
  }

  /** Milliseconds until a trial is allowed; 0 when it is not open. */
  remaining(): number {
    return this.#trialAt === null ? 0 : Math.max(0, this.#trialAt - this.#clock.monotonic());
  }

  /**
   * Admits a request; while half-open one at a time.
   *
   * @returns to be called when the request has ended, however it went; null: it is refused
   */
  admit(): (() => void) | null {
    const { state } = this;
    if (state === 'closed') return () => undefined;
    if (state === 'open' || this.#trial !== null) return null;
    const trial = Symbol();
    this.#trial = trial;
    return () => {
      if (this.#trial === trial) this.#trial = null;
    };
  }

  succeeded(): void {
    const wasOpen = this.#trialAt !== null;
    this.#failures = 0;
    this.#trialAt = null;
    this.#trial = null;
    if (wasOpen) this.#options.onChange?.('closed');
  }

  failed(): void {
    const { failures } = this.#options;
    this.#failures++;
    // Requests that were in flight when it opened fail late; they do not prolong it.
    if (this.state === 'half-open') this.trip();
    else if (this.state === 'closed' && this.#failures >= (typeof failures === 'number' ? failures : failures()))
      this.trip();
  }

  /** Opens it, whatever the number of failures. */
  trip(): void {
    const { cooldown } = this.#options;
    const wasClosed = this.#trialAt === null;
    this.#trialAt = this.#clock.monotonic() + (typeof cooldown === 'number' ? cooldown : cooldown());
    if (wasClosed) this.#options.onChange?.('open');
  }
}
