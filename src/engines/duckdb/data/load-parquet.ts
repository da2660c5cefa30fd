import type { DuckDBConnection, DuckDBType } from '@duckdb/node-api';

import type { RestField } from '../../../googlesql/rest-schema';
import { quoteName, quoteText } from '../sql';
import { NAMED, NOTHING, type Skipped } from './strict-copy';
import { jsonType, storedType, storedValue } from './field-sql';
import { holdsLists, holdsNullArrays } from './null-arrays';
import { shapedColumn } from './parquet-columns';
import { scanOf } from './file-scan';
import type { SourceFile } from './sources';
import { orderBy, type Target } from './conversion-target';

/** A field, and how it is read from the file. */
interface Reading {
  readonly field: RestField;
  /** The column; null: the file has none. */
  readonly column: string | null;
  /** The column's value in the field's type: SQL over the file. */
  readonly value: string;
  /** Whether that is the kept value already. */
  readonly unchanged: boolean;
}

/**
 * Parquet has types of its own: a column is cast to its field's. A row whose value in a column cannot be cast, or lacks
 * a required one, is left out; inside a record such a value becomes NULL.
 *
 * @throws what DuckDB throws for a file that it cannot read
 */
export async function loadParquet(
  connection: DuckDBConnection,
  file: SourceFile,
  fields: readonly RestField[],
  { table, order, watch }: Target,
): Promise<Skipped> {
  const scan = scanOf(file, fields);
  const readings = await readingsOf(connection, fields, scan, (check) =>
    watch.statement('Checking', connection, check),
  );
  const fault = faultOf(readings);
  const base = `(SELECT file_row_number + 1 AS line, ${readings
    .map(({ column, value }, i) => `${value} AS r${i}, ${column ?? 'NULL'} IS NOT NULL AS g${i}`)
    .join(', ')} FROM ${scan})`;
  const bad = fault === null ? 'false' : `(${fault}) IS NOT NULL`;
  const values = readings.map(
    ({ field, unchanged }, i) =>
      `${unchanged ? `r${i}` : storedValue(field, `r${i}`, 'blob')} AS ${quoteName(field.name)}`,
  );
  const time = readings.find(({ field }) => field === order);
  const sorted = time !== undefined && (await isAscending(connection, time.value, scan));
  await connection.run(`SET preserve_insertion_order = ${sorted}`);
  const sort = sorted ? '' : orderBy(order);
  const insert = `INSERT INTO ${table} SELECT ${values.join(', ')} FROM ${base} WHERE NOT (${bad})${sort}`;
  const { rowsChanged } = await watch.statement('Converting', connection, connection.run(insert));
  const all = await connection.runAndReadAll(`SELECT count(*) FROM ${scan}`);
  if (Number(all.getRows()[0]?.[0]) === rowsChanged) return NOTHING;
  const skipped = await connection.runAndReadAll(
    `SELECT line, ${fault ?? "''"}, count(*) OVER () FROM ${base} WHERE ${bad} ORDER BY line LIMIT ${NAMED}`,
  );
  const first = skipped
    .getRows()
    .map(([line, reason]) => ({ file: file.path, line: Number(line), reason: String(reason) }));
  return { count: Number(skipped.getRows()[0]?.[2] ?? 0), first };
}

type Check = <T>(statement: Promise<T>) => Promise<T>;

/**
 * Columns that are stored unchanged are recognised by their types, those with lists by a look at each: rebuilding
 * the records of a log takes longer than all the rest.
 */
async function readingsOf(
  connection: DuckDBConnection,
  fields: readonly RestField[],
  scan: string,
  check: Check,
): Promise<Reading[]> {
  const present = new Map(
    (await columnsOf(connection, `SELECT * FROM ${scan}`)).map(({ name, type }) => [
      name.toLowerCase(),
      { name, type },
    ]),
  );
  const stored = await columnsOf(
    connection,
    `SELECT ${fields.map((field) => `CAST(NULL AS ${storedType(field)})`).join(', ')}`,
  );
  const readings: Reading[] = [];
  for (const [i, field] of fields.entries()) {
    const read = jsonType(field, 'BLOB');
    const column = present.get(field.name.toLowerCase());
    if (column === undefined) {
      readings.push({ field, column: null, value: `CAST(NULL AS ${read})`, unchanged: false });
      continue;
    }
    const sql = quoteName(column.name);
    const unchanged =
      String(column.type) === String(stored[i]?.type) &&
      (!holdsLists(field) || !(await anyRow(connection, scan, holdsNullArrays(field, sql), check)));
    const value = unchanged ? sql : `TRY_CAST(${shapedColumn(field, column.type, sql)} AS ${read})`;
    readings.push({ field, column: sql, value, unchanged });
  }
  return readings;
}

async function columnsOf(connection: DuckDBConnection, sql: string): Promise<{ name: string; type: DuckDBType }[]> {
  const probe = await connection.prepare(sql);
  const columns = Array.from({ length: probe.columnCount }, (_, i) => ({
    name: probe.columnName(i),
    type: probe.columnType(i),
  }));
  probe.destroySync();
  return columns;
}

async function anyRow(connection: DuckDBConnection, scan: string, condition: string, check: Check): Promise<boolean> {
  const found = await check(connection.runAndReadAll(`SELECT 1 FROM ${scan} WHERE ${condition} LIMIT 1`));
  return found.currentRowCount > 0;
}

/** Why a row is left out, or NULL: SQL over the readings; null: none ever is. */
function faultOf(readings: readonly Reading[]): string | null {
  const faults = readings.flatMap(({ field, column, unchanged }, i) => [
    ...(column === null || unchanged
      ? []
      : [{ sql: `r${i} IS NULL AND g${i}`, reason: `${field.name} is not a ${field.type}` }]),
    ...(field.mode === 'REQUIRED' ? [{ sql: `r${i} IS NULL`, reason: `${field.name} is required` }] : []),
  ]);
  if (faults.length === 0) return null;
  return `CASE ${faults.map(({ sql, reason }) => `WHEN ${sql} THEN ${quoteText(reason)}`).join(' ')} END`;
}

/** Whether a Parquet file has its rows in time order already, as exports have: sorting wide rows takes minutes. */
async function isAscending(connection: DuckDBConnection, time: string, scan: string): Promise<boolean> {
  const found = await connection.runAndReadAll(`SELECT 1
    FROM (SELECT file_row_number AS n, ${time} AS t, lag(${time}) OVER (ORDER BY file_row_number) AS before FROM ${scan})
    WHERE n > 0 AND (t >= before) IS NOT TRUE LIMIT 1`);
  return found.currentRowCount === 0;
}
