import { join } from 'node:path';
import { rm } from 'node:fs/promises';
import { DuckDBInstance, type DuckDBConnection } from '@duckdb/node-api';
import type { RestField } from '../../../googlesql/rest-schema';
import { quoteName, quoteText } from '../translate/sql';
import { codeOf, messageOf } from '../native-error';
import { copyCarefully, NAMED, type Skipped, type SkippedRow } from './careful-copy';
import { DataFault } from './data-fault';
import { jsonType, keptType, keptValue } from './field-sql';
import { lossyLines } from './lossy-lines';
import { shapedColumn } from './parquet-columns';
import { linesOf, scanOf } from './scan';
import type { Source, SourceFile } from './sources';
import type { Watch } from './watch';

export interface Resources {
  /** As DuckDB's `max_memory`: `1GB`. */
  readonly memory: string;
  readonly threads: number;
}

export interface Converted {
  readonly rows: number;
  readonly skipped: Skipped;
}

export interface Conversion {
  /** Takes all that is needed on the way. */
  readonly folder: string;
  /** The file to write. */
  readonly database: string;
  readonly resources: Resources;
  readonly watch: Watch;
}

/** The column that rows are kept in order of. */
const TIME = new Set(['TIMESTAMP', 'DATETIME', 'DATE']);

/**
 * Writes the rows of a source into a new DuckDB file, table `rows`, sorted by their column `timestamp` so that a time
 * window reads only its part, and into table `about` what was left out.
 *
 * @throws DataFault for a file that cannot be read at all.
 */
export async function convertTable(
  source: Source,
  fields: readonly RestField[],
  { folder, database, resources, watch }: Conversion,
): Promise<void> {
  const instance = await DuckDBInstance.create(database, {
    threads: String(resources.threads),
    max_memory: resources.memory,
    temp_directory: join(folder, 'spill'),
    preserve_insertion_order: 'false',
    autoinstall_known_extensions: 'false',
    autoload_known_extensions: 'false',
  });
  try {
    const connection = await instance.connect();
    await connection.run(`SET TimeZone = 'UTC'`);
    await watch.prepare(connection);
    await connection.run(`ATTACH ${quoteText(join(folder, 'staged.duckdb'))} AS staging`);
    const skipped = await fill(connection, source, fields, { folder, watch });
    await connection.run('DETACH staging');
    const rows = Number((await connection.runAndReadAll('SELECT count(*) FROM rows')).getRows()[0]![0]);
    const about = JSON.stringify({ rows, skipped } satisfies Converted);
    await connection.run(`CREATE TABLE about AS SELECT ${quoteText(about)} AS about`);
    await watch.statement('Writing', connection, connection.run('CHECKPOINT'));
    connection.closeSync();
  } finally {
    instance.closeSync();
  }
}

async function fill(
  connection: DuckDBConnection,
  source: Source,
  fields: readonly RestField[],
  { folder, watch }: Pick<Conversion, 'folder' | 'watch'>,
): Promise<Skipped> {
  const time = fields.find((field) => field.name.toLowerCase() === 'timestamp' && field.mode !== 'REPEATED');
  const order = time !== undefined && TIME.has(time.type) ? orderBy(time) : '';
  const columns = fields.map(
    (field) => `${quoteName(field.name)} ${keptType(field)}${field.mode === 'REQUIRED' ? ' NOT NULL' : ''}`,
  );
  await connection.run(`CREATE TABLE rows (${columns.join(', ')})`);
  if (source.files.length === 1)
    return load(connection, source.files[0]!, fields, { table: 'rows', order, folder, watch });

  await connection.run(`CREATE TABLE staging.staged (${columns.join(', ')})`);
  let count = 0;
  const first: SkippedRow[] = [];
  for (const file of source.files) {
    const skipped = await load(connection, file, fields, { table: 'staging.staged', order: '', folder, watch });
    count += skipped.count;
    first.push(...skipped.first.slice(0, NAMED - first.length));
  }
  const insert = connection.run(`INSERT INTO rows SELECT * FROM staging.staged${order}`);
  await watch.statement('Sorting', connection, insert);
  return { count, first };
}

function orderBy(field: RestField): string {
  return ` ORDER BY ${quoteName(field.name)}`;
}

interface Target {
  readonly table: string;
  readonly order: string;
  readonly folder: string;
  readonly watch: Watch;
}

const NOTHING: Skipped = { count: 0, first: [] };

async function load(
  connection: DuckDBConnection,
  file: SourceFile,
  fields: readonly RestField[],
  target: Target,
): Promise<Skipped> {
  if (file.format === 'parquet') return loadParquet(connection, file, fields, target);
  const copy = join(target.folder, 'fitting.ndjson');
  try {
    if (await loadWhole(connection, file, fields, target)) return NOTHING;
    const skipped = await copyCarefully(file.path, fields, copy, (done) => {
      target.watch.bytes('Reading line by line', done, Number(file.size));
    });
    await insert(connection, { path: copy, format: 'ndjson' }, fields, target);
    return skipped;
  } catch (error) {
    throw unreadable(file, error);
  } finally {
    await rm(copy, { force: true });
  }
}

/** Reads a file in one go if no line of it needs a closer look; false, and nothing read, if one does. */
async function loadWhole(
  connection: DuckDBConnection,
  file: SourceFile,
  fields: readonly RestField[],
  target: Target,
): Promise<boolean> {
  const lossy = lossyLines(fields);
  if (lossy === null) return false;
  try {
    const search = connection.runAndReadAll(
      `SELECT 1 FROM ${linesOf(file.path)} WHERE regexp_matches(json, ${quoteText(lossy)}) LIMIT 1`,
    );
    const found = await target.watch.statement('Checking', connection, search);
    if (found.currentRowCount > 0) return false;
    await insert(connection, file, fields, target);
    return true;
  } catch (error) {
    if (isOutOfMemory(error)) throw error;
    return false;
  }
}

async function insert(
  connection: DuckDBConnection,
  file: Pick<SourceFile, 'path' | 'format'>,
  fields: readonly RestField[],
  { table, order, watch }: Target,
): Promise<void> {
  const values = fields.map(
    (field) => `${keptValue(field, quoteName(field.name), 'base64')} AS ${quoteName(field.name)}`,
  );
  const insert = `INSERT INTO ${table} SELECT ${values.join(', ')} FROM ${scanOf(file, fields)}${order}`;
  await watch.statement('Converting', connection, connection.run(insert));
}

/**
 * Parquet has types of its own: a column is cast to its field's. A row whose value in a column cannot be cast, or lacks
 * a required one, is left out; inside a record such a value becomes NULL.
 */
async function loadParquet(
  connection: DuckDBConnection,
  file: SourceFile,
  fields: readonly RestField[],
  { table, order, watch }: Target,
): Promise<Skipped> {
  try {
    const scan = scanOf(file, fields);
    const probe = await connection.prepare(`SELECT * FROM ${scan}`);
    const present = new Map<string, { sql: string; type: ReturnType<typeof probe.columnType> }>();
    for (let i = 0; i < probe.columnCount; i++) {
      present.set(probe.columnName(i).toLowerCase(), {
        sql: quoteName(probe.columnName(i)),
        type: probe.columnType(i),
      });
    }
    probe.destroySync();
    const read = fields.map((field) => {
      const column = present.get(field.name.toLowerCase());
      if (column === undefined) return { field, given: 'NULL', value: `CAST(NULL AS ${jsonType(field, 'BLOB')})` };
      const shaped = shapedColumn(field, column.type, column.sql);
      return { field, given: column.sql, value: `TRY_CAST(${shaped} AS ${jsonType(field, 'BLOB')})` };
    });
    const faults = read.flatMap(({ field, given }, i) => [
      ...(given === 'NULL' ? [] : [{ sql: `r${i} IS NULL AND g${i}`, reason: `${field.name} is not a ${field.type}` }]),
      ...(field.mode === 'REQUIRED' ? [{ sql: `r${i} IS NULL`, reason: `${field.name} is required` }] : []),
    ]);
    const fault = `CASE ${faults.map(({ sql, reason }) => `WHEN ${sql} THEN ${quoteText(reason)}`).join(' ')} END`;
    const base = `(SELECT file_row_number + 1 AS line, ${read
      .map(({ given, value }, i) => `${value} AS r${i}, ${given} IS NOT NULL AS g${i}`)
      .join(', ')} FROM ${scan})`;
    const bad = faults.length === 0 ? 'false' : `(${fault}) IS NOT NULL`;
    const values = fields.map((field, i) => `${keptValue(field, `r${i}`, 'blob')} AS ${quoteName(field.name)}`);
    const time = read.find(({ field }) => order !== '' && order === orderBy(field));
    const sorted = time !== undefined && (await isAscending(connection, time.value, scan));
    await connection.run(`SET preserve_insertion_order = ${sorted}`);
    const sort = sorted ? '' : order;
    const insert = `INSERT INTO ${table} SELECT ${values.join(', ')} FROM ${base} WHERE NOT (${bad})${sort}`;
    const { rowsChanged } = await watch.statement('Converting', connection, connection.run(insert));
    const all = await connection.runAndReadAll(`SELECT count(*) FROM ${scan}`);
    if (Number(all.getRows()[0]?.[0]) === rowsChanged) return NOTHING;
    const skipped = await connection.runAndReadAll(
      `SELECT line, ${fault}, count(*) OVER () FROM ${base} WHERE ${bad} ORDER BY line LIMIT ${NAMED}`,
    );
    const first = skipped
      .getRows()
      .map(([line, reason]) => ({ file: file.path, line: Number(line), reason: String(reason) }));
    return { count: Number(skipped.getRows()[0]?.[2] ?? 0), first };
  } catch (error) {
    throw unreadable(file, error);
  }
}

/** Whether a Parquet file has its rows in time order already, as exports have: sorting wide rows takes minutes. */
async function isAscending(connection: DuckDBConnection, time: string, scan: string): Promise<boolean> {
  const found = await connection.runAndReadAll(`SELECT 1
    FROM (SELECT file_row_number AS n, ${time} AS t, lag(${time}) OVER (ORDER BY file_row_number) AS before FROM ${scan})
    WHERE n > 0 AND (t >= before) IS NOT TRUE LIMIT 1`);
  return found.currentRowCount === 0;
}

function isOutOfMemory(error: unknown): boolean {
  return /^Out of Memory Error|failed to allocate/i.test(messageOf(error));
}

/** DuckDB's own words may hold values of the file: only their kind is told. */
function unreadable(file: SourceFile, error: unknown): Error {
  if (isOutOfMemory(error)) {
    return new DataFault(`${file.path}: not enough memory to read it; allow the engine more or split the file`);
  }
  const kind = /^[A-Z][\w -]*? Error/.exec(messageOf(error))?.[0] ?? codeOf(error) ?? 'unknown';
  return new DataFault(`${file.path}: cannot be read (${kind})`);
}
