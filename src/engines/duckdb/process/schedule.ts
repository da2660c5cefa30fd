/** What is known of a call: how often a process died while it ran. */
export interface Scheduled {
  deaths: number;
}

/** A call during which so many processes died is taken for the reason, whoever ran beside it. */
const MOST_DEATHS = 3;

/**
 * Which calls are sent to a process now. All at once, unless a process died and it is not known of which call: those that
 * ran then are suspects, which begin one after the other, each on trial for a while: alone, if nothing else runs. If the
 * process dies of one that is alone, that is the reason, and is not sent again.
 */
export class Schedule<Call extends Scheduled> {
  readonly #waiting = new Set<Call>();
  readonly #suspects = new Set<Call>();
  readonly #running = new Set<Call>();
  #onTrial: Call | null = null;
  #alone = false;

  get running(): ReadonlySet<Call> {
    return this.#running;
  }

  /** The suspect that the others wait for. */
  get onTrial(): Call | null {
    return this.#onTrial;
  }

  get isEmpty(): boolean {
    return this.#waiting.size + this.#suspects.size + this.#running.size === 0;
  }

  add(call: Call): void {
    this.#waiting.add(call);
  }

  /** Calls to send, which count as running from now on. */
  take(): Call[] {
    const taken: Call[] = [];
    const [next] = this.#suspects;
    if (this.#onTrial === null && next !== undefined) {
      this.#suspects.delete(next);
      this.#onTrial = next;
      this.#alone = this.#running.size === 0;
      taken.push(next);
    }
    if (!this.#alone) {
      taken.push(...this.#waiting);
      this.#waiting.clear();
    }
    for (const call of taken) this.#running.add(call);
    return taken;
  }

  /** The suspect has run for long enough: the next may begin, and everybody else. */
  acquit(): void {
    this.#onTrial = null;
    this.#alone = false;
  }

  /** The call is over, or given up before it was sent. */
  delete(call: Call): void {
    for (const calls of [this.#waiting, this.#suspects, this.#running]) calls.delete(call);
    if (this.#onTrial === call) this.acquit();
  }

  /**
   * The process died.
   *
   * @param reasons the calls it was ended for; empty: it is not known
   * @param certain whether one that runs alone is the reason at once, rather than when it happens again
   * @returns the calls that are not sent again, deleted; the others wait
   */
  died(reasons: ReadonlySet<Call>, certain: boolean): Call[] {
    // Where it is not known, who began last is tried first: what takes a process down soon does so while it is alone.
    const running = reasons.size === 0 ? [...this.#running].reverse() : [...this.#running];
    const single = running.length === 1;
    const refused: Call[] = [];
    for (const call of running) {
      if (reasons.size === 0) call.deaths++;
      const proven = reasons.size === 0 && single && (certain || call.deaths > 1);
      if (reasons.has(call) || proven || call.deaths >= MOST_DEATHS) refused.push(call);
      else if (reasons.size > 0) this.#waiting.add(call);
      else this.#suspects.add(call);
    }
    this.#running.clear();
    this.acquit();
    for (const call of refused) this.delete(call);
    return refused;
  }
}
