/** What a page of a result holds, read with distrust: other services than BigQuery answer too. */
import type { QueryResponse } from './api';
import { malformedAnswer } from './api-failure';
import { MalformedRow } from './malformed';
import type { ResultShape } from './result-shape';

/** @throws ApiFailure for what is no list */
export function rowsOf({ rows }: QueryResponse): unknown[] {
  // BigQuery omits empty rows.
  if (rows === undefined || rows === null) return [];
  if (Array.isArray(rows)) return rows;
  throw malformedAnswer('Rows are not a list.');
}

/** The JSON text of a row. @throws ApiFailure for one that does not fit */
export function writeRow({ write }: ResultShape, row: unknown): string {
  try {
    return write(row);
  } catch (error) {
    if (error instanceof MalformedRow) throw malformedAnswer('A row does not fit its schema.');
    throw error;
  }
}

/** A number of rows or bytes; null: there is none. */
export function countOf(text: unknown): bigint | null {
  return typeof text === 'string' && /^\d{1,20}$/.test(text) ? BigInt(text) : null;
}
