import type { DuckDBPreparedStatement } from '@duckdb/node-api';
import { yieldToEventLoop } from '../../../concurrency/event-loop';
import { ServiceError } from '../../../errors';
import type { NamedType } from '../../../googlesql/types';
import type { ListShape } from '../translate';
import { bindValues, type BoundValue } from './bound-value';
import { withBrackets } from './list-brackets';
import { textsOf } from './text-column';

/** UTF-16 units after which rows are handed on. */
const PART = 256 * 1024;

/** Bytes that are taken over in one turn of the event loop. */
const AT_ONCE = 1024 * 1024;

/**
 * Takes rows part by part, each row as the text of one JSON object. The next part is read when it has resolved.
 */
export type TakeRows = (rows: readonly string[]) => Promise<void> | void;

/** Takes the rows of a run. */
export interface RowSink {
  /** Before the first rows, and again where the query is run again: those before are of no use. */
  begin(columns: readonly NamedType[]): void;
  readonly take: TakeRows;
}

/** DuckDB has failed while its rows were read; it does not say of what. */
export class BrokenStream extends Error {}

export interface RowsRead {
  readonly maxRows: number;
  readonly maxBytes: number;
  /** That the values of a row lack; null: none. */
  readonly brackets: readonly (ListShape | null)[] | null;
}

/**
 * Runs a statement whose one column is each row's text, and hands on at most `maxRows` of them. The statement itself stops
 * one row later, or is not read on, which is how a longer result is distinguished from one that just fits.
 *
 * @returns whether there were more
 * @throws ServiceError resourcesExceeded beyond `maxBytes` of UTF-8; BrokenStream where DuckDB failed behind the first rows
 */
export async function readRows(
  statement: DuckDBPreparedStatement,
  values: readonly BoundValue[],
  { maxRows, maxBytes, brackets }: RowsRead,
  take: TakeRows,
): Promise<boolean> {
  bindValues(statement, values);
  const result = await statement.stream();
  let part: string[] = [];
  let units = 0;
  let count = 0;
  let bytes = 0;
  let atOnce = 0;
  for (let chunk = await result.fetchChunk(); chunk !== null && chunk.rowCount > 0; chunk = await result.fetchChunk()) {
    for (const written of textsOf(chunk, chunk.rowCount)) {
      const text = brackets === null ? written : withBrackets(written, brackets);
      const size = Buffer.byteLength(text) + 1;
      if ((bytes += size) > maxBytes) throw responseTooLarge(maxBytes);
      if (++count > maxRows) break;
      part.push(text);
      if ((units += text.length) >= PART) {
        await take(part);
        [part, units] = [[], 0];
      }
      if ((atOnce += size) < AT_ONCE) continue;
      atOnce = 0;
      await yieldToEventLoop();
    }
  }
  // Node's binding ends a stream that fails as one that is exhausted; such a result is no longer a streaming one.
  if (count <= maxRows && !result.isStreaming) throw new BrokenStream();
  if (part.length > 0) await take(part);
  return count > maxRows;
}

function responseTooLarge(maxBytes: number): ServiceError {
  const size = Math.floor(maxBytes / 1024 / 1024);
  return new ServiceError(
    'resourcesExceeded',
    `The response is larger than ${size} MiB. Ask for fewer rows or columns.`,
  );
}
