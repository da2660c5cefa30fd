import { join } from 'node:path';
import { rm } from 'node:fs/promises';
import { DuckDBInstance, type DuckDBConnection } from '@duckdb/node-api';
import type { RestField } from '../../../googlesql/rest-schema';
import { quoteName, quoteText } from '../sql';
import { codeOf, messageOf } from '../engine/native-error';
import { copyStrictly, NAMED, NOTHING, type Skipped, type SkippedRow } from './strict-copy';
import { DataFault } from './data-fault';
import { storedType, storedValue } from './field-sql';
import { findSingleLists, oneOfEach, singleType, singleValue } from './single-lists';
import { lossyLines } from './lossy-lines';
import { loadParquet } from './load-parquet';
import { linesOf, scanOf } from './file-scan';
import type { Source, SourceFile } from './sources';
import { orderBy, type Target } from './conversion-target';
import type { Watch } from './conversion-progress';

export interface Resources {
  /** As DuckDB's `max_memory`: `1GB`. */
  readonly memory: string;
  readonly threads: number;
}

export interface Converted {
  readonly rows: number;
  /** Those of them that are in table `odd`, with all lists. */
  readonly odd: number;
  /** Paths of the lists that table `rows` has as their only elements. */
  readonly single: readonly string[];
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
 * Writes the rows of a source into a new DuckDB file, tables `rows` and `odd`, sorted by their column `timestamp` so that a
 * time window reads only its part, and into table `about` what was left out.
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
    const skipped = await stage(connection, source, fields, { folder, watch });
    const shaped = await watch.statement('Sorting', connection, write(connection, fields));
    await connection.run('DETACH staging');
    const about = JSON.stringify({ ...shaped, skipped } satisfies Converted);
    await connection.run(`CREATE TABLE about AS SELECT ${quoteText(about)} AS about`);
    await watch.statement('Writing', connection, connection.run('CHECKPOINT'));
    connection.closeSync();
  } finally {
    instance.closeSync();
  }
}

/** Reads all files into table `staged`, with lists. */
async function stage(
  connection: DuckDBConnection,
  source: Source,
  fields: readonly RestField[],
  { folder, watch }: Pick<Conversion, 'folder' | 'watch'>,
): Promise<Skipped> {
  const columns = fields.map((field) => `${quoteName(field.name)} ${storedType(field)}${required(field)}`);
  await connection.run(`CREATE TABLE staging.staged (${columns.join(', ')})`);
  let count = 0;
  const first: SkippedRow[] = [];
  for (const file of source.files) {
    const skipped = await load(connection, file, fields, { table: 'staging.staged', order: null, folder, watch });
    count += skipped.count;
    first.push(...skipped.first.slice(0, NAMED - first.length));
  }
  return { count, first };
}

/** Sorts what is staged into its tables. */
async function write(connection: DuckDBConnection, fields: readonly RestField[]): Promise<Omit<Converted, 'skipped'>> {
  const time = fields.find((field) => field.name.toLowerCase() === 'timestamp' && field.mode !== 'REPEATED');
  const order = orderBy(time !== undefined && TIME.has(time.type) ? time : null);
  const single = await findSingleLists(connection, 'staging.staged', fields);
  const condition = oneOfEach(fields, single);
  const types = fields.map((field) => `${quoteName(field.name)} ${singleType(field, single)}${required(field)}`);
  await connection.run(`CREATE TABLE rows (${types.join(', ')})`);
  const values = fields.map((field) => `${singleValue(field, single)} AS ${quoteName(field.name)}`).join(', ');
  const where = condition === null ? '' : ` WHERE ${condition}`;
  await connection.run(`INSERT INTO rows SELECT ${values} FROM staging.staged${where}${order}`);
  const rows = await countOf(connection, 'staging.staged');
  const odd = rows - (await countOf(connection, 'rows'));
  if (odd > 0) await connection.run(`CREATE TABLE odd AS FROM staging.staged WHERE NOT (${condition})${order}`);
  return { rows, odd, single: [...single] };
}

async function countOf(connection: DuckDBConnection, table: string): Promise<number> {
  return Number((await connection.runAndReadAll(`SELECT count(*) FROM ${table}`)).getRows()[0]![0]);
}

function required(field: RestField): string {
  return field.mode === 'REQUIRED' ? ' NOT NULL' : '';
}

async function load(
  connection: DuckDBConnection,
  file: SourceFile,
  fields: readonly RestField[],
  target: Target,
): Promise<Skipped> {
  if (file.format === 'parquet') {
    return loadParquet(connection, file, fields, target).catch((error: unknown) => {
      throw unreadable(file, error);
    });
  }
  const copy = join(target.folder, 'fitting.ndjson');
  try {
    if (await loadWhole(connection, file, fields, target)) return NOTHING;
    const skipped = await copyStrictly(file.path, fields, copy, (done) => {
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
    (field) => `${storedValue(field, quoteName(field.name), 'base64')} AS ${quoteName(field.name)}`,
  );
  const insert = `INSERT INTO ${table} SELECT ${values.join(', ')} FROM ${scanOf(file, fields)}${orderBy(order)}`;
  await watch.statement('Converting', connection, connection.run(insert));
}

function isOutOfMemory(error: unknown): boolean {
  return /^Out of Memory Error|failed to allocate/i.test(messageOf(error));
}

/** DuckDB's messages may hold values of the file: only their kind is reported. */
function unreadable(file: SourceFile, error: unknown): Error {
  if (isOutOfMemory(error)) {
    return new DataFault(`${file.path}: not enough memory to read it; allow the engine more or split the file`);
  }
  const kind = /^[A-Z][\w -]*? Error/.exec(messageOf(error))?.[0] ?? codeOf(error) ?? 'unknown';
  return new DataFault(`${file.path}: cannot be read (${kind})`);
}
