/** Gathers a query's pages into the contract's result, within its bounds. */
import { yieldToEventLoop } from '../../concurrency/concurrently';
import { countOf, type QueryResponse, rowsOf, writeRow } from './api';
import { ServiceError } from '../../errors';
import type { EngineQuery, EngineResult } from '../contract';
import { malformedAnswer } from './api-failure';
import { resultShape, type ResultShape } from './result-shape';

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
