/** A circuit breaker: after failures in a row it refuses at once, then lets one request try whether it is over. */

export type BreakerState = 'closed' | 'open' | 'half-open';

interface BreakerOptions {
  /** Failures in a row that open it. */
  readonly failures: number;
  /** Milliseconds for which it stays open before one request may try. */
  readonly cooldown: number;
  /** Milliseconds, monotonic. */
  readonly clock?: () => number;
  readonly onChange?: (state: 'closed' | 'open') => void;
}

export class Breaker {
  readonly #options: BreakerOptions;
  readonly #clock: () => number;
  #failures = 0;
  #openedAt = 0;
  #trial: symbol | null = null;

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

  /**
   * What a request calls when it is done, however it went; null: it may not go ahead. While half-open one request at a
   * time is let through.
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

  /** The service has answered. */
  succeeded(): void {
    const wasOpen = this.state !== 'closed';
    this.#failures = 0;
    this.#trial = null;
    if (wasOpen) this.#options.onChange?.('closed');
  }

  /** The service has not answered, or with an outage. */
  failed(): void {
    const { state } = this;
    this.#failures++;
    if (this.#failures < this.#options.failures) return;
    // What was under way when it opened fails late; that does not prolong it.
    if (state !== 'open') this.#openedAt = this.#clock();
    if (state === 'closed') this.#options.onChange?.('open');
  }
}
