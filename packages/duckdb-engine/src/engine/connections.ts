import type { DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import { fairShare, FairSlots } from '../concurrency/fair-slots';
import type { RunLimits } from '../contract/contract';
import { abortError } from '../concurrency/deadline';
import { supervise } from './interruptible';
import { SharedMemory } from './shared-memory';

/** How long `close` waits for interrupted queries to notice. */
const PATIENCE_MS = 5_000;

export type Work<T> = (connection: DuckDBConnection) => Promise<T>;

/**
 * At most `size` connections, one for each running query, of which nobody's turn may hold all; who comes later waits,
 * inside their own deadline. A connection whose work did not come to a good end is not used again: the next query gets a
 * fresh one. Beside them one for probes, which so wait behind no query.
 */
export class Connections {
  readonly #slots: FairSlots;
  readonly #probes = new FairSlots({ total: 1, perName: 1 });
  readonly #idle: DuckDBConnection[] = [];
  readonly #running = new Map<AbortController, Promise<unknown>>();
  readonly #memory: SharedMemory;
  #closed = false;

  /** @param memory bytes that all queries may have together */
  constructor(
    private readonly instance: DuckDBInstance,
    size: number,
    memory: number,
  ) {
    this.#memory = new SharedMemory(instance, memory);
    this.#slots = new FairSlots({ total: size, perName: fairShare(size) });
  }

  /**
   * Does `work` on a connection of its own, again where it found no memory beside others (`SharedMemory`). Settles when it has really
   * ended, which may be after deadline and signal.
   *
   * @param isRepeatable whether nothing of the work has reached anybody
   * @throws as `supervise`, `SharedMemory.share` and `FairSlots.use`
   */
  use<T>(limits: RunLimits, work: Work<T>, isRepeatable = (): boolean => true): Promise<T> {
    return this.#untilClosed(limits, (own) =>
      this.#slots.use(own.keyName ?? '', own, () =>
        this.#memory.share(own, (shared) => this.#onConnection(shared, work), isRepeatable),
      ),
    );
  }

  async #onConnection<T>(limits: RunLimits, work: Work<T>): Promise<T> {
    const connection = this.#idle.pop() ?? (await this.instance.connect());
    let reusable = false;
    try {
      const value = await supervise(connection, limits, work);
      reusable = !this.#closed;
      return value;
    } finally {
      if (reusable) this.#idle.push(connection);
      else connection.closeSync();
    }
  }

  /** Resolves when the database answers on a connection that no query can hold. @throws as `use` */
  probe(limits: RunLimits): Promise<void> {
    return this.#untilClosed(limits, (own) =>
      this.#probes.use('', own, async () => {
        const connection = await this.instance.connect();
        try {
          await supervise(connection, own, (probed) => probed.run('SELECT 1'));
        } finally {
          connection.closeSync();
        }
      }),
    );
  }

  /** Interrupts what runs, turns away who waits, and resolves when every connection is closed. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const connection of this.#idle.splice(0)) connection.closeSync();
    const ended = [...this.#running.values()];
    for (const cancel of this.#running.keys()) cancel.abort();
    let patience: NodeJS.Timeout | undefined;
    const enough = new Promise((resolve) => (patience = setTimeout(resolve, PATIENCE_MS)));
    await Promise.race([Promise.allSettled(ended), enough]);
    clearTimeout(patience);
  }

  /** Does `work` with limits that end when this is closed, too. */
  #untilClosed<T>(limits: RunLimits, work: (limits: RunLimits) => Promise<T>): Promise<T> {
    const cancel = new AbortController();
    const forward = (): void => cancel.abort(abortError());
    limits.signal.addEventListener('abort', forward);
    if (limits.signal.aborted || this.#closed) forward();
    const running = work({ ...limits, signal: cancel.signal }).finally(() => {
      limits.signal.removeEventListener('abort', forward);
      this.#running.delete(cancel);
    });
    this.#running.set(cancel, running);
    return running;
  }
}
