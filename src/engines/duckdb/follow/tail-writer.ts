import { mkdir, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { DuckDBConnection } from '@duckdb/node-api';

import type { RestField } from '../../../googlesql/rest-schema';
import { quoteText } from '../sql';
import { synced } from './manifest';
import { isNotOf, type Segment } from './segment';
import { writeLists, type WrittenRows } from './segment-rows';

/** Rows that are compressed together, as where a conversion has little memory: no more are to be had in memory at once. */
const ROW_GROUP = 20_480;

/** What the segment is attached as. It is never the connection's own one: DuckDB could not be rid of it when the disk is full. */
const DATABASE = 'unfinished';
/** Milliseconds. */
const INTERRUPTED_EVERY = 10;

/** Rows of a tail, with lists. */
export interface SealedRows {
  /** Of the database in memory. */
  readonly relation: string;
  /** Sources whose rows do not count. */
  readonly dropped: readonly number[];
}

/**
 * Stores the rows of tails as a segment, in the database that has them: nothing is read or parsed again, and no process is started
 * for it (docs/decisions/live.md).
 */
export class TailWriter {
  #writing: Promise<unknown> = Promise.resolve();
  #closed = false;

  /** @param connection of its own, which may write in the folder of the segments */
  constructor(private readonly connection: DuckDBConnection) {}

  /**
   * @param path of the file to write
   * @returns null: no row counts, and there is no file
   * @throws what DuckDB and the file system throw; there is no file then
   */
  write(
    tails: readonly SealedRows[],
    fields: readonly RestField[],
    path: string,
  ): Promise<Omit<Segment, 'file'> | null> {
    const written = this.#write(tails, fields, path);
    this.#writing = written.catch(() => undefined);
    return written;
  }

  async #write(
    tails: readonly SealedRows[],
    fields: readonly RestField[],
    path: string,
  ): Promise<Omit<Segment, 'file'> | null> {
    const { connection } = this;
    await mkdir(dirname(path), { recursive: true });
    await this.#remove(path);
    try {
      await connection.run(
        `ATTACH ${quoteText(path)} AS ${DATABASE} (ROW_GROUP_SIZE ${ROW_GROUP}, RECOVERY_MODE NO_WAL_WRITES)`,
      );
      let rows: WrittenRows | null;
      try {
        rows = await writeLists(connection, DATABASE, fields, relationOf(tails));
        if (rows !== null) await connection.run(`CHECKPOINT ${DATABASE}`);
      } finally {
        await connection.run(`DETACH ${DATABASE}`);
      }
      if (rows === null) {
        await this.#remove(path);
        return null;
      }
      await synced(path);
      return { ...rows, bytes: (await stat(path)).size };
    } catch (error) {
      await this.#remove(path);
      throw error;
    }
  }

  async #remove(path: string): Promise<void> {
    for (const file of [path, `${path}.wal`]) await rm(file, { force: true });
  }

  /** Whether nothing more is to be written. */
  get isClosed(): boolean {
    return this.#closed;
  }

  /** Ends what is under way. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    // Between two statements there is nothing to interrupt.
    const interrupting = setInterval(() => this.connection.interrupt(), INTERRUPTED_EVERY);
    await this.#writing;
    clearInterval(interrupting);
    this.connection.closeSync();
  }
}

/** SQL: the rows that count, as one relation. */
function relationOf(tails: readonly SealedRows[]): string {
  const counted = tails.map(
    ({ relation, dropped }) =>
      `FROM memory.main.${relation}${dropped.length === 0 ? '' : ` WHERE ${isNotOf(dropped)}`}`,
  );
  return `(${counted.join(' UNION ALL ')})`;
}
