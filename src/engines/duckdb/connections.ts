import type { DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import type { RunLimits } from '../contract';
import { Slots } from '../slots';
import { supervise } from './supervise';

/** How long `close` waits for interrupted queries to notice. */
const PATIENCE_MS = 5_000;

/**
 * At most `size` connections, one for each running query; who comes later waits in turn, inside their own deadline. A
 * connection whose work did not come to a good end is not used again: the next query gets a fresh one.
 */
export class Connections {
  readonly #slots: Slots;
  readonly #idle: DuckDBConnection[] = [];
  readonly #running = new Map<AbortController, Promise<void>>();
  #closed = false;

  constructor(
    private readonly instance: DuckDBInstance,
    size: number,
  ) {
    this.#slots = new Slots(size);
  }

  /**
   * Runs `work` on a connection of its own. The caller has the answer at the deadline or signal at the latest; the
   * connection is kept until the query has really ended.
   */
  use<T>({ deadline, signal }: RunLimits, work: (connection: DuckDBConnection) => Promise<T>): Promise<T> {
    const cancel = new AbortController();
    const forward = (): void => cancel.abort();
    signal.addEventListener('abort', forward);
    if (signal.aborted || this.#closed) forward();
    const limits = { deadline, signal: cancel.signal };
    return new Promise<T>((resolve, reject) => {
      const ended = this.#slots
        .use(limits, async () => {
          const connection = this.#idle.pop() ?? (await this.instance.connect());
          const reusable = await supervise(connection, limits, work, { resolve, reject });
          if (reusable && !this.#closed) this.#idle.push(connection);
          else connection.closeSync();
        })
        .catch(reject)
        .finally(() => {
          signal.removeEventListener('abort', forward);
          this.#running.delete(cancel);
        });
      this.#running.set(cancel, ended);
    });
  }

  /** Interrupts what runs, turns away who waits, and resolves when every connection is closed. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const connection of this.#idle.splice(0)) connection.closeSync();
    const ended = [...this.#running.values()];
    for (const cancel of this.#running.keys()) cancel.abort();
    let patience: NodeJS.Timeout | undefined;
    const enough = new Promise((resolve) => (patience = setTimeout(resolve, PATIENCE_MS)));
    await Promise.race([Promise.all(ended), enough]);
    clearTimeout(patience);
  }
}
