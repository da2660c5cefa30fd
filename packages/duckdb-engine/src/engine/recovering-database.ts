import { setTimeout as sleep } from 'node:timers/promises';

import type { DuckDBInstance } from '@duckdb/node-api';

import type { RunLimits } from '../contract/contract';
import { raceLimits } from '../concurrency/deadline';
import { Connections, type Work } from './connections';
import type { Log } from './log';
import { isBreakdown, messageOf } from './native-error';

/** Milliseconds until the next try to open a database again. */
const NEXT_TRY = 5_000;

interface Open {
  readonly instance: DuckDBInstance;
  readonly connections: Connections;
}

/**
 * A database that is opened again after a fatal error: DuckDB invalidates an instance for ever when a bug of its own shows
 * in one query. That query fails, and those that ran beside it; who comes meanwhile waits, within their own deadline.
 */
export class LiveDatabase {
  #open: Promise<Open>;
  /** Not open, for the first time or again. */
  #opening = true;
  #closed = false;

  /**
   * @param instance the first; where it rejects, nothing can be run, for that reason
   * @param open gives the same data every time; what it gave before is closed by then
   * @param size queries that run at once
   * @param memory bytes that they may have together
   */
  constructor(
    instance: Promise<DuckDBInstance>,
    private readonly open: () => Promise<DuckDBInstance>,
    private readonly size: number,
    private readonly memory: number,
    private readonly log: Log,
  ) {
    this.#open = instance.then((first) => this.#opened(first));
    this.#open.catch(() => undefined);
  }

  /** As `Connections.use`. */
  use<T>(limits: RunLimits, work: Work<T>, isRepeatable?: () => boolean): Promise<T> {
    return this.#do(limits, (connections) => connections.use(limits, work, isRepeatable));
  }

  /** As `Connections.probe`. */
  probe(limits: RunLimits): Promise<void> {
    return this.#do(limits, (connections) => connections.probe(limits));
  }

  async #do<T>(limits: RunLimits, work: (connections: Connections) => Promise<T>): Promise<T> {
    const current = this.#opening
      ? await raceLimits(
          limits,
          () => this.#open,
          () => undefined,
        )
      : await this.#open;
    try {
      return await work(current.connections);
    } catch (error) {
      if (isBreakdown(error)) await this.#examine(current);
      throw error;
    }
  }

  /** Interrupts what runs and closes. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#open.then(closeAll, () => undefined);
  }

  #opened(instance: DuckDBInstance): Open {
    this.#opening = false;
    return { instance, connections: new Connections(instance, this.size, this.memory) };
  }

  /** Not every such error is fatal: the instance tells. */
  async #examine(open: Open): Promise<void> {
    const works = await open.instance
      .connect()
      .then(async (connection) => {
        await connection.run('SELECT 1').finally(() => connection.closeSync());
        return true;
      })
      .catch(() => false);
    if (works || this.#opening || this.#closed || open !== (await this.#open)) return;
    this.#opening = true;
    this.#open = this.#mend(open);
  }

  async #mend(broken: Open): Promise<Open> {
    const started = performance.now();
    this.log.error({}, 'The embedded database has broken down and is opened again');
    // A file can be attached once in a process.
    await closeAll(broken);
    for (;;) {
      if (this.#closed) return broken;
      try {
        const open = this.#opened(await this.open());
        this.log.warn({ ms: Math.round(performance.now() - started) }, 'The embedded database is open again');
        return open;
      } catch (error) {
        this.log.error({ detail: messageOf(error).slice(0, 300) }, 'The embedded database cannot be opened again yet');
        await sleep(NEXT_TRY, undefined, { ref: false });
      }
    }
  }
}

async function closeAll({ connections, instance }: Open): Promise<void> {
  await connections.close();
  instance.closeSync();
}
