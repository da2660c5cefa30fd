/** Requests per time, as whole numbers: a policy of `RateLimit-Policy` (docs/http.md). */
export interface RatePolicy {
  /** Requests in a window. */
  readonly quota: number;
  /** Seconds. */
  readonly window: number;
}

/** Longest window for which a rate that is no whole number is looked for, in seconds. */
const LONGEST_SEARCH = 60;

/** No window is longer, in seconds: a day. */
const LONGEST_WINDOW = 86_400;

/** A rate as whole requests in whole seconds, in the shortest window; never more than the rate. */
export function policyOf(requestsPerSecond: number): RatePolicy {
  for (let window = 1; window <= LONGEST_SEARCH; window++) {
    const quota = Math.round(requestsPerSecond * window);
    if (quota > 0 && Math.abs(quota - requestsPerSecond * window) < 1e-9) return { quota, window };
  }
  const window = Math.min(LONGEST_WINDOW, Math.ceil(1 / requestsPerSecond));
  return { quota: Math.max(1, Math.floor(requestsPerSecond * window)), window };
}

/** Requests of all processes in the current window of the cluster. */
export interface ClusterCount {
  readonly requested: number;
  /** Milliseconds until that window ends. */
  readonly endsIn: number;
}

/**
 * The requests of one key or endpoint in the window that is now. A window begins with the first request after the last
 * one's end. Times are milliseconds of `performance.now()`.
 */
export class RateWindow {
  /** Which window it is: counts up. */
  serial = 0;
  /** Requests to this process in this window, refused ones included. */
  requested = 0;
  #end = 0;
  /** What the cluster had counted when it was last heard of, in this window; null: it has not been. */
  #heard: number | null = null;
  #admitted = 0;
  /** Requests to other processes in this window, as far as is known. */
  #elsewhere = 0;
  /** What of the quota is for this process alone; null: what others leave of it. */
  #share: number | null = null;
  /** A window by this process's clock alone, with twice the quota: windows that follow one another too fast stay below it. */
  readonly #bound = { end: 0, admitted: 0 };

  constructor(readonly policy: RatePolicy) {}

  /** Counts a request. @returns whether it is within the limit */
  take(now: number): boolean {
    if (now >= this.#end) this.#begin(now);
    this.requested++;
    if (this.remaining === 0) return false;
    this.#admitted++;
    this.#bound.admitted++;
    return true;
  }

  /** Requests that this process would still let through. */
  get remaining(): number {
    const { quota } = this.policy;
    const left = (this.#share ?? quota - this.#elsewhere) - this.#admitted;
    return Math.max(0, Math.min(left, 2 * quota - this.#bound.admitted));
  }

  /** Whole seconds until the window ends; at least 1. */
  reset(now: number): number {
    // Clocks are fractions of milliseconds: a sum less one of its parts is not always the other.
    return Math.max(1, Math.ceil((this.#end - now) / 1000 - 1e-6));
  }

  /** Whether the window is over, and with it everything that is known of it. */
  over(now: number): boolean {
    return now >= this.#end;
  }

  /**
   * Takes over what the cluster counts, and the end of its window: from then on the windows of all processes are one. The
   * end moves on once only, so that it comes where Redis's clock does not move. A count that has fallen is of the cluster's
   * next window, and not for this one.
   *
   * @param sent requests of this process that the count includes
   */
  learn({ requested, endsIn }: ClusterCount, sent: number, now: number): void {
    if (this.#heard !== null && requested < this.#heard) return;
    this.#elsewhere = Math.max(0, requested - sent);
    const end = now + Math.min(endsIn, this.policy.window * 1000);
    this.#end = this.#heard === null ? end : Math.min(this.#end, end);
    this.#heard = requested;
  }

  /**
   * Where the last window exceeded its quota, each process begins the next with its share of the quota, by its share of the
   * requests, until it learns more. A share below one request is not used.
   */
  #begin(now: number): void {
    const { quota, window } = this.policy;
    const all = this.requested + this.#elsewhere;
    const recent = now - this.#end < window * 1000;
    const share = Math.floor((quota * this.requested) / all);
    this.#share = recent && this.#elsewhere > 0 && all > quota && share > 0 ? share : null;
    this.#end = now + window * 1000;
    this.#heard = null;
    if (now >= this.#bound.end) {
      this.#bound.end = this.#end;
      this.#bound.admitted = 0;
    }
    this.serial++;
    this.requested = 0;
    this.#admitted = 0;
    this.#elsewhere = 0;
  }
}
