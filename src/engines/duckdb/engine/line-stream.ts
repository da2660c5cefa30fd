import type { DuckDBDataChunk, DuckDBPreparedStatement } from '@duckdb/node-api';
import duckdb from '@duckdb/node-bindings';

import { bindValues, type BoundValue } from './bound-value';
import { BrokenStream } from './row-stream';

/** Bytes after which lines are handed on. */
const PART = 256 * 1024;

/** DuckDB's `string_t`: length, and the bytes themselves where they fit, else a pointer to them. */
const ENTRY = 16;
const INLINE = { at: 4, most: 12 };
const POINTER = 8;

/** Takes lines part by part. The next part is read when it has resolved. */
export type TakeLines = (lines: Uint8Array, count: number) => Promise<void> | void;

/**
 * Runs a statement whose one column is each row as a line, and hands on at most `maxRows` of them. The bytes are never made texts.
 *
 * @returns whether there are more; the rest is not read
 * @throws BrokenStream where DuckDB failed behind the first rows
 */
export async function readLines(
  statement: DuckDBPreparedStatement,
  values: readonly BoundValue[],
  maxRows: number,
  take: TakeLines,
): Promise<boolean> {
  bindValues(statement, values);
  const result = await statement.stream();
  const part = new Part();
  let count = 0;
  for (let chunk = await result.fetchChunk(); chunk !== null && chunk.rowCount > 0; chunk = await result.fetchChunk()) {
    for (const lines of linesOf(chunk, Math.min(chunk.rowCount, maxRows - count))) {
      part.push(lines);
      if (part.size >= PART) await part.handOn(take);
    }
    count += chunk.rowCount;
    if (count > maxRows) break;
  }
  // Node's binding ends a stream that fails as one that is exhausted; such a result is no longer a streaming one.
  if (count <= maxRows && !result.isStreaming) throw new BrokenStream();
  await part.handOn(take);
  return count > maxRows;
}

interface Lines {
  readonly bytes: Uint8Array;
  readonly count: number;
}

/** Copies of bytes that DuckDB takes back, one part after the other in the same place: new ones would be collected all the time. */
class Part {
  size = 0;
  #count = 0;
  #bytes = Buffer.allocUnsafeSlow(2 * PART);

  push({ bytes, count }: Lines): void {
    const wanted = this.size + bytes.length;
    if (wanted > this.#bytes.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(wanted, 2 * this.#bytes.length));
      this.#bytes.copy(larger, 0, 0, this.size);
      this.#bytes = larger;
    }
    this.#bytes.set(bytes, this.size);
    this.size = wanted;
    this.#count += count;
  }

  async handOn(take: TakeLines): Promise<void> {
    if (this.#count === 0) return;
    const [bytes, count] = [this.#bytes.subarray(0, this.size), this.#count];
    [this.size, this.#count] = [0, 0];
    await take(bytes, count);
  }
}

/**
 * The lines of a chunk's only column. DuckDB has made them one behind the other: what lies side by side in memory is taken together, and
 * what lies elsewhere by itself.
 */
function* linesOf(chunk: DuckDBDataChunk, rows: number): Generator<Lines> {
  const vector = duckdb.data_chunk_get_vector(chunk.chunk, 0);
  const entries = duckdb.vector_get_data(vector, rows * ENTRY);
  const view = new DataView(entries.buffer, entries.byteOffset, entries.byteLength);
  const end = rows * ENTRY;
  for (let entry = 0; entry < end;) {
    const first = entry;
    let size = view.getUint32(entry, true);
    entry += ENTRY;
    if (size <= INLINE.most) {
      yield { bytes: entries.subarray(first + INLINE.at, first + INLINE.at + size), count: 1 };
      continue;
    }
    const start = view.getBigUint64(first + POINTER, true);
    for (; entry < end && size < PART; entry += ENTRY) {
      const length = view.getUint32(entry, true);
      if (length <= INLINE.most || view.getBigUint64(entry + POINTER, true) !== start + BigInt(size)) break;
      size += length;
    }
    const bytes = duckdb.get_data_from_pointer(
      entries.buffer as ArrayBuffer,
      entries.byteOffset + first + POINTER,
      size,
    );
    yield { bytes, count: (entry - first) / ENTRY };
  }
}
