import { existsSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { resolve } from 'node:path';

import { DuckDBInstance, type DuckDBConnection } from '@duckdb/node-api';
import type { FolderStatus } from '../contract/contract';
import { StoredTables } from '../data/stored-tables';
import type { Resources } from '../follow/backlog';
import { LiveFolder } from '../follow/live-folder';
import { DEFAULTS, type DuckDbOptions } from './options';
import { goOnWithSamples, makeSamples, SAMPLES_VERSION, sampleTables } from '../samples/write-samples';
import { setUp } from './set-up';
import { quoteText } from '../sql';

/** What a database holds: a data folder, or samples. Plain data. */
export type Contents =
  | { readonly dataDir: string }
  /** Samples that are made again up to the same instant, in microseconds since the epoch, are the same ones. */
  | { readonly samplesUntil: bigint };

/** A DuckDB with every table that queries may read, closed to everything else. */
export interface Database {
  /** With its tables; rejects where they cannot be made. */
  readonly instance: Promise<DuckDBInstance>;
  /** Opens the same data anew, when the instance before has been closed. */
  readonly reopen: () => Promise<DuckDBInstance>;
  /** What `openDatabase` opens the same data from in another process. */
  readonly contents: Contents;
  readonly data: StoredTables;
  /** Names the data: folder, schema, and the clock where it is fixed. */
  readonly target: string;
  /** What is known of the data folder; null: there is none. */
  readonly status: FolderStatus | null;
  /** The data folder that is followed; null: there is none. */
  readonly folder: Pick<LiveFolder, 'arrived' | 'arrivedBefore'> | null;
  /** Stops following the data folder; the instance is closed by who has it. */
  close(): Promise<void>;
}

/**
 * Opens the data, or makes up a week of logs, then takes from SQL whatever it does not need: files, network,
 * extensions and settings. Resolves when the tables are known, of samples before they are made.
 *
 * @param before what was opened before: the same samples in less time
 * @throws DataFault for data that the service cannot start with.
 */
export async function openDatabase(options: DuckDbOptions, before: Contents | null = null): Promise<Database> {
  return options.dataDir === null ? openSamples(options, before) : await openFolder(options, options.dataDir);
}

async function openFolder(options: DuckDbOptions, dataDir: string): Promise<Database> {
  const { log } = options;
  const folder = await LiveFolder.open({
    dataDir,
    cacheDir: options.cacheDir,
    schemaFile: options.schemaFile ?? null,
    declared: options.declared,
    log,
    resources: options.conversion ?? resourcesOf(options),
    complete: options.complete ?? true,
    smallFile: options.smallFile ?? DEFAULTS.smallFile,
    convertedBytes: options.convertedBytes ?? DEFAULTS.convertedBytes,
    tailBytes: options.tailBytes ?? DEFAULTS.tailBytes,
    tailMemory: options.tailMemory ?? DEFAULTS.tailMemory,
    onStatus: options.onStatus ?? (() => undefined),
  });
  const open = (): Promise<DuckDBInstance> =>
    openInstance(options, async (connection, instance) => {
      // What is checkpointed takes more memory behind than before, and time: the store decides when that is due.
      await connection.run(`SET GLOBAL wal_autocheckpoint = '1TB'`);
      await connection.run('PRAGMA disable_checkpoint_on_shutdown');
      const store = await folder.hold(connection);
      const { exportsDir = null } = options;
      await harden(connection, [store, ...(exportsDir === null ? [] : [resolve(exportsDir)])]);
      await folder.start(await instance.connect(), await instance.connect());
    });
  const clock = clockOf(options);
  const instance = await open();
  return {
    instance: Promise.resolve(instance),
    reopen: async () => {
      await folder.stop();
      return open();
    },
    contents: { dataDir },
    data: folder.data,
    folder,
    get target() {
      return `duckdb:${folder.target}${clock}`;
    },
    get status() {
      return folder.status;
    },
    close: () => folder.stop(),
  };
}

function openSamples(options: DuckDbOptions, before: Contents | null): Database {
  const { now, declared } = options;
  const samplesUntil =
    before !== null && 'samplesUntil' in before ? before.samplesUntil : (now ?? BigInt(Date.now()) * 1000n);
  let stop = (): void => undefined;
  const open = (): Promise<DuckDBInstance> =>
    openInstance(options, async (connection, instance) => {
      stop();
      await addSamples(instance, connection, options, samplesUntil);
      // Where the clock is fixed, the rows are, too.
      const own = now === null ? await instance.connect() : null;
      if (own !== null) stop = await goOnWithSamples(own, declared);
      await harden(connection, []);
      connection.closeSync();
    });
  return {
    instance: open(),
    reopen: open,
    contents: { samplesUntil },
    data: new StoredTables(sampleTables('samples', declared, now === null)),
    target: `duckdb:samples-${SAMPLES_VERSION}-${samplesUntil}${clockOf(options)}`,
    status: null,
    folder: null,
    close: () => {
      stop();
      return Promise.resolve();
    },
  };
}

function clockOf({ now }: DuckDbOptions): string {
  return now === null ? '' : `@${now}`;
}

function resourcesOf({ memory, threads }: Pick<DuckDbOptions, 'memory' | 'threads'>): Resources {
  return { memory: memory ?? DEFAULTS.memory, threads: threads ?? DEFAULTS.threads };
}

/** @param fill adds the data, and closes the database to files; the connection is its own */
async function openInstance(
  options: DuckDbOptions,
  fill: (connection: DuckDBConnection, instance: DuckDBInstance) => Promise<void>,
): Promise<DuckDBInstance> {
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
    // The newest rows of a table are picked by their time alone, then fetched: records are wide. Covers the largest max_rows.
    late_materialization_max_rows: '10001',
    // A worker takes tasks of a long query in turns with those of others.
    scheduler_process_partial: 'true',
  });
  try {
    const connection = await instance.connect();
    await connection.run(`SET GLOBAL TimeZone = 'UTC'`);
    await setUp(connection);
    await fill(connection, instance);
    return instance;
  } catch (error) {
    instance.closeSync();
    throw error;
  }
}

/** @param connection of the instance */
async function addSamples(
  instance: DuckDBInstance,
  connection: DuckDBConnection,
  options: DuckDbOptions,
  until: bigint,
): Promise<void> {
  const { samplesFile = null } = options;
  const fill = (place: string): Promise<void> => fillSamples(instance, connection, place, options, until);
  if (samplesFile === null) await fill(`':memory:' AS samples (COMPRESS)`);
  else {
    if (!existsSync(samplesFile)) {
      const unfinished = `${samplesFile}.unfinished`;
      await rm(unfinished, { force: true });
      // The storage of DuckDB 1.5 is written in half of the time of the one that older ones read.
      await fill(`${quoteText(unfinished)} AS samples (STORAGE_VERSION 'v1.5.0')`);
      await connection.run('DETACH samples');
      await rename(unfinished, samplesFile);
    }
    await connection.run(`ATTACH ${quoteText(samplesFile)} AS samples (READ_ONLY)`);
  }
}

/** @param place what to attach, and how: as database `samples` */
async function fillSamples(
  instance: DuckDBInstance,
  connection: DuckDBConnection,
  place: string,
  { log, memory, declared }: DuckDbOptions,
  until: bigint,
): Promise<void> {
  const started = performance.now();
  await connection.run(`ATTACH ${place}`);
  const second = await instance.connect();
  try {
    await makeSamples([connection, second], 'samples', until, declared, log.progress ?? (() => undefined));
  } finally {
    second.closeSync();
  }
  await connection.run('CHECKPOINT samples');
  // What making them took goes back to the system at once: lowering the limit makes DuckDB trim its heap.
  await connection.run(`SET memory_limit = '64MB'`);
  await connection.run(`SET memory_limit = ${quoteText(memory ?? DEFAULTS.memory)}`);
  log.info({ ms: Math.round(performance.now() - started) }, 'No DATA_DIR: generated one week of sample logs');
}

/**
 * The last wall: only translated trees are run, and none of them can name a file, an extension or a setting.
 *
 * @param opens the only folders whose files can be opened from now on: of the store, whose files are attached as they come, and of exports
 *   that are being written
 */
async function harden(connection: DuckDBConnection, opens: readonly string[]): Promise<void> {
  if (opens.length > 0) {
    const list = opens.map((folder) => quoteText(`${folder}/`)).join(', ');
    await connection.run(`SET GLOBAL allowed_directories = [${list}]`);
  }
  await connection.run('SET GLOBAL enable_external_access = false');
  if (opens.length === 0) await connection.run(`SET GLOBAL disabled_filesystems = 'LocalFileSystem'`);
  await connection.run('SET GLOBAL allow_community_extensions = false');
  await connection.run('SET GLOBAL lock_configuration = true');
}
