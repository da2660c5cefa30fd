/** Gathers a query's pages into the contract's result, within its bounds. */
import { QueryError, ServiceError } from '../../errors';
import { columnsOf, parseRestSchema, RestSchemaError, type RestField } from '../../googlesql/rest-schema';
import type { EngineQuery, EngineResult } from '../contract';
import type { QueryResponse } from './api';
import { MalformedRow } from './malformed';
import { rowWriter, type RestRow } from './row-writer';

/** Bytes of JSON text that one result may hold (service.md, Limits). */
const MAX_RESULT_BYTES = 64 * 1024 * 1024;

/**
 * Reads pages until there are `maxRows` rows or no more pages.
 *
 * @throws ServiceError `resourcesExceeded` for a result over 64 MiB, `backendError` for one that does not have the form
 *   of the API; QueryError `invalidQuery` for two columns of one name
 */
export async function gather(
  pages: AsyncIterable<QueryResponse>,
  { maxRows, hideBytes }: Pick<EngineQuery, 'maxRows' | 'hideBytes'>,
): Promise<EngineResult> {
  const rows: string[] = [];
  let fields: readonly RestField[] | null = null;
  let write: ((row: RestRow) => string) | null = null;
  let size = 0;
  let truncated = false;
  let processed: bigint | null = null;
  let billed: bigint | null = null;
  for await (const page of pages) {
    if (fields === null || write === null) {
      fields = resultFields(page.schema?.fields);
      write = rowWriter(fields, hideBytes);
    }
    processed = bytes(page.totalBytesProcessed) ?? processed;
    billed = bytes(page.totalBytesBilled) ?? billed;
    for (const row of page.rows ?? []) {
      if (rows.length === maxRows) {
        truncated = true;
        break;
      }
      const text = writeRow(write, row);
      size += text.length + 1;
      if (size > MAX_RESULT_BYTES) throw tooLarge();
      rows.push(text);
    }
    if (rows.length >= maxRows) {
      truncated ||= page.pageToken !== undefined || Number(page.totalRows ?? 0) > maxRows;
      break;
    }
  }
  return {
    columns: fields === null ? [] : columnsOf(fields),
    rows,
    truncated,
    bytesProcessed: processed,
    bytesBilled: billed,
  };
}

/** Columns of a result. BigQuery names unnamed ones `f0_` itself. */
export function resultFields(fields: unknown): readonly RestField[] {
  if (fields === undefined || (Array.isArray(fields) && fields.length === 0)) return [];
  refuseDuplicates(fields);
  try {
    return parseRestSchema(fields, 'result');
  } catch (error) {
    if (error instanceof RestSchemaError) throw malformed(error);
    throw error;
  }
}

function refuseDuplicates(fields: unknown): void {
  const seen = new Set<string>();
  for (const field of Array.isArray(fields) ? (fields as readonly { name?: unknown }[]) : []) {
    const name = String(field?.name).toLowerCase();
    if (seen.has(name)) {
      throw new QueryError('invalidQuery', `Two columns of the result are called "${name}". Give one an alias.`, null);
    }
    seen.add(name);
  }
}

function writeRow(write: (row: RestRow) => string, row: unknown): string {
  try {
    return write(row as RestRow);
  } catch (error) {
    if (error instanceof MalformedRow) throw malformed(error);
    throw error;
  }
}

function bytes(text: string | undefined): bigint | null {
  return text !== undefined && /^\d+$/.test(text) ? BigInt(text) : null;
}

function malformed(cause: Error): ServiceError {
  return new ServiceError('backendError', "BigQuery's answer could not be read.", {}, { cause });
}

function tooLarge(): ServiceError {
  return new ServiceError('resourcesExceeded', 'The result is larger than 64 MiB. Select fewer fields or fewer rows.');
}
