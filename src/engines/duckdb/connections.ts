import type { DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import type { RunLimits } from '../contract';
import { abortError, deadlineExceeded } from './giving-up';

interface Waiter {
  readonly give: (connection: DuckDBConnection) => void;
  readonly fail: (error: Error) => void;
}

/**
 * At most `size` connections, one for each running query; who comes later waits in line until the deadline or the
 * signal. A connection that was interrupted is never used again: its place is given to a fresh one.
 */
export class Connections {
  readonly #idle: DuckDBConnection[] = [];
  readonly #waiting = new Set<Waiter>();
  #open = 0;
  #closed = false;

  constructor(
    private readonly instance: DuckDBInstance,
    private readonly size: number,
  ) {}

  async acquire({ deadline, signal }: RunLimits): Promise<DuckDBConnection> {
    if (this.#closed) throw new Error('The engine is closed');
    const idle = this.#idle.pop();
    if (idle !== undefined) return idle;
    if (this.#open < this.size) return this.#connect();
    return new Promise((resolve, reject) => {
      const done = (): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', abort);
        this.#waiting.delete(waiter);
      };
      const waiter: Waiter = {
        give: (connection) => (done(), resolve(connection)),
        fail: (error) => (done(), reject(error)),
      };
      const abort = (): void => waiter.fail(abortError());
      const timer = setTimeout(() => waiter.fail(deadlineExceeded()), Math.max(0, deadline - performance.now()));
      signal.addEventListener('abort', abort);
      this.#waiting.add(waiter);
    });
  }

  /** Gives a place back. `reusable`: nothing was left running or half read on the connection. */
  async release(connection: DuckDBConnection, reusable: boolean): Promise<void> {
    if (!reusable || this.#closed) {
      connection.closeSync();
      this.#open--;
    }
    const [next] = this.#waiting;
    if (next === undefined) {
      if (reusable && !this.#closed) this.#idle.push(connection);
      return;
    }
    this.#waiting.delete(next);
    if (reusable) return next.give(connection);
    try {
      next.give(await this.#connect());
    } catch (error) {
      next.fail(error instanceof Error ? error : new Error(String(error)));
    }
  }

  /** Whoever waits is turned away; connections in use are closed as they come back. */
  close(): void {
    this.#closed = true;
    for (const waiter of this.#waiting) waiter.fail(new Error('The engine is closed'));
    for (const connection of this.#idle.splice(0)) connection.closeSync();
  }

  async #connect(): Promise<DuckDBConnection> {
    this.#open++;
    try {
      return await this.instance.connect();
    } catch (error) {
      this.#open--;
      throw error;
    }
  }
}
