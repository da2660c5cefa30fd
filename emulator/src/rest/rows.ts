import { restRow } from '../jobs/rows';
import { type Cell } from '../googlesql/values';
import { invalid } from '../query/error';
import { BadRow, rowOf, withRequired } from '../warehouse/ingest';
import { type Warehouse } from '../warehouse/warehouse';
import { rowFormat } from './queries';
import { boolean, record, smallInteger } from './read';
import { JsonText, ok, type ApiReply, type ApiRequest } from './routes';
import { type Shape } from './shape';
import { findTable } from './tables';

const MOST_ROWS = 50_000;

/** POST .../tables/:table/insertAll. One bad row keeps all of a request out, unless it says `skipInvalidRows`. */
export function insertAll(warehouse: Warehouse, { path, body }: ApiRequest): ApiReply {
  const table = findTable(warehouse, path);
  const rows = body['rows'];
  if (!Array.isArray(rows) || rows.length === 0) throw invalid('No rows present in the request.');
  if (rows.length > MOST_ROWS)
    throw invalid(`Too many rows present in the request, limit: ${MOST_ROWS} row count: ${rows.length}`);
  const ignoreUnknown = boolean(body['ignoreUnknownValues']);
  const good: Cell[][] = [];
  const insertErrors: Record<string, unknown>[] = [];
  const stopped: number[] = [];
  rows.forEach((row: unknown, index) => {
    try {
      good.push(withRequired(table.fields, rowOf(table.columns, record(row)['json'], { ignoreUnknown })));
      stopped.push(index);
    } catch (error) {
      if (!(error instanceof BadRow)) throw error;
      insertErrors.push({
        index,
        errors: [{ reason: 'invalid', location: error.location, debugInfo: '', message: error.message }],
      });
    }
  });
  const kind = 'bigquery#tableDataInsertAllResponse';
  if (insertErrors.length === 0) {
    warehouse.addRows(table, good);
    return ok({ kind });
  }
  if (boolean(body['skipInvalidRows'])) warehouse.addRows(table, good);
  else
    for (const index of stopped)
      insertErrors.push({ index, errors: [{ reason: 'stopped', location: '', debugInfo: '', message: '' }] });
  return ok({ kind, insertErrors });
}

/** GET .../tables/:table/data */
export function listRows(warehouse: Warehouse, shape: Shape, { path, query }: ApiRequest): ApiReply {
  const table = findTable(warehouse, path);
  const start = smallInteger(query.get('pageToken') ?? query.get('startIndex'), 'pageToken') ?? 0;
  const most = smallInteger(query.get('maxResults'), 'maxResults') ?? table.rows.length;
  const format = rowFormat({ useInt64Timestamp: query.get('formatOptions.useInt64Timestamp') }, shape);
  const rows = table.rows.slice(start, start + most).map((row) => JSON.stringify(restRow(table.columns, row, format)));
  const end = start + rows.length;
  const head = {
    kind: 'bigquery#tableDataList',
    etag: 'local',
    totalRows: String(table.rows.length),
    ...(end < table.rows.length && most > 0 ? { pageToken: String(end) } : {}),
  };
  return ok(new JsonText(`${JSON.stringify(head).slice(0, -1)},"rows":[${rows.join(',')}]}`));
}
