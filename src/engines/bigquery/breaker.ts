/** A circuit breaker: after failures in a row it refuses at once, then lets single requests try whether it is over. */

export type BreakerState = 'closed' | 'open' | 'half-open';

interface BreakerOptions {
  /** Failures in a row that open it. */
  readonly failures: number;
  /** Milliseconds for which it stays open before one request may try. */
  readonly cooldown: number;
  /** Milliseconds, monotonic. */
  readonly clock?: () => number;
}

export class Breaker {
  readonly #options: BreakerOptions;
  readonly #clock: () => number;
  #failures = 0;
  #openedAt = 0;
  #trying = false;

  constructor(options: BreakerOptions) {
    this.#options = options;
    this.#clock = options.clock ?? (() => performance.now());
  }

  get state(): BreakerState {
    if (this.#failures < this.#options.failures) return 'closed';
    return this.remaining() > 0 ? 'open' : 'half-open';
  }

  /** Milliseconds until a request may try; 0 when it is not open. */
  remaining(): number {
    if (this.#failures < this.#options.failures) return 0;
    return Math.max(0, this.#openedAt + this.#options.cooldown - this.#clock());
  }

  /** Whether a request may go ahead. While half-open it is one at a time, which must report how it went. */
  admit(): boolean {
    const { state } = this;
    if (state === 'closed') return true;
    if (state === 'open' || this.#trying) return false;
    this.#trying = true;
    return true;
  }

  succeeded(): void {
    this.#failures = 0;
    this.#trying = false;
  }

  failed(): void {
    this.#failures++;
    this.#trying = false;
    if (this.#failures >= this.#options.failures) this.#openedAt = this.#clock();
  }

  /** The request ended without telling anything about the service. */
  undecided(): void {
    this.#trying = false;
  }
}
