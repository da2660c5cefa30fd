/** What is known of a call: how often a process died while it ran. */
export interface Scheduled {
  deaths: number;
}

/** A call during which so many processes died is taken for the reason, whoever ran beside it. */
const MOST_DEATHS = 3;

/**
 * Which calls are sent to a process now. All at once, unless a process died and it is not known of which call: those that
 * ran then are suspects, of which one runs at a time, alone at first. If the process dies of one that is alone, it is the
 * reason, and is not sent again.
 */
export class Schedule<Call extends Scheduled> {
  readonly #waiting = new Set<Call>();
  readonly #suspects = new Set<Call>();
  readonly #running = new Set<Call>();
  #suspect: Call | null = null;
  #alone = false;

  get running(): ReadonlySet<Call> {
    return this.#running;
  }

  /** Whether a suspect runs alone now. */
  get alone(): boolean {
    return this.#alone;
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
    if (this.#suspect === null && next !== undefined) {
      this.#suspects.delete(next);
      this.#suspect = next;
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

  /** The suspect has been alone for long enough: others may join it. */
  join(): void {
    this.#alone = false;
  }

  /** The call is over, or given up before it was sent. */
  delete(call: Call): void {
    for (const calls of [this.#waiting, this.#suspects, this.#running]) calls.delete(call);
    if (this.#suspect !== call) return;
    this.#suspect = null;
    this.#alone = false;
  }

  /**
   * The process died.
   *
   * @param reasons the calls it was ended for; empty: it is not known
   * @param certain whether one that runs alone is the reason at once, rather than when it happens again
   * @returns the calls that are not sent again, deleted; the others wait
   */
  died(reasons: ReadonlySet<Call>, certain: boolean): Call[] {
    const running = [...this.#running];
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
    this.#suspect = null;
    this.#alone = false;
    for (const call of refused) this.delete(call);
    return refused;
  }
}
