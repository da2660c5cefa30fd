/** A bound on what an engine does at once; those beyond it wait in turn, inside their own deadline. */
import { ServiceError } from '../errors';
import type { RunLimits } from './contract';
import { abandoned, checkLimits, remaining } from './giving-up';

export class Slots {
  /** Each lets one waiting run begin; oldest first. */
  readonly #waiting = new Set<() => void>();
  readonly #count: number;
  #taken = 0;

  constructor(count: number) {
    this.#count = count;
  }

  /** Runs that hold a slot now. */
  get taken(): number {
    return this.#taken;
  }

  /** Runs that wait for one now. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /**
   * Does `work` once a slot is free.
   *
   * @throws ServiceError `deadlineExceeded`; AbortError after `limits.signal`; whatever `work` throws
   */
  async use<T>(limits: RunLimits, work: () => Promise<T>): Promise<T> {
    checkLimits(limits);
    if (this.#taken < this.#count) this.#taken++;
    else await this.#turn(limits);
    try {
      return await work();
    } finally {
      this.#release();
    }
  }

  /** Resolves with a slot handed over: it never was free, so nobody slips in between. */
  #turn(limits: RunLimits): Promise<void> {
    return new Promise((resolve, reject) => {
      const stopWaiting = (): void => {
        clearTimeout(timer);
        limits.signal.removeEventListener('abort', onAbort);
        this.#waiting.delete(take);
      };
      const take = (): void => {
        stopWaiting();
        resolve();
      };
      const onAbort = (): void => {
        stopWaiting();
        reject(abandoned());
      };
      const onDeadline = (): void => {
        stopWaiting();
        reject(new ServiceError('deadlineExceeded', 'The query could not start in time: others are running.'));
      };
      const timer = setTimeout(onDeadline, remaining(limits));
      limits.signal.addEventListener('abort', onAbort, { once: true });
      this.#waiting.add(take);
    });
  }

  #release(): void {
    const [next] = this.#waiting;
    if (next === undefined) this.#taken--;
    else next();
  }
}
