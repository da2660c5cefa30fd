import {
  type DuckDBConnection,
  DuckDBListType,
  DuckDBMapType,
  DuckDBStructType,
  type DuckDBType,
  DuckDBVarCharType,
  LIST,
  STRUCT,
} from '@duckdb/node-api';

import type { RestField } from '@logquay/googlesql/types';
import type { LeftOutReason } from '../contract/contract';
import { jsonOf, quoteName, quoteText } from '../sql';
import type { Watch } from './conversion-progress';
import { jsonType, storedType, storedValue } from './field-sql';
import { parquetScan } from './file-scan';
import { MOST_REST, REST_FIELD } from './rest';
import { MOST_ROW_VALUES, TOO_WIDE, valuesOfItem } from './row-values';

/** So many rows that are left out are named. */
const NAMED = 10;

/** Where the rows of a file go. */
export interface ParquetTarget {
  /** Has the fields' columns, one for the number of the source, and one that is NULL. */
  readonly table: string;
  readonly source: number;
  readonly rules: { readonly timed: boolean; readonly identified: boolean; readonly rest: boolean };
  /** A value that does not fit becomes NULL, and is counted, rather than its row be left out. */
  readonly lenient: boolean;
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
  path: string,
  fields: readonly RestField[],
  { table, source, rules, lenient, watch }: ParquetTarget,
): Promise<{ readonly leftOut: readonly LeftOutOfFile[]; readonly nulled: number }> {
  const all = parquetScan(path, true);
  const columns = new Map(
    (await columnsOf(connection, `SELECT * FROM ${all}`)).map((column) => [column.name.toLowerCase(), column]),
  );
  const wide = isWide(fields, columns);
  const scan = wide === null ? all : `(FROM ${all} WHERE NOT (${wide}))`;
  const readings = await readingsOf(connection, fields, columns, scan, (check) =>
    watch.statement('Checking', connection, check),
  );
  if (rules.rest) setRest(readings, columns);
  const fault = faultOf(readings, rules, lenient);
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
  const nulled = lenient ? await nulledIn(connection, base, readings) : 0;
  if (Number(total.getRows()[0]?.[0]) === rowsChanged) return { leftOut: [], nulled };
  const misfits = `SELECT line, ${fault ?? "''"} AS reason FROM ${base} WHERE ${bad}`;
  const tooWide = `SELECT file_row_number + 1, ${quoteText(TOO_WIDE)} FROM ${all} WHERE ${wide ?? 'false'}`;
  const skipped = await connection.runAndReadAll(
    `SELECT reason, count(*), list(line ORDER BY line)[:${NAMED}] FROM (${misfits} UNION ALL ${tooWide}) GROUP BY 1`,
  );
  const groups = skipped.getRowsJS() as [string, bigint, bigint[]][];
  const leftOut = groups.map(([reason, count, lines]): LeftOutOfFile => ({
    reason:
      reason === TOO_WIDE
        ? 'too_wide'
        : /^timestamp is (?:required|missing)$/.test(reason)
          ? 'no_timestamp'
          : 'does_not_fit',
    count: Number(count),
    first: lines.map((line) => ({ file: path, line: Number(line), reason })),
  }));
  return { leftOut, nulled };
}

/** How many values of the file have become NULL. */
async function nulledIn(connection: DuckDBConnection, base: string, readings: readonly Reading[]): Promise<number> {
  const cast = readings.flatMap(({ column, unchanged }, i) =>
    column === null || unchanged ? [] : `count(*) FILTER (WHERE r${i} IS NULL AND g${i})`,
  );
  if (cast.length === 0) return 0;
  const found = await connection.runAndReadAll(`SELECT ${cast.join(' + ')} FROM ${base}`);
  return Number(found.getRows()[0]?.[0]);
}

/** Has the columns that no field has in the one for what there is beside fields. */
function setRest(readings: Reading[], columns: ReadonlyMap<string, Column>): void {
  const index = readings.findIndex(({ field }) => field.name === REST_FIELD.name);
  const known = new Set(readings.map(({ field }) => field.name.toLowerCase()));
  const others = [...columns.values()].filter(
    ({ name }) => !known.has(name.toLowerCase()) && name !== 'file_row_number',
  );
  if (index === -1 || others.length === 0) return;
  const members = others.map(({ name }) => `${quoteName(name)} := ${quoteName(name)}`);
  // Members that are NULL go.
  const all = `json_merge_patch('{}', CAST(to_json(struct_pack(${members.join(', ')})) AS VARCHAR))`;
  const value = jsonOf(`nullif(CAST(${all} AS VARCHAR), '{}')`);
  const short = `CASE WHEN strlen(CAST(${value} AS VARCHAR)) <= ${MOST_REST} THEN ${value} END`;
  readings[index] = { field: REST_FIELD, column: null, value: short, unchanged: false };
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
function faultOf(
  readings: readonly Reading[],
  { timed, identified }: ParquetTarget['rules'],
  lenient: boolean,
): string | null {
  const faults = readings.flatMap(({ field, column, unchanged }, i) => [
    ...(column === null || unchanged || lenient
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

/** Whether a field is a list or holds one. */
function holdsLists(field: RestField): boolean {
  return field.mode === 'REPEATED' || field.fields.some(holdsLists);
}

/** A condition, never NULL: a list in the value of that field is NULL or holds one. The value has the field's own type. */
function holdsNullArrays(field: RestField, sql: string): string {
  return nullIn(field, sql, 0);
}

function nullIn(field: RestField, sql: string, depth: number): string {
  if (field.mode !== 'REPEATED') {
    const parts = field.fields
      .filter(holdsLists)
      .map((inner) => nullIn(inner, `${sql}.${quoteName(inner.name)}`, depth));
    return `(${sql} IS NOT NULL AND (${parts.join(' OR ')}))`;
  }
  // list_count leaves NULLs out.
  const itself = `${sql} IS NULL OR list_count(${sql}) <> len(${sql})`;
  const item = { ...field, mode: 'NULLABLE' as const };
  if (!holdsLists(item)) return `(${itself})`;
  const variable = `v${depth}`;
  const inside = `list_transform(${sql}, lambda ${variable}: ${nullIn(item, variable, depth + 1)})`;
  return `(${itself} OR coalesce(list_bool_or(${inside}), false))`;
}

/**
 * A Parquet column in the shape that its field declares: DuckDB's casts of records go by name and fill in NULL for what
 * is missing, but none makes a list of a plain value, as log shippers write records.
 */
function shapedColumn(field: RestField, type: DuckDBType, sql: string): string {
  return shaped(field, type, sql, 0);
}

function shaped(field: RestField, type: DuckDBType, sql: string, depth: number): string {
  if (field.mode === 'REPEATED' && type instanceof DuckDBMapType) {
    return shaped(field, entriesOf(type), `map_entries(${sql})`, depth);
  }
  if (field.type === 'RECORD' && type instanceof DuckDBMapType) {
    const record = `CASE WHEN ${sql} IS NOT NULL THEN struct_pack(${ENTRIES} := map_entries(${sql})) END`;
    return shaped(field, STRUCT({ [ENTRIES]: entriesOf(type) }), record, depth);
  }
  if (field.mode !== 'REPEATED') return shapedItem(field, type, sql, depth);
  const item = { ...field, mode: 'NULLABLE' as const };
  if (!(type instanceof DuckDBListType)) {
    return `CASE WHEN ${sql} IS NOT NULL THEN [${shapedItem(item, type, sql, depth)}] END`;
  }
  const variable = `p${depth}`;
  const value = shapedItem(item, type.valueType, variable, depth + 1);
  // BigQuery's arrays hold no NULL.
  const present = `list_filter(${sql}, lambda x: x IS NOT NULL)`;
  return value === variable ? present : `list_transform(${present}, lambda ${variable}: ${value})`;
}

function shapedItem(field: RestField, type: DuckDBType, sql: string, depth: number): string {
  // DuckDB takes a column of JSON at its word, and writes NaN of a list's number.
  if (field.type === 'JSON') return jsonOf(`CAST(TRY_CAST(${sql} AS JSON) AS VARCHAR)`);
  if (field.type === 'TIMESTAMP' && type instanceof DuckDBVarCharType) return instantOf(sql);
  if (field.type !== 'RECORD' || !(type instanceof DuckDBStructType)) return sql;
  const parts = field.fields.flatMap((inner) => {
    const index = type.entryNames.findIndex((name) => name.toLowerCase() === inner.name.toLowerCase());
    if (index === -1) return [];
    const read = `${sql}.${quoteName(type.entryNames[index]!)}`;
    return [{ name: inner.name, read, value: shaped(inner, type.entryTypes[index]!, read, depth) }];
  });
  if (parts.length === 0 || parts.every(({ read, value }) => read === value)) return sql;
  const packed = `struct_pack(${parts.map(({ name, value }) => `${quoteName(name)} := ${value}`).join(', ')})`;
  return `CASE WHEN ${sql} IS NOT NULL THEN ${packed} END`;
}

/** The only field of a map that BigQuery has loaded as a record, which is its default; it is the list then. */
const ENTRIES = 'key_value';

/** A map as BigQuery loads it: a list of records. */
function entriesOf({ keyType: key, valueType: value }: DuckDBMapType): DuckDBListType {
  return LIST(STRUCT({ key, value }));
}

/** SQL, a number or NULL: values in the lists of a column (`MOST_ROW_VALUES`); null: it has no lists. */
function listValues(field: RestField, type: DuckDBType, sql: string, depth = 0): string | null {
  if (field.mode === 'REPEATED' && type instanceof DuckDBMapType) {
    return listValues(field, entriesOf(type), `map_entries(${sql})`, depth);
  }
  if (field.type === 'RECORD' && type instanceof DuckDBMapType) {
    const entries = field.fields.find(({ name }) => name.toLowerCase() === ENTRIES);
    return entries === undefined ? null : listValues(entries, type, sql, depth);
  }
  if (field.mode === 'REPEATED' && type instanceof DuckDBListType) {
    const variable = `n${depth}`;
    const item = listValues({ ...field, mode: 'NULLABLE' }, type.valueType, variable, depth + 1);
    const inside = item === null ? '' : ` + list_sum(list_transform(${sql}, lambda ${variable}: ${item}))`;
    return `coalesce(len(${sql}) * ${valuesOfItem(field)}${inside}, 0)`;
  }
  if (!(type instanceof DuckDBStructType)) return null;
  const parts = field.fields.flatMap((inner) => {
    const index = type.entryNames.findIndex((name) => name.toLowerCase() === inner.name.toLowerCase());
    if (index === -1) return [];
    return listValues(inner, type.entryTypes[index]!, `${sql}.${quoteName(type.entryNames[index]!)}`, depth) ?? [];
  });
  const itself = field.mode === 'REPEATED' ? [`if(${sql} IS NULL, 0, ${valuesOfItem(field)})`] : [];
  return [...itself, ...parts].join(' + ') || null;
}

/** DuckDB would read a text that names no zone in the zone of a row before it. */
function instantOf(text: string): string {
  const namesNone = String.raw`regexp_full_match(${text}, '\s*[\d-]+(?:[ Tt]+[\d:.]*)?\s*')`;
  return `CASE WHEN ${namesNone} THEN timezone('UTC', TRY_CAST(${text} AS TIMESTAMP)) ELSE TRY_CAST(${text} AS TIMESTAMPTZ) END`;
}
