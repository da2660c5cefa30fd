/** How the memory of the embedded engine (`DUCKDB_MEMORY_LIMIT`) is shared by its processes (docs/decisions/live.md). */
import type { Resources } from '../follow/backlog';
import { bytesOf, sizeOf } from '../engine/sizes';

const MIB = 1024 * 1024;
/** What the process with the data may take beside DuckDB: its program, rows on their way, what DuckDB does not count. */
const BESIDE = 256 * MIB;
/** What a conversion takes beside DuckDB, less what the process with the data seldom needs of its own. */
const BESIDE_CONVERSION = 140 * MIB;
/** With less, rows of as many values as they may have (`MOST_ROW_VALUES`) cannot be sorted, and no smaller piece of them either. */
const LEAST_CONVERSION = 144 * MIB;
/** The share of queries, where there is something to convert. */
const QUERIES = 5 / 8;
/** What a thread of a conversion needs, and from when on it may have row groups of DuckDB's own size. */
const THREAD = 160 * MIB;
const AMPLE = 1024 * MIB;
const SMALL_ROW_GROUP = 20_480;
/** Bytes of content that are converted at once, for each byte of its memory; less where most of that is needed for any content. */
const CONTENT = 0.4;
const SMALL_CONTENT = 0.08;
const SMALL = 192 * MIB;
const MOST_CONTENT = 512 * MIB;
/** Of what is in memory before it is stored: at most this, and a part of the memory that leaves queries theirs. */
const MOST_TAILS = 32 * MIB;
const TAILS = 1 / 16;
/** Of the queries' share, what those rows may take as DuckDB has them: of wide tables four times as much as their texts. */
const TAIL_MEMORY = 1 / 3;

/** Where processes that are seldom needed count. */
const LITTLE_MEMORY = 320 * MIB;

export interface MemoryShares {
  /** DuckDB's `max_memory` for queries, and for the rows that are not stored yet. */
  readonly queries: string;
  readonly conversion: Resources;
  /** Bytes of content that one conversion reads. */
  readonly convertedBytes: number;
  /** Bytes of texts of rows beyond which they are stored; three times as many are never there. */
  readonly tailBytes: number;
  /** Bytes of DuckDB's memory beyond which no more rows are read before some are stored. */
  readonly tailMemory: number;
  /** Bytes that the process with the data may have, together with one that converts. */
  readonly resident: number;
}

/** @param limit as DuckDB's `max_memory` */
export function isLittleMemory(limit: string): boolean {
  return bytesOf(limit) <= LITTLE_MEMORY;
}

/** @param follows whether there is a data folder, so that something is converted */
export function memoryShares(limit: string, threads: number, follows: boolean): MemoryShares {
  const bytes = bytesOf(limit);
  const conversion = Math.max(LEAST_CONVERSION, bytes * (1 - QUERIES) - BESIDE_CONVERSION);
  return {
    queries: follows ? sizeOf(bytes * QUERIES) : limit,
    conversion: {
      memory: sizeOf(conversion),
      threads: Math.max(1, Math.min(threads, Math.floor(conversion / THREAD))),
      ...(conversion < AMPLE ? { rowGroup: SMALL_ROW_GROUP } : {}),
    },
    // Whole bytes: files are read up to these.
    convertedBytes: Math.floor(Math.min(MOST_CONTENT, conversion * (conversion < SMALL ? SMALL_CONTENT : CONTENT))),
    tailBytes: Math.floor(Math.min(MOST_TAILS, bytes * TAILS)),
    tailMemory: Math.floor(bytes * QUERIES * TAIL_MEMORY),
    resident: bytes + BESIDE,
  };
}
