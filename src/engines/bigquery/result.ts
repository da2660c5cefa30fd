/** Gathers a query's pages into the contract's result, within its bounds, or hands them on as they come. */
import { yieldToEventLoop } from '@logquay/duckdb-engine/concurrency';
import { countOf, type QueryResponse, rowsOf, writeRow, resultShape, type ResultShape } from './api';
import { type EngineQuery, type LineSink, type EngineResult, ServiceError } from '@logquay/duckdb-engine/contract';
import { malformedAnswer } from './api-failure';

const MIB = 1024n * 1024n;
/** MiB that are billed of each table that is read, at least. */
const LEAST = 10n;

/** What is billed on demand where so many bytes are read: rounded up to the MiB, 10 MiB of each table at least; reading nothing is free. */
export function billedBytes(processed: bigint, tables: number): bigint {
  if (processed === 0n) return 0n;
  const [read, least] = [(processed + MIB - 1n) / MIB, LEAST * BigInt(Math.max(1, tables))];
  return (read > least ? read : least) * MIB;
}

/** UTF-16 units of JSON text after which rows are handed on. */
const PART = 256 * 1024;

/**
 * Hands the rows of all pages to `sink`; none of them where the first page says that there are more than `maxRows`.
 *
 * @returns whether there are more
 * @throws ApiFailure, QueryError as `gather`; whatever `sink` throws
 */
export async function handOn(
  pages: AsyncIterable<QueryResponse>,
  { maxRows, hideBytes, isoTimestamps = false }: Pick<EngineQuery, 'maxRows' | 'hideBytes' | 'isoTimestamps'>,
  sink: LineSink,
): Promise<boolean> {
  let shape: ResultShape | null = null;
  let announced = 0;
  let count = 0;
  let part: string[] = [];
  let units = 0;
  for await (const page of pages) {
    announced = Number(countOf(page.totalRows) ?? announced);
    if (shape === null) {
      shape = resultShape(page.schema?.fields, { hideBytes, isoTimestamps });
      const [bytesProcessed, bytesBilled] = [countOf(page.totalBytesProcessed), countOf(page.totalBytesBilled)];
      sink.begin({ columns: shape.columns, bytesProcessed, bytesBilled }, 'json');
      if (announced > maxRows) return true;
    }
    const incoming = rowsOf(page);
    if ((count += incoming.length) > maxRows) return true;
    for (let i = 0; i < incoming.length; i++) {
      const text = writeRow(shape, incoming[i]);
      // As in `gather`: a row that is done is garbage at once.
      incoming[i] = null;
      part.push(text);
      if ((units += text.length) < PART) continue;
      await sink.take(...linesOf(part));
      [part, units] = [[], 0];
      await yieldToEventLoop();
    }
  }
  if (shape === null || count < announced) throw malformedAnswer('Rows are missing.');
  if (part.length > 0) await sink.take(...linesOf(part));
  return false;
}

function linesOf(rows: readonly string[]): [Uint8Array, number] {
  return [Buffer.from(`${rows.join('\n')}\n`), rows.length];
}

/**
 * UTF-16 units of JSON text between two iterations of the event loop: some 20 ms of work, as much as parsing an ordinary
 * page takes anyway. Smaller pieces are slower: the page survives more garbage collections.
 */
const PAUSE_EVERY = 2 * 1024 * 1024;

/**
 * Reads pages until there are `maxRows` rows or no more pages.
 *
 * @param maxBytes of JSON text
 * @throws ServiceError `resourcesExceeded` for a longer result; ApiFailure for an answer that does not have the form of
 *   the API, or that has fewer rows than it says; QueryError `invalidQuery` for two columns of one name
 */
export async function gather(
  pages: AsyncIterable<QueryResponse>,
  { maxRows, hideBytes, isoTimestamps = false }: Pick<EngineQuery, 'maxRows' | 'hideBytes' | 'isoTimestamps'>,
  maxBytes: number,
): Promise<EngineResult> {
  const rows: string[] = [];
  let shape: ResultShape | null = null;
  let size = 0;
  let nextPause = PAUSE_EVERY;
  /** Rows of the whole result that are known of. */
  let known = 0;
  let announced = 0;
  let bytesProcessed: bigint | null = null;
  let bytesBilled: bigint | null = null;
  for await (const page of pages) {
    shape ??= resultShape(page.schema?.fields, { hideBytes, isoTimestamps });
    bytesProcessed = countOf(page.totalBytesProcessed) ?? bytesProcessed;
    bytesBilled = countOf(page.totalBytesBilled) ?? bytesBilled;
    announced = Number(countOf(page.totalRows) ?? announced);
    const incoming = rowsOf(page);
    known += incoming.length;
    const wanted = Math.min(incoming.length, maxRows - rows.length);
    for (let i = 0; i < wanted; i++) {
      const text = writeRow(shape, incoming[i]);
      // A row that is done is garbage at once: the collector's copying of pages is most of what all this costs.
      incoming[i] = null;
      // A UTF-16 unit is a byte at least: what is refused here is too long in bytes too.
      size += text.length + 1;
      if (size > maxBytes) throw responseTooLarge(maxBytes);
      rows.push(text);
      if (size < nextPause) continue;
      nextPause = size + PAUSE_EVERY;
      await yieldToEventLoop();
    }
    if (rows.length >= maxRows) {
      if (page.pageToken) known++;
      break;
    }
  }
  if (shape === null || rows.length < Math.min(announced, maxRows)) throw malformedAnswer('Rows are missing.');
  const truncated = Math.max(known, announced) > rows.length;
  return { columns: shape.columns, rows, truncated, bytesProcessed, bytesBilled };
}

function responseTooLarge(maxBytes: number): ServiceError {
  const limit = Math.floor(maxBytes / 1024 / 1024);
  return new ServiceError(
    'resourcesExceeded',
    `The response is larger than ${limit} MiB. Ask for fewer rows or columns.`,
  );
}
