/** A bound on what an engine does at once; those beyond it wait in turn, inside their own deadline. */
import { ServiceError } from '../errors';
import type { RunLimits } from './contract';

interface Waiter {
  readonly take: () => void;
}

export class Slots {
  readonly #waiting = new Set<Waiter>();
  #free: number;

  constructor(count: number) {
    this.#free = count;
  }

  /** Runs `work` once a slot is free. @throws ServiceError `deadlineExceeded`; AbortError after `limits.signal` */
  async use<T>(limits: RunLimits, work: () => Promise<T>): Promise<T> {
    await this.#take(limits);
    try {
      return await work();
    } finally {
      this.#release();
    }
  }

  #take(limits: RunLimits): Promise<void> {
    if (limits.signal.aborted) return Promise.reject(abandoned());
    if (this.#free > 0) {
      this.#free--;
      return Promise.resolve();
    }
    return new Promise((resolve, reject) => {
      const leave = (error: Error): void => {
        this.#waiting.delete(waiter);
        settle();
        reject(error);
      };
      const onAbort = (): void => leave(abandoned());
      const timer = setTimeout(
        () => leave(new ServiceError('deadlineExceeded', 'The query could not start in time: others are running.')),
        Math.max(0, limits.deadline - performance.now()),
      );
      const settle = (): void => {
        clearTimeout(timer);
        limits.signal.removeEventListener('abort', onAbort);
      };
      const waiter: Waiter = {
        take: () => {
          settle();
          resolve();
        },
      };
      this.#waiting.add(waiter);
      limits.signal.addEventListener('abort', onAbort, { once: true });
    });
  }

  #release(): void {
    const [next] = this.#waiting;
    if (next === undefined) {
      this.#free++;
      return;
    }
    this.#waiting.delete(next);
    next.take();
  }
}

function abandoned(): DOMException {
  return new DOMException('Nobody waits for the result.', 'AbortError');
}
