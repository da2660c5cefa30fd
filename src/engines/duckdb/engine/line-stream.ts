import type { DuckDBPreparedStatement } from '@duckdb/node-api';

import { bindValues, type BoundValue } from './bound-value';
import { BrokenStream } from './row-stream';
import { textRuns } from './text-column';

/** Bytes after which lines are handed on. */
const PART = 256 * 1024;

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
  const parts = new Parts(take);
  let count = 0;
  let next = result.fetchChunk();
  try {
    for (let chunk = await next; chunk !== null && chunk.rowCount > 0 && count <= maxRows; chunk = await next) {
      // DuckDB makes the next while this one is copied.
      next = result.fetchChunk();
      for (const { bytes, count: lines } of textRuns(chunk, Math.min(chunk.rowCount, maxRows - count)))
        await parts.push(bytes, lines);
      count += chunk.rowCount;
    }
  } finally {
    // Nothing is read any more when the connection is somebody else's.
    await Promise.allSettled([next]);
  }
  // Node's binding ends a stream that fails as one that is exhausted; such a result is no longer a streaming one.
  if (count <= maxRows && !result.isStreaming) throw new BrokenStream();
  await parts.end();
  return count > maxRows;
}

/**
 * Copies of bytes that DuckDB takes back. There are two places, of which one is filled while the other is handed on: new ones would be
 * collected all the time.
 */
class Parts {
  #filling = { bytes: Buffer.allocUnsafeSlow(2 * PART), size: 0, count: 0 };
  #other = { bytes: Buffer.alloc(0), size: 0, count: 0 };
  /** Resolves when the other has been taken. */
  #taking: Promise<void> = Promise.resolve();

  constructor(private readonly take: TakeLines) {}

  /** @throws what `take` rejected with */
  async push(bytes: Uint8Array, count: number): Promise<void> {
    const part = this.#filling;
    const wanted = part.size + bytes.length;
    if (wanted > part.bytes.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(wanted, 2 * part.bytes.length));
      part.bytes.copy(larger, 0, 0, part.size);
      part.bytes = larger;
    }
    part.bytes.set(bytes, part.size);
    part.size = wanted;
    part.count += count;
    if (part.size >= PART) await this.#handOn();
  }

  /** Resolves when all have been taken. @throws as push */
  async end(): Promise<void> {
    if (this.#filling.count > 0) await this.#handOn();
    await this.#taking;
  }

  async #handOn(): Promise<void> {
    await this.#taking;
    const { bytes, size, count } = this.#filling;
    this.#taking = Promise.resolve(this.take(bytes.subarray(0, size), count));
    // It is heard of with the next part.
    this.#taking.catch(() => undefined);
    const { bytes: free } = this.#other;
    this.#other = this.#filling;
    this.#filling = { bytes: free.length === 0 ? Buffer.allocUnsafeSlow(2 * PART) : free, size: 0, count: 0 };
  }
}
