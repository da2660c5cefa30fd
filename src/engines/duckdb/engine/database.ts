import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { DuckDBInstance, type DuckDBConnection } from '@duckdb/node-api';
import { columnsOf, type RestField } from '../../../googlesql/rest-schema';
import type { TableSchema } from '../../../googlesql/types';
import type { Converted, Resources } from '../data/convert-table';
import { DataFault } from '../data/data-fault';
import { unknownPart, wholeTable, type Part } from '../data/part';
import { StoredTables } from '../data/stored-tables';
import { openTables, type DataTable } from '../data/tables';
import { storedType } from '../data/field-sql';
import type { Log } from './log';
import { LOG_SCHEMA } from '../../log-schema';
import { DEFAULTS, type DuckDbOptions } from './options';
import { makeSamples, SAMPLES_VERSION } from '../samples/write-samples';
import { setUpStatements } from '../translate';
import { quoteName, quoteText } from '../sql';

/** What a database holds: the tables of a data folder, all converted, or samples. Plain data. */
export type Contents =
  | { readonly tables: readonly DataTable[] }
  /** Samples that are made again up to the same instant, in microseconds since the epoch, are the same ones. */
  | { readonly samplesUntil: bigint };

/** A DuckDB with every table that queries may read, closed to everything else. */
export interface Database {
  readonly instance: DuckDBInstance;
  /** Opens the same data anew, when the instance before has been closed. */
  readonly reopen: () => Promise<DuckDBInstance>;
  /** What `openDatabase` opens the same data from in another process. */
  readonly contents: Contents;
  readonly data: StoredTables;
  /** Names the data: files, schema, and the clock where it is fixed. */
  readonly target: string;
}

/**
 * Opens the data, or makes up a week of logs, then takes from SQL whatever it does not need: files, network,
 * extensions and settings.
 *
 * @param before what was opened before, which is opened again if it is still there: the same data in less time
 * @throws DataFault for data that the service cannot start with.
 */
export async function openDatabase(options: DuckDbOptions, before: Contents | null = null): Promise<Database> {
  if (before !== null) {
    const again = await complete(options, before).catch(() => null);
    if (again !== null) return again;
  }
  for (let attempt = 1; ; attempt++) {
    try {
      return await complete(options, await contentsNow(options));
    } catch (error) {
      // Another process may have replaced a converted table between our finding and opening it.
      if (error instanceof DataFault || options.dataDir === null || attempt === ATTEMPTS) throw error;
    }
  }
}

async function contentsNow({ dataDir, cacheDir, now, log, ...options }: DuckDbOptions): Promise<Contents> {
  if (dataDir === null) return { samplesUntil: now ?? BigInt(Date.now()) * 1000n };
  return { tables: await openTables({ dataDir, cacheDir, resources: resourcesOf(options), log }) };
}

async function complete(options: DuckDbOptions, contents: Contents): Promise<Database> {
  const database = await open(options, contents);
  return { ...database, contents, reopen: async () => (await open(options, contents)).instance };
}

const ATTEMPTS = 3;

function resourcesOf({ memory, threads }: Pick<DuckDbOptions, 'memory' | 'threads'>): Resources {
  return { memory: memory ?? DEFAULTS.memory, threads: threads ?? DEFAULTS.threads };
}

async function open(options: DuckDbOptions, contents: Contents): Promise<Omit<Database, 'reopen' | 'contents'>> {
  const resources = resourcesOf(options);
  const instance = await DuckDBInstance.create(':memory:', {
    threads: String(resources.threads),
    max_memory: resources.memory,
    // A query that does not fit into memory fails; it does not fill the disk.
    temp_directory: '',
    autoinstall_known_extensions: 'false',
    autoload_known_extensions: 'false',
    // Freed memory goes back to the system soon: a laptop keeps the service running beside everything else.
    allocator_flush_threshold: '8MB',
    allocator_bulk_deallocation_flush_threshold: '8MB',
    // It lifts a stored filter to where the consumer's own are evaluated (docs/decisions/fence.md).
    disabled_optimizers: 'filter_pullup',
    // The newest rows of a table are picked by their time alone, then fetched: records are wide. Covers the largest max_rows.
    late_materialization_max_rows: '10001',
  });
  try {
    const connection = await instance.connect();
    await connection.run(`SET GLOBAL TimeZone = 'UTC'`);
    for (const statement of setUpStatements()) await connection.run(statement);
    const filled =
      'tables' in contents
        ? await addData(connection, contents.tables, options.log)
        : await addSamples(connection, options, contents.samplesUntil);
    await harden(connection);
    connection.closeSync();
    const clock = options.now === null ? '' : `@${options.now}`;
    return { instance, ...filled, target: `duckdb:${filled.target}${clock}` };
  } catch (error) {
    instance.closeSync();
    throw error;
  }
}

type Filled = Omit<Database, 'instance' | 'reopen' | 'contents'>;

async function addSamples(connection: DuckDBConnection, options: DuckDbOptions, until: bigint): Promise<Filled> {
  const { samplesFile = null } = options;
  if (samplesFile === null) await fillSamples(connection, `':memory:' AS samples (COMPRESS)`, options, until);
  else {
    if (!existsSync(samplesFile)) {
      const unfinished = `${samplesFile}.unfinished`;
      await rm(unfinished, { force: true });
      await fillSamples(connection, `${quoteText(unfinished)} AS samples`, options, until);
      await connection.run('DETACH samples');
      await rename(unfinished, samplesFile);
    }
    await connection.run(`ATTACH ${quoteText(samplesFile)} AS samples (READ_ONLY)`);
  }
  return {
    data: new StoredTables(
      [...LOG_SCHEMA].map(([name, fields]) => wholeTable(schemaOf(name, fields), `samples.${quoteName(name)}`)),
    ),
    target: `samples-${SAMPLES_VERSION}-${until}`,
  };
}

/** @param place what to attach, and how: as database `samples` */
async function fillSamples(
  connection: DuckDBConnection,
  place: string,
  { log, memory }: DuckDbOptions,
  until: bigint,
): Promise<void> {
  const started = performance.now();
  await connection.run(`ATTACH ${place}`);
  await makeSamples(connection, 'samples', until, log.progress ?? (() => undefined));
  await connection.run('CHECKPOINT samples');
  // What making them took goes back to the system at once: lowering the limit makes DuckDB trim its heap.
  await connection.run(`SET memory_limit = '64MB'`);
  await connection.run(`SET memory_limit = ${quoteText(memory ?? DEFAULTS.memory)}`);
  log.info({ ms: Math.round(performance.now() - started) }, 'No DATA_DIR: generated one week of sample logs');
}

async function addData(connection: DuckDBConnection, data: readonly DataTable[], log: Log): Promise<Filled> {
  const parts = new Map<string, readonly Part[]>();
  for (const { name, fields, file, convertedIn } of data) {
    const alias = quoteName(`data ${name}`);
    if (file !== null) {
      await connection.run(`ATTACH ${quoteText(file)} AS ${alias} (READ_ONLY)`);
      const about = await connection.runAndReadAll(`SELECT about FROM ${alias}.about`);
      const converted = JSON.parse(String(about.getRows()[0]![0])) as Converted;
      report(name, converted, convertedIn, log);
      parts.set(name, partsOf(alias, converted));
    } else {
      const columns = fields.map((field) => `${quoteName(field.name)} ${storedType(field)}`);
      await connection.run(`CREATE TABLE ${quoteName(name)} (${columns.join(', ')})`);
      parts.set(name, [unknownPart(quoteName(name))]);
    }
  }
  const prints = data.map(({ name, fingerprint }) => `${name} ${fingerprint}`).sort();
  return {
    data: new StoredTables(
      data.map(({ name, fields }) => ({ schema: schemaOf(name, fields), parts: parts.get(name)!, revision: 0 })),
    ),
    target: createHash('sha256').update(prints.join('\n')).digest('hex').slice(0, 32),
  };
}

/** @param database its quoted name */
function partsOf(database: string, { rows, odd, single }: Converted): readonly Part[] {
  const part = { ...unknownPart(`${database}.rows`), rows: rows - odd, single: new Set(single) };
  return odd === 0 ? [part] : [part, { ...unknownPart(`${database}.odd`), rows: odd }];
}

function report(table: string, { rows, skipped }: Converted, convertedIn: number | null, log: Log): void {
  for (const row of skipped.first) log.warn(row, 'Row skipped: it does not fit the schema');
  const facts = { table, rows, skipped: skipped.count, convertedIn };
  if (skipped.count > 0) log.warn(facts, 'Table ready, without the rows that do not fit its schema');
  else log.info(facts, 'Table ready');
}

function schemaOf(name: string, fields: readonly RestField[]): TableSchema {
  return { name, columns: columnsOf(fields) };
}

/** The last wall: only translated trees are run, and none of them can name a file, an extension or a setting. */
async function harden(connection: DuckDBConnection): Promise<void> {
  await connection.run('SET GLOBAL enable_external_access = false');
  await connection.run(`SET GLOBAL disabled_filesystems = 'LocalFileSystem'`);
  await connection.run('SET GLOBAL allow_community_extensions = false');
  await connection.run('SET GLOBAL lock_configuration = true');
}
