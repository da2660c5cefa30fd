import type { DuckDBPreparedStatement, DuckDBValue } from '@duckdb/node-api';
import { nextTurn } from '../../concurrency/next-turn';
import { ServiceError } from '../../errors';

export interface Rows {
  readonly rows: string[];
  readonly truncated: boolean;
}

/** Bytes that are taken over in one turn of the event loop. */
const AT_ONCE = 1024 * 1024;

/**
 * Runs a statement whose one column is each row's text, and gives at most `maxRows` of them. The statement itself stops
 * one row later, which is how a longer result is told from one that just fits.
 *
 * @throws ServiceError resourcesExceeded beyond `maxBytes` of UTF-8.
 */
export async function readRows(
  statement: DuckDBPreparedStatement,
  values: readonly DuckDBValue[],
  maxRows: number,
  maxBytes: number,
): Promise<Rows> {
  statement.bind([...values]);
  const result = await statement.stream();
  const rows: string[] = [];
  let bytes = 0;
  let atOnce = 0;
  for (let chunk = await result.fetchChunk(); chunk !== null && chunk.rowCount > 0; chunk = await result.fetchChunk()) {
    const vector = chunk.getColumnVector(0);
    for (let i = 0; i < chunk.rowCount; i++) {
      const text = String(vector.getItem(i));
      const size = Buffer.byteLength(text) + 1;
      if ((bytes += size) > maxBytes) throw responseTooLarge(maxBytes);
      rows.push(text);
      if ((atOnce += size) < AT_ONCE) continue;
      atOnce = 0;
      await nextTurn();
    }
  }
  const truncated = rows.length > maxRows;
  if (truncated) rows.length = maxRows;
  return { rows, truncated };
}

function responseTooLarge(maxBytes: number): ServiceError {
  const size = Math.floor(maxBytes / 1024 / 1024);
  return new ServiceError(
    'resourcesExceeded',
    `The response is larger than ${size} MiB. Ask for fewer rows or columns.`,
  );
}
