/** Resolving a query as far as it goes: faults are collected, and what depends on one gives no further fault. */
import { QueryError } from '../errors';

/** Faults of one query that are collected; resolving ends there. */
const MOST_FAULTS = 20;

export class Survey {
  readonly #faults: QueryError[] = [];
  readonly #unknown = new WeakSet<object>();
  #consequences = 0;

  /** In the order of the text. */
  get faults(): readonly QueryError[] {
    return [...this.#faults].sort((a, b) => (a.span?.start ?? 0) - (b.span?.start ?? 0));
  }

  /**
   * Does `work`, and `instead` where it fails. A failure counts as a fault of its own unless another one, or something unknown,
   * was met on the way to it.
   */
  recover<T>(work: () => T, instead: () => T): T {
    const before = this.#faults.length + this.#consequences;
    try {
      return work();
    } catch (error) {
      if (!(error instanceof QueryError) || error.fault === 'resourcesExceeded') throw error;
      if (this.#faults.length + this.#consequences === before) this.add(error);
      return instead();
    }
  }

  /** @throws TooManyFaults */
  add(fault: QueryError): void {
    if (this.#faults.length === MOST_FAULTS) throw new TooManyFaults();
    this.#faults.push(fault);
  }

  /** Marks an expression, a column or the output of a query as the replacement of something that failed. */
  markUnknown<T extends object>(what: T): T {
    this.#unknown.add(what);
    return what;
  }

  isUnknown(what: object): boolean {
    return this.#unknown.has(what);
  }

  /** Something unknown is used: a failure around it is no fault of its own. */
  useUnknown(): void {
    this.#consequences++;
  }
}

/** Ends a survey; no fault of the query. */
export class TooManyFaults extends Error {
  override readonly name = 'TooManyFaults';
}
