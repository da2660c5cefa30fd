/**
 * The second opinion (docs/sandbox.md): node-sql-parser reads a masked text in a worker thread, since its time can
 * grow exponentially with the text. Where it reads the text, what it sees must be what our own parser saw.
 */
import { join } from 'node:path';
import { type RunLimits, unlimited, WorkerDied, WorkerPool, WorkerTimeout } from '@logquay/duckdb-engine/concurrency';

/** Names in lower case, parts joined by dots; null: the parser cannot read the text and has no vote. */
export type Opinion = { readonly tables: readonly string[]; readonly functions: readonly string[] } | null;

/** The text was not read within the deadline or the memory of a worker. */
export class OpinionTimeout extends Error {
  override readonly name = 'OpinionTimeout';
}

/** Milliseconds of its own time from when a loaded worker takes up a text: 64 KiB of conditions have taken more than 250 on a busy machine. */
const DEADLINE = 500;
const WORKERS = 2;
/** A worker's heap in MiB. */
const HEAP = 128;
/** Milliseconds without a new text after which a worker ends: it takes 10 MiB, and a fifth of a second to start. */
const IDLE = 60_000;

export class SecondOpinion {
  readonly #pool: WorkerPool<string, Opinion>;

  constructor({ deadline = DEADLINE, idle = IDLE }: { deadline?: number; idle?: number } = {}) {
    this.#pool = new WorkerPool({
      file: join(__dirname, 'second-opinion-worker.js'),
      threads: WORKERS,
      deadline,
      heap: HEAP,
      idle,
    });
  }

  /** @throws OpinionTimeout past the deadline; while it waits, as WorkerPool.run; Error where no worker can be started */
  async ask(text: string, waiting: RunLimits = unlimited()): Promise<Opinion> {
    try {
      return await this.#pool.run(text, waiting);
    } catch (cause) {
      if (!(cause instanceof WorkerTimeout || cause instanceof WorkerDied)) throw cause;
      throw new OpinionTimeout('The text was not read in time.', { cause });
    }
  }

  close(): Promise<void> {
    return this.#pool.close();
  }
}
