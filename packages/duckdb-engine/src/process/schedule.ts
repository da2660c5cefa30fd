/** What is known of a call. */
export interface Scheduled {
  /** Name of the key on whose behalf it runs. */
  readonly keyName: string;
  /** How often a process died while it ran, for a reason that is not known. */
  deaths: number;
}

/** A call during which so many processes died is taken for the reason, whoever ran beside it. */
const MOST_DEATHS = 3;

/**
 * Which calls are sent to a process now. All at once, unless a process died and it is not known of which call: those that
 * ran then are suspects, which begin one after the other, each on trial for a while. Names with a suspect wait until then,
 * the others do not. If the process dies again, the one on trial is the reason where it may be, and is not sent again.
 */
export class Schedule<Call extends Scheduled> {
  readonly #waiting = new Set<Call>();
  readonly #suspects = new Set<Call>();
  readonly #running = new Set<Call>();
  #onTrial: Call | null = null;

  get running(): ReadonlySet<Call> {
    return this.#running;
  }

  /** The suspect that the others wait for. */
  get onTrial(): Call | null {
    return this.#onTrial;
  }

  add(call: Call): void {
    this.#waiting.add(call);
  }

  /** Calls to send, which count as running from now on. */
  take(): Call[] {
    const taken: Call[] = [];
    if (this.#onTrial === null && this.#suspects.size > 0) {
      this.#onTrial = this.#nextSuspect();
      this.#suspects.delete(this.#onTrial);
      taken.push(this.#onTrial);
    }
    const suspected = new Set([...this.#suspects].map(({ keyName }) => keyName));
    if (this.#onTrial !== null) suspected.add(this.#onTrial.keyName);
    taken.push(...[...this.#waiting].filter(({ keyName }) => !suspected.has(keyName)));
    for (const call of taken) {
      this.#waiting.delete(call);
      this.#running.add(call);
    }
    return taken;
  }

  /** The suspect has run for long enough: the next may begin, and who waits for it. */
  acquit(): void {
    this.#onTrial = null;
  }

  /** The call is over, or cancelled before it was sent. */
  delete(call: Call): void {
    for (const calls of [this.#waiting, this.#suspects, this.#running]) calls.delete(call);
    if (this.#onTrial === call) this.acquit();
  }

  /**
   * The process died.
   *
   * @param suspects calls that may be the reason; empty: any that runs
   * @param isKnown whether these are
   * @param certain whether one that runs alone is the reason at once, rather than when it happens again
   * @returns the calls that are not sent again, deleted; the others wait
   */
  died(suspects: ReadonlySet<Call>, isKnown: boolean, certain: boolean): Call[] {
    const running = [...this.#running];
    const among = suspects.size === 0 ? running : running.filter((call) => suspects.has(call));
    const reasons = isKnown ? new Set(among) : this.#reasons(among, certain);
    // Who began last is tried first: what takes a process down soon does so while it is on trial.
    if (reasons.size === 0) running.reverse();
    this.#running.clear();
    this.acquit();
    for (const call of running) {
      if (reasons.has(call)) continue;
      if (reasons.size > 0 || !among.includes(call)) this.#waiting.add(call);
      else this.#suspects.add(call);
    }
    return running.filter((call) => reasons.has(call));
  }

  /** The calls that the process must have died of; counts its death where that is not known. */
  #reasons(suspects: readonly Call[], certain: boolean): ReadonlySet<Call> {
    if (this.#onTrial !== null && suspects.includes(this.#onTrial)) return new Set([this.#onTrial]);
    if (certain && suspects.length === 1) return new Set(suspects);
    for (const call of suspects) call.deaths++;
    return new Set(suspects.filter(({ deaths }) => deaths >= MOST_DEATHS));
  }

  /** Of a name with as few suspects as any: who has sent one request is more likely to have sent a harmless one. */
  #nextSuspect(): Call {
    const counts = new Map<string, number>();
    for (const { keyName } of this.#suspects) counts.set(keyName, (counts.get(keyName) ?? 0) + 1);
    const [first, ...others] = this.#suspects;
    if (first === undefined) throw new Error('There is no suspect.');
    return others.reduce(
      (best, call) => ((counts.get(call.keyName) ?? 0) < (counts.get(best.keyName) ?? 0) ? call : best),
      first,
    );
  }
}
