/** The texts of a chunk's only column, read from DuckDB's memory: by its binding each of them costs an object that is collected. */
import type { DuckDBDataChunk } from '@duckdb/node-api';
import duckdb from '@duckdb/node-bindings';

/** DuckDB's `string_t`, in words of four bytes: length, and the bytes themselves where they fit, else a pointer to them. */
const ENTRY = 4;
const INLINE = { at: 1, most: 12 };
const POINTER = 2;
const WORD = 4;
/** Bytes that are taken together. */
const LONGEST_RUN = 256 * 1024;

/** Texts that lie one behind the other. */
interface Run {
  /** DuckDB takes them back with the chunk. */
  readonly bytes: Uint8Array;
  readonly count: number;
}

/**
 * The texts of the first rows, none of which is NULL. DuckDB has made them one behind the other: what lies side by side in memory is taken
 * together, and what lies elsewhere by itself.
 */
export function* textRuns(chunk: DuckDBDataChunk, rows: number): Generator<Run> {
  const vector = duckdb.data_chunk_get_vector(chunk.chunk, 0);
  const entries = duckdb.vector_get_data(vector, rows * ENTRY * WORD);
  const words = new Uint32Array(entries.buffer, entries.byteOffset, rows * ENTRY);
  /** An address is less than 2^53. */
  const address = (entry: number): number => words[entry + POINTER + 1]! * 2 ** 32 + words[entry + POINTER]!;
  const end = rows * ENTRY;
  // Read again behind each `yield`: DuckDB frees the memory of a chunk that nobody refers to any more.
  for (let entry = 0; entry < end && chunk.rowCount >= rows;) {
    const first = entry;
    let size = words[entry]!;
    entry += ENTRY;
    if (size <= INLINE.most) {
      const start = (first + INLINE.at) * WORD;
      yield { bytes: entries.subarray(start, start + size), count: 1 };
      continue;
    }
    const start = address(first);
    for (; entry < end && size < LONGEST_RUN; entry += ENTRY) {
      const length = words[entry]!;
      if (length <= INLINE.most || address(entry) !== start + size) break;
      size += length;
    }
    const at = entries.byteOffset + (first + POINTER) * WORD;
    const bytes = duckdb.get_data_from_pointer(entries.buffer as ArrayBuffer, at, size);
    yield { bytes, count: (entry - first) / ENTRY };
  }
}
