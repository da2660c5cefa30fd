/** How often a limit passes on the clock before it counts although the process got no processor. */
const LONGEST = 5;

/**
 * Time of a process since a moment, so that a busy machine is not taken for a process that hangs: a limit has passed when
 * it has passed on the clock and the process has been at work for half of it, or when it has passed several times over.
 */
export class Stopwatch {
  readonly #started = performance.now();
  readonly #startedCpu: number | null;

  /** @param cpu milliseconds of CPU time so far; null where that is not known */
  constructor(private readonly cpu: () => number | null) {
    this.#startedCpu = cpu();
  }

  /** Milliseconds on the clock. */
  get elapsed(): number {
    return performance.now() - this.#started;
  }

  /** @param limit milliseconds */
  hasPassed(limit: number): boolean {
    const { elapsed } = this;
    if (elapsed < limit) return false;
    const cpu = this.#startedCpu === null ? null : this.cpu();
    if (cpu === null || this.#startedCpu === null) return elapsed >= 2 * limit;
    return cpu - this.#startedCpu >= limit / 2 || elapsed >= LONGEST * limit;
  }
}
