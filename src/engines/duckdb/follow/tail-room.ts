/** How much room is left for rows that are in memory before they are stored. */
import type { DuckDBConnection } from '@duckdb/node-api';

/** So many times as much text as is stored may be in memory before nothing more is read. */
const MOST_TEXTS = 3;
/** Of the memory beyond which nothing more is read: beyond this part rows are stored. */
const STORED = 1 / 2;
/** Each column of a table takes 40 KB with its first row: the texts say little of that. */
const IN_MEMORY = `SELECT coalesce(sum(memory_usage_bytes), 0)::DOUBLE FROM duckdb_memory() WHERE tag = 'IN_MEMORY_TABLE'`;

export interface TailBounds {
  /** Bytes of texts in memory beyond which they are stored; with three times as many nothing more is read until then. */
  readonly tailBytes: number;
  /** Bytes of DuckDB's memory in which they are, beyond which nothing more is read; they are stored from half of it on. */
  readonly tailMemory: number;
}

/** `full`: rows are to be stored; `over`: nothing more is to be read before that. */
export type TailRoom = 'free' | 'full' | 'over';

/** @param texts bytes of the texts of all rows that are in memory */
export async function tailRoom(
  connection: DuckDBConnection,
  texts: number,
  { tailBytes, tailMemory }: TailBounds,
): Promise<TailRoom> {
  if (texts === 0) return 'free';
  if (texts > MOST_TEXTS * tailBytes) return 'over';
  const memory = Number((await connection.runAndReadAll(IN_MEMORY)).getRows()[0]![0]);
  if (memory > tailMemory) return 'over';
  return texts > tailBytes || memory > tailMemory * STORED ? 'full' : 'free';
}
