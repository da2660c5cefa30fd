import type { DuckDBDataChunk, DuckDBPreparedStatement } from '@duckdb/node-api';

import { yieldToEventLoop } from '../concurrency/concurrently';
import { bufferOf } from '../contract/contract';
import { ServiceError } from '../contract/service-error';
import type { NamedType } from '@logquay/googlesql/types';
import type { ListShape } from '../translate';
import { bindValues, type BoundValue } from './bound-value';
import { withBrackets } from './list-brackets';
import { textRuns } from './text-column';

/** Bytes after which lines are handed on. */
const PART = 256 * 1024;

/** Bytes whose brackets are set in one turn of the event loop. */
const AT_ONCE = 1024 * 1024;

/** Takes lines part by part. The bytes are its own until it has resolved, and the next come then. */
export type TakeLines = (lines: Uint8Array, count: number) => Promise<void> | void;

/** Takes the rows of a run. */
export interface RowSink {
  /** Before the first rows, and again where the query is run again: those before are of no use. */
  begin(columns: readonly NamedType[]): void;
  readonly take: TakeLines;
}

/** DuckDB has failed while its rows were read; it does not say of what. */
export class BrokenStream extends Error {}

export interface LinesRead {
  readonly maxRows: number;
  /** null: any number. */
  readonly maxBytes: number | null;
  /** That the values of a row lack; null: none. */
  readonly brackets: readonly (ListShape | null)[] | null;
}

/**
 * Runs a statement whose first column is each row as a line, and hands on at most `maxRows` of them. The bytes are never made texts.
 *
 * @returns whether there are more; the rest is not read
 * @throws ServiceError resourcesExceeded beyond `maxBytes`; BrokenStream where DuckDB failed behind the first rows
 */
export async function readLines(
  statement: DuckDBPreparedStatement,
  values: readonly BoundValue[],
  { maxRows, maxBytes, brackets }: LinesRead,
  take: TakeLines,
): Promise<boolean> {
  const parts = new Parts(take);
  let bytesRead = 0;
  let atOnce = 0;
  const truncated = await readChunks(statement, values, maxRows, async (chunk, rows) => {
    for (const { bytes, count: lines } of textRuns(chunk, rows)) {
      const whole = brackets === null ? bytes : withBrackets(bufferOf(bytes), brackets);
      bytesRead += whole.length;
      if (maxBytes !== null && bytesRead > maxBytes) throw responseTooLarge(maxBytes);
      await parts.push(whole, lines);
      if (brackets === null || (atOnce += whole.length) < AT_ONCE) continue;
      atOnce = 0;
      await yieldToEventLoop();
    }
  });
  await parts.end();
  return truncated;
}

/**
 * Reads the chunks of a result with at most `maxRows` rows.
 *
 * @returns whether there are more; the rest is not read
 * @throws BrokenStream where DuckDB failed behind the first rows
 */
async function readChunks(
  statement: DuckDBPreparedStatement,
  values: readonly BoundValue[],
  maxRows: number,
  read: (chunk: DuckDBDataChunk, rows: number) => Promise<void> | void,
): Promise<boolean> {
  bindValues(statement, values);
  const result = await statement.stream();
  let count = 0;
  let next = result.fetchChunk();
  try {
    for (let chunk = await next; chunk !== null && chunk.rowCount > 0 && count <= maxRows; chunk = await next) {
      // DuckDB makes the next while this one is copied.
      next = result.fetchChunk();
      const rows = Math.min(chunk.rowCount, maxRows - count);
      if (rows > 0) await read(chunk, rows);
      count += chunk.rowCount;
    }
  } finally {
    // Nothing is read any more when the connection is somebody else's.
    await Promise.allSettled([next]);
  }
  // Node's binding ends a stream that fails as one that is exhausted; such a result is no longer a streaming one.
  if (count <= maxRows && !result.isStreaming) throw new BrokenStream();
  return count > maxRows;
}

export function responseTooLarge(maxBytes: number): ServiceError {
  const size = Math.floor(maxBytes / 1024 / 1024);
  return new ServiceError(
    'resourcesExceeded',
    `The response is larger than ${size} MiB. Ask for fewer rows or columns.`,
  );
}

/** Places of parts that nobody uses: new ones would be collected all the time. */
const FREE: Buffer[] = [];
const MOST_FREE = 8;
const PLACE = 2 * PART;

/** Copies of bytes that DuckDB takes back. There are two places, of which one is filled while the other is handed on. */
class Parts {
  #filling = { bytes: place(), size: 0, count: 0 };
  #handedOn: Buffer | null = null;
  /**
   * Each part was taken before `take` returned. Else somebody may still read what a cancelled stream was about to take, and never see in it
   * what another query wrote there.
   */
  #isAlone = true;
  /** Resolves when that has been taken. */
  #taking: Promise<void> = Promise.resolve();

  constructor(private readonly take: TakeLines) {}

  /** @throws what `take` rejected with */
  async push(bytes: Uint8Array, count: number): Promise<void> {
    const part = this.#filling;
    const wanted = part.size + bytes.length;
    if (wanted > part.bytes.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(wanted, 2 * part.bytes.length));
      part.bytes.copy(larger, 0, 0, part.size);
      free(part.bytes);
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
    if (!this.#isAlone) return;
    for (const bytes of [this.#filling.bytes, this.#handedOn]) if (bytes !== null) free(bytes);
  }

  async #handOn(): Promise<void> {
    await this.#taking;
    const { bytes, size, count } = this.#filling;
    const taken = this.take(bytes.subarray(0, size), count);
    if (taken !== undefined) this.#isAlone = false;
    this.#taking = Promise.resolve(taken);
    // It is heard of with the next part.
    this.#taking.catch(() => undefined);
    const before = this.#handedOn;
    this.#handedOn = bytes;
    this.#filling = { bytes: before ?? place(), size: 0, count: 0 };
  }
}

function place(): Buffer {
  return FREE.pop() ?? Buffer.allocUnsafeSlow(PLACE);
}

function free(bytes: Buffer): void {
  if (bytes.length === PLACE && FREE.length < MOST_FREE) FREE.push(bytes);
}
