/** Hands a query's pages on as they come, no faster than they are taken. */
import { yieldToEventLoop } from '../../concurrency/concurrently';
import { countOf, type QueryResponse, rowsOf, writeRow } from './api';
import type { EngineQuery, LineSink } from '../contract';
import { malformedAnswer } from './api-failure';
import { resultShape, type ResultShape } from './result-shape';

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
