import type { DuckDBConnection, DuckDBType } from '@duckdb/node-api';

import type { RestField } from '../../../googlesql/rest-schema';
import { quoteName, quoteText } from '../sql';
import { jsonType, storedType, storedValue } from './field-sql';
import { holdsLists, holdsNullArrays } from './null-arrays';
import { listValues, shapedColumn } from './parquet-columns';
import { MOST_ROW_VALUES, TOO_WIDE } from './row-values';
import { scanOf } from './file-scan';
import type { LeftOutReason } from '../../contract';
import type { Watch } from './conversion-progress';

/** So many rows that are left out are named. */
const NAMED = 10;

/** Where the rows of a file go. */
export interface ParquetTarget {
  /** Has the fields' columns, one for the number of the source, and one that is NULL. */
  readonly table: string;
  readonly source: number;
  readonly rules: { readonly timed: boolean; readonly identified: boolean };
  readonly watch: Watch;
}

/** Rows of a file that were left out for one reason. */
export interface LeftOutOfFile {
  readonly reason: LeftOutReason;
  readonly count: number;
  /** The first few. */
  readonly first: readonly { readonly file: string; readonly line: number; readonly reason: string }[];
}

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
  file: { readonly path: string },
  fields: readonly RestField[],
  { table, source, rules, watch }: ParquetTarget,
): Promise<LeftOutOfFile[]> {
  const all = scanOf({ path: file.path, format: 'parquet' }, fields);
  const columns = new Map(
    (await columnsOf(connection, `SELECT * FROM ${all}`)).map((column) => [column.name.toLowerCase(), column]),
  );
  const wide = isWide(fields, columns);
  const scan = wide === null ? all : `(FROM ${all} WHERE NOT (${wide}))`;
  const readings = await readingsOf(connection, fields, columns, scan, (check) =>
    watch.statement('Checking', connection, check),
  );
  const fault = faultOf(readings, rules);
  const base = `(SELECT file_row_number + 1 AS line, ${readings
    .map(({ column, value }, i) => `${value} AS r${i}, ${column ?? 'NULL'} IS NOT NULL AS g${i}`)
    .join(', ')} FROM ${scan})`;
  const bad = fault === null ? 'false' : `(${fault}) IS NOT NULL`;
  const values = readings.map(({ field, unchanged }, i) => {
    const value = unchanged ? `r${i}` : storedValue(field, `r${i}`, 'blob');
    return rules.identified && field.name === 'id' ? `coalesce(nullif(${value}, ''), ${generated(readings)})` : value;
  });
  const insert = `INSERT INTO ${table} SELECT ${[...values, source, 'NULL'].join(', ')} FROM ${base} WHERE NOT (${bad})`;
  const { rowsChanged } = await watch.statement('Converting', connection, connection.run(insert));
  const total = await connection.runAndReadAll(`SELECT count(*) FROM ${all}`);
  if (Number(total.getRows()[0]?.[0]) === rowsChanged) return [];
  const misfits = `SELECT line, ${fault ?? "''"} AS reason FROM ${base} WHERE ${bad}`;
  const tooWide = `SELECT file_row_number + 1, ${quoteText(TOO_WIDE)} FROM ${all} WHERE ${wide ?? 'false'}`;
  const skipped = await connection.runAndReadAll(
    `SELECT reason, count(*), list(line ORDER BY line)[:${NAMED}] FROM (${misfits} UNION ALL ${tooWide}) GROUP BY 1`,
  );
  const groups = skipped.getRowsJS() as [string, bigint, bigint[]][];
  return groups.map(([reason, count, lines]) => ({
    reason:
      reason === TOO_WIDE
        ? 'too_wide'
        : /^timestamp is (?:required|missing)$/.test(reason)
          ? 'no_timestamp'
          : 'does_not_fit',
    count: Number(count),
    first: lines.map((line) => ({ file: file.path, line: Number(line), reason })),
  }));
}

/** SQL: what the id of a row that has none is made of, marked as not numbered yet. */
function generated(readings: readonly Reading[]): string {
  const row = readings.map((_, i) => `c${i} := r${i}`).join(', ');
  return `chr(1) || md5(CAST(to_json(struct_pack(${row})) AS VARCHAR))`;
}

/** A column of the file. */
interface Column {
  readonly name: string;
  readonly type: DuckDBType;
}

/** SQL: whether a row has more than `MOST_ROW_VALUES`; null: none has. */
function isWide(fields: readonly RestField[], columns: ReadonlyMap<string, Column>): string | null {
  const values = fields.flatMap((field) => {
    const column = columns.get(field.name.toLowerCase());
    return column === undefined ? [] : (listValues(field, column.type, quoteName(column.name)) ?? []);
  });
  return values.length === 0 ? null : `${values.join(' + ')} > ${MOST_ROW_VALUES}`;
}

type Check = <T>(statement: Promise<T>) => Promise<T>;

/**
 * Columns that are stored unchanged are recognised by their types, those with lists by a look at each: rebuilding
 * the records of a log takes longer than all the rest.
 */
async function readingsOf(
  connection: DuckDBConnection,
  fields: readonly RestField[],
  columns: ReadonlyMap<string, Column>,
  scan: string,
  check: Check,
): Promise<Reading[]> {
  const stored = await columnsOf(
    connection,
    `SELECT ${fields.map((field) => `CAST(NULL AS ${storedType(field)})`).join(', ')}`,
  );
  const readings: Reading[] = [];
  for (const [i, field] of fields.entries()) {
    const read = jsonType(field, 'BLOB');
    const column = columns.get(field.name.toLowerCase());
    if (column === undefined) {
      readings.push({ field, column: null, value: `CAST(NULL AS ${read})`, unchanged: false });
      continue;
    }
    const sql = quoteName(column.name);
    const unchanged =
      String(column.type) === String(stored[i]?.type) &&
      !holdsJson(field) &&
      (!holdsLists(field) || !(await anyRow(connection, scan, holdsNullArrays(field, sql), check)));
    const value = unchanged ? sql : `TRY_CAST(${shapedColumn(field, column.type, sql)} AS ${read})`;
    readings.push({ field, column: sql, value, unchanged });
  }
  return readings;
}

function holdsJson({ type, fields }: RestField): boolean {
  return type === 'JSON' || fields.some(holdsJson);
}

async function columnsOf(connection: DuckDBConnection, sql: string): Promise<Column[]> {
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
function faultOf(readings: readonly Reading[], { timed, identified }: ParquetTarget['rules']): string | null {
  const faults = readings.flatMap(({ field, column, unchanged }, i) => [
    ...(column === null || unchanged
      ? []
      : [{ sql: `r${i} IS NULL AND g${i}`, reason: `${field.name} is not a ${field.type}` }]),
    ...(field.mode === 'REQUIRED' && !(identified && field.name === 'id')
      ? [{ sql: `r${i} IS NULL`, reason: `${field.name} is required` }]
      : []),
    ...(timed && field.name === 'timestamp' && field.mode === 'NULLABLE'
      ? [{ sql: `r${i} IS NULL`, reason: 'timestamp is missing' }]
      : []),
  ]);
  if (faults.length === 0) return null;
  return `CASE ${faults.map(({ sql, reason }) => `WHEN ${sql} THEN ${quoteText(reason)}`).join(' ')} END`;
}
