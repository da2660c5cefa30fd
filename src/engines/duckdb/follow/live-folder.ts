/** DATA_DIR as it is now: follows its files, and keeps the tables that queries read. */
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readdir, realpath, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { DuckDBConnection } from '@duckdb/node-api';

import type { RestField } from '../../../googlesql/rest-schema';
import type { FolderStatus, TableStatus } from '../../data-status';
import { buildingPrefix, isBuilding } from '../data/conversion-folders';
import { DataFault } from '../data/data-fault';
import { describedTables } from '../data/schemas';
import { StoredTables } from '../data/stored-tables';
import type { Log } from '../engine/log';
import { codeOf, messageOf } from '../engine/native-error';
import type { Converter } from './converter';
import { lockFolder, unlockFolder } from './folder-lock';
import { type FoundFile, type FolderScan, scanFolder } from './folder-scan';
import { LiveTable } from './live-table';
import { MANIFEST, type Manifest, readManifest, writeManifest } from './manifest';
import { NamedOnce } from './named-once';
import { ChangedContent } from './resume-digest';
import { type LeftOut, leftOutRows } from './segment';
import type { SegmentResult } from './segment-job';

/** Milliseconds between two looks at the folder, and for each millisecond that one takes. */
const LOOK_AGAIN = 200;
const REST = 4;
const MOST_REST = 1_000;
/** Milliseconds between two tries to become the writer. */
const LOCK_AGAIN = 2_000;
/** Of texts in memory: beyond, the tails are stored; far beyond, nothing more is read until that is done. */
const TAIL_BYTES = 32 * 1024 * 1024;
const MOST_TAIL_BYTES = 3 * TAIL_BYTES;
/** Milliseconds after which a tail is stored, if it is not tiny: a start reads it again. */
const TAIL_AGE = 10 * 60_000;
/** The same without a new row: what does not grow is queried faster. */
const TAIL_REST = 5_000;
const TINY = 256 * 1024;
/** Bytes of content that one conversion reads. */
const CONVERTED_AT_ONCE = 512 * 1024 * 1024;
/** Milliseconds until a conversion that failed is tried again. */
const TRY_AGAIN = 2_000;
/** Bytes in files for which opening waits, rather than answer from a part of them. */
const WAITED_FOR = 32 * 1024 * 1024;
/** The same in milliseconds. */
const LONGEST_WAIT = 3_000;

export interface LiveFolderOptions {
  readonly dataDir: string;
  readonly cacheDir: string;
  readonly log: Log;
  readonly converter: () => Converter;
  /** Opening waits until everything is there, however long it takes. */
  readonly complete: boolean;
  /** Bytes of a text file that are read into memory rather than by a conversion. */
  readonly smallFile: number;
  /** Called when `status` is another one. */
  readonly onStatus: (status: FolderStatus) => void;
}

/** The folder in CACHE_DIR that a data folder has for itself. */
export async function cacheFolderOf(cacheDir: string, dataDir: string): Promise<string> {
  const digest = createHash('sha256')
    .update(await realpath(dataDir))
    .digest('hex');
  return join(cacheDir, digest.slice(0, 16));
}

interface Conversion {
  readonly table: LiveTable;
  /** Of what is half made. */
  readonly folder: string;
  readonly started: number;
  outcome: SegmentResult | Error | null;
}

export class LiveFolder {
  readonly data = new StoredTables([]);
  readonly #tables = new Map<string, LiveTable>();
  readonly #named: NamedOnce;
  /** Tables whose manifest is to be written, and files that go then. */
  readonly #unwritten = new Map<LiveTable, readonly string[]>();
  /** Of manifests that another process writes, by table: identity of the file. */
  readonly #manifests = new Map<string, string>();
  #connection: DuckDBConnection | null = null;
  #converter: Converter | null = null;
  #writer = false;
  #ended: Promise<void> = Promise.resolve();
  #closing: AbortController = new AbortController();
  /** The conversion under way, and what came of it. */
  #conversion: Conversion | null = null;
  #notBefore = 0;
  /** What keeps the folder from being followed as it should. */
  readonly #faults = new Map<string, string>();
  #nextIndex = 0;
  #nextLock = 0;
  #target = '';
  #started = false;

  private constructor(
    private readonly options: LiveFolderOptions,
    /** In CACHE_DIR. */
    readonly folder: string,
    private readonly declared: ReadonlyMap<string, readonly RestField[]>,
  ) {
    this.#named = new NamedOnce(options.log);
  }

  /**
   * Reads the schema, and what there is to be set before the database is closed to files.
   *
   * @throws DataFault where the service cannot start with this data
   */
  static async open(options: LiveFolderOptions): Promise<LiveFolder> {
    const { dataDir, cacheDir } = options;
    try {
      await readdir(dataDir);
    } catch (error) {
      throw new DataFault(`DATA_DIR ${dataDir} cannot be read (${codeOf(error)})`);
    }
    const declared = await describedTables(dataDir);
    const folder = await cacheFolderOf(cacheDir, dataDir);
    try {
      await mkdir(folder, { recursive: true });
    } catch (error) {
      throw new DataFault(`CACHE_DIR ${cacheDir} cannot be used (${codeOf(error)})`);
    }
    return new LiveFolder(options, folder, declared);
  }

  /**
   * Begins to follow, with tables in the database of this connection, which may read `folder`. Resolves when queries can
   * be answered.
   */
  async start(connection: DuckDBConnection): Promise<void> {
    this.#connection = connection;
    this.#closing = new AbortController();
    this.#writer = await lockFolder(connection, this.folder);
    this.#tables.clear();
    for (const name of new Set([...this.declared.keys(), ...(await this.#storedNames())])) await this.#table(name);
    if (this.#writer) await this.#removeUnused();
    await this.#publish(new Set(this.#tables.values()));
    const scan = await this.#look();
    const bytes = scan.files.reduce((sum, { size }) => sum + size, 0);
    const pending = [...this.#tables.values()]
      .flatMap(({ sources }) => sources)
      .reduce((sum, one) => sum + Math.max(0, one.unreadBytes), 0);
    if (bytes === 0)
      this.options.log.info({ dataDir: this.options.dataDir }, 'DATA_DIR holds no rows yet: waiting for files');
    const wait = this.options.complete || pending <= WAITED_FOR;
    const end = this.options.complete ? Infinity : performance.now() + LONGEST_WAIT;
    while (wait && this.#hasBacklog() && !this.#closing.signal.aborted && performance.now() < end) {
      await sleep(20);
      await this.#look();
    }
    if (!this.#started) this.#logTables();
    this.#started = true;
    this.#ended = this.#follow();
  }

  /** Stops following, for good or for another database. */
  async stop(): Promise<void> {
    this.#closing.abort();
    this.data.lose();
    await this.#converter?.close();
    this.#converter = null;
    await this.#ended;
    if (this.#conversion !== null) await rm(this.#conversion.folder, { recursive: true, force: true });
    this.#conversion = null;
    if (this.#writer) unlockFolder(this.folder);
    this.#writer = false;
    this.#connection?.closeSync();
    this.#connection = null;
  }

  get status(): FolderStatus {
    const now = performance.now();
    const tables = [...this.#tables.values()].map((table): TableStatus => {
      const { name, rows, segments, sources, leftOut, conversions, declared, behindSince } = table;
      return {
        table: name,
        rows,
        bytes: segments.reduce((sum, { bytes }) => sum + bytes, 0),
        files: sources.length,
        behind: behindSince === null ? 0 : Math.round((now - behindSince) / 1000),
        leftOut: leftOut.rows,
        ignoredFields: leftOut.ignored,
        nulledValues: leftOut.nulled,
        conversions,
        faults: sources.filter(({ fault }) => fault !== null).length,
        declared,
      };
    });
    const degraded = [...this.#faults.values()].join(' ');
    return { target: this.#target, tables, degraded: degraded === '' ? null : degraded };
  }

  /** Names the folder and the schema, not sizes and times: rows that are appended leave results in caches good. */
  get target(): string {
    return this.#target;
  }

  async #follow(): Promise<void> {
    const { signal } = this.#closing;
    let last = '';
    while (!signal.aborted) {
      const started = performance.now();
      try {
        await this.#look();
        this.#fault('follow', null);
      } catch (error) {
        if (signal.aborted) return;
        this.#fault('follow', `DATA_DIR cannot be followed (${kindOf(error)}).`);
      }
      const { status } = this;
      const text = JSON.stringify(status);
      if (text !== last) this.options.onStatus(status);
      last = text;
      const rest = Math.min(MOST_REST, REST * (performance.now() - started));
      await sleep(Math.max(LOOK_AGAIN, rest), undefined, { signal, ref: false }).catch(() => undefined);
    }
  }

  /** One look at the folder: takes what is new, and has stored what is to be. */
  async #look(): Promise<FolderScan> {
    const scan = await scanFolder(this.options.dataDir, (table) => this.declared.has(table));
    this.#named.files(scan.refused);
    const unreadable = [...scan.unreadable];
    const [first] = unreadable;
    const fault = first === undefined ? null : `DATA_DIR cannot be read (${first[0] || '.'}: ${first[1]}).`;
    this.#fault('folder', fault);
    const byTable = new Map<string, FoundFile[]>();
    for (const file of scan.files) {
      const files = byTable.get(file.table);
      if (files === undefined) byTable.set(file.table, [file]);
      else files.push(file);
    }
    const isKnown = (path: string): boolean =>
      !unreadable.some(([folder]) => folder === '' || path.startsWith(`${folder}/`));
    const changed = new Set<LiveTable>();
    const unused: (() => Promise<void>)[] = [];
    await this.#lock();
    await this.#finishConversion(changed, unused);
    for (const name of byTable.keys()) if (!this.#tables.has(name)) changed.add(await this.#table(name));
    for (const [name, known] of this.#tables) {
      const table = this.#writer ? known : await this.#followed(name, known);
      const { revision } = table.table;
      const reconciled = await table.reconcile(byTable.get(name) ?? [], isKnown);
      if (reconciled.gone.length > 0) changed.add(table);
      // What has vanished or moved is known at the next start without reading it again.
      if (this.#writer && reconciled.changed && table.segments.length > 0 && !this.#unwritten.has(table)) {
        this.#unwritten.set(table, []);
      }
      await this.#readNew(table);
      if (table.table.revision !== revision) changed.add(table);
      if (table === known) continue;
      this.#tables.set(name, table);
      changed.add(table);
      unused.push(() => known.dispose());
    }
    await this.#publish(changed, unused);
    if (this.#writer) {
      await this.#writeManifests();
      await this.#startConversion();
    }
    return scan;
  }

  async #readNew(table: LiveTable): Promise<void> {
    const newest = [...table.sources].sort((a, b) => (a.file.modified < b.file.modified ? 1 : -1));
    for (const source of newest) {
      if (this.#closing.signal.aborted || this.#tailBytes > MOST_TAIL_BYTES) return;
      if (source.file.format === 'parquet' || (this.#writer && table.isBacklog(source))) continue;
      await table.readNew(source);
    }
  }

  get #tailBytes(): number {
    return [...this.#tables.values()].reduce((sum, { tailBytes }) => sum + tailBytes, 0);
  }

  /** Whether conversions have something left to read; rows that are appended all the time do not count. */
  #hasBacklog(): boolean {
    if (this.#conversion !== null) return true;
    if (!this.#writer) return false;
    const now = performance.now();
    return [...this.#tables.values()].some((table) =>
      table.sources.some((source) => table.isBacklog(source) && source.fault === null && now >= source.notBefore),
    );
  }

  /** Has queries read what the tables have now. @param unused what to do when nobody reads what they had before */
  async #publish(changed: ReadonlySet<LiveTable>, unused: (() => Promise<void>)[] = []): Promise<void> {
    if (changed.size === 0) return;
    for (const table of changed) if (!table.isDisposed) unused.push(await table.rebuild());
    const tables = [...this.#tables.values()];
    const schemas = tables.map(({ name, fields }) => JSON.stringify([name, fields])).sort();
    this.#target = createHash('sha256').update(this.folder).update(schemas.join('\n')).digest('hex').slice(0, 32);
    const served = tables.filter(({ fields }) => fields.length > 0).map(({ table }) => table);
    const connection = this.#connection;
    void this.data.replace(served).then(async () => {
      for (const clean of unused) if (connection === this.#connection) await clean().catch(() => undefined);
    });
  }

  async #table(name: string): Promise<LiveTable> {
    const table = await this.#openTable(name);
    this.#tables.set(name, table);
    return table;
  }

  async #openTable(name: string): Promise<LiveTable> {
    const folder = join(this.folder, name);
    const path = join(folder, MANIFEST);
    this.#manifests.set(name, await identityOf(path));
    const options = {
      name,
      declared: this.declared.get(name) ?? null,
      dataDir: this.options.dataDir,
      smallFile: this.options.smallFile,
      folder,
      connection: this.#connection!,
      index: this.#nextIndex++,
      onLeftOut: (leftOut: LeftOut) => this.#named.rows(name, leftOut),
      onFault: (file: string, fault: string) => this.#named.fault(name, file, fault),
    };
    const manifest = await readManifest(path);
    const usable = manifest !== null && (await this.#areWhole(folder, manifest));
    return new LiveTable(options, usable ? manifest : null);
  }

  /** Whether segments are there as they were written; DuckDB's own checksums tell the rest when they are read. */
  async #areWhole(folder: string, { segments }: Manifest): Promise<boolean> {
    for (const { file, bytes } of segments) {
      const found = await stat(join(folder, file)).catch(() => null);
      if (found?.size === bytes) continue;
      this.options.log.warn(
        { file: join(folder, file) },
        'A stored segment is damaged or gone: the table is converted again',
      );
      return false;
    }
    return true;
  }

  /** The table, opened again where another process has stored more of it. */
  async #followed(name: string, table: LiveTable): Promise<LiveTable> {
    const identity = await identityOf(join(this.folder, name, MANIFEST));
    return identity === this.#manifests.get(name) ? table : this.#openTable(name);
  }

  /** Becomes the writer when the one before has ended. */
  async #lock(): Promise<void> {
    if (this.#writer || performance.now() < this.#nextLock) return;
    this.#nextLock = performance.now() + LOCK_AGAIN;
    this.#writer = await lockFolder(this.#connection!, this.folder);
    if (!this.#writer) return;
    // As it left them.
    for (const [name, known] of this.#tables) {
      const table = await this.#followed(name, known);
      if (table === known) continue;
      this.#tables.set(name, table);
      await this.#publish(new Set([table]), [() => known.dispose()]);
    }
    await this.#removeUnused();
    this.options.log.info({}, 'This process now writes CACHE_DIR');
  }

  /** Names of tables that have a folder in CACHE_DIR. */
  async #storedNames(): Promise<string[]> {
    const entries = await readdir(this.folder, { withFileTypes: true });
    return entries.filter((entry) => entry.isDirectory() && !isBuilding(entry.name)).map(({ name }) => name);
  }

  /** Removes what a writer that was killed has left: segments that no manifest names, and unfinished ones. */
  async #removeUnused(): Promise<void> {
    for (const name of await readdir(this.folder)) {
      const path = join(this.folder, name);
      if (isBuilding(name)) await rm(path, { recursive: true, force: true });
      const table = this.#tables.get(name);
      if (table === undefined) continue;
      const used = new Set([MANIFEST, ...table.segments.map(({ file }) => file)]);
      const files = await readdir(path).catch(() => []);
      for (const file of files) if (!used.has(file)) await rm(join(path, file), { force: true });
    }
  }

  async #startConversion(): Promise<void> {
    if (this.#conversion !== null || this.#unwritten.size > 0 || performance.now() < this.#notBefore) return;
    const full = this.#tailBytes > TAIL_BYTES;
    for (const table of [...this.#tables.values()].sort((a, b) => b.newest - a.newest)) {
      const due = full || table.tailAge > TAIL_AGE || table.tailRest > TAIL_REST;
      const roll = table.tailBytes > TINY && due;
      const job = table.nextJob(roll, CONVERTED_AT_ONCE);
      if (job === null) continue;
      try {
        await mkdir(join(this.folder, table.name), { recursive: true });
        const folder = await mkdtemp(join(this.folder, buildingPrefix(process.pid)));
        this.#converter ??= this.options.converter();
        const conversion: Conversion = { table, folder, started: performance.now(), outcome: null };
        this.#conversion = conversion;
        const done = (outcome: SegmentResult | Error): void => void (conversion.outcome = outcome);
        const path = join(folder, 'segment.duckdb');
        this.#converter.convert({ ...job, path, folder }).then(done, (error: unknown) => done(asError(error)));
      } catch (error) {
        this.#conversionFailed(table, error);
      }
      return;
    }
  }

  /** Takes over what a conversion has done. */
  async #finishConversion(changed: Set<LiveTable>, unused: (() => Promise<void>)[]): Promise<void> {
    const conversion = this.#conversion;
    if (conversion === null || conversion.outcome === null) return;
    this.#conversion = null;
    const { table, folder, started, outcome } = conversion;
    try {
      if (outcome instanceof Error) throw outcome;
      const file = table.nextFile();
      const path = join(this.folder, table.name);
      if (outcome.segment !== null) await rename(join(folder, 'segment.duckdb'), join(path, file));
      const before = table.segments;
      const tails = table.finish(file, outcome);
      changed.add(table);
      unused.push(async () => {
        for (const tail of tails) await tail.drop();
      });
      const gone = before.filter((segment) => !table.segments.includes(segment));
      this.#unwritten.set(table, [
        ...(this.#unwritten.get(table) ?? []),
        ...gone.map((segment) => join(path, segment.file)),
      ]);
      const rows = outcome.segment?.rows ?? 0;
      const ms = Math.round(performance.now() - started);
      this.options.log.info({ table: table.name, rows, segments: table.segments.length, ms }, 'Rows converted');
    } catch (error) {
      this.#conversionFailed(table, error);
    } finally {
      await rm(folder, { recursive: true, force: true }).catch(() => undefined);
    }
  }

  /** Writes what is stored; until that has succeeded nothing is removed, and nothing more is stored. */
  async #writeManifests(): Promise<void> {
    if (this.#unwritten.size === 0 || performance.now() < this.#notBefore) return;
    try {
      for (const [table, files] of this.#unwritten) {
        const folder = join(this.folder, table.name);
        await writeManifest(join(folder, MANIFEST), table.manifest);
        this.#unwritten.delete(table);
        for (const file of files) await rm(file, { force: true });
      }
      this.#fault('write', null);
    } catch (error) {
      this.#notBefore = performance.now() + TRY_AGAIN;
      this.#fault('write', `CACHE_DIR cannot be written (${kindOf(error)}).`);
    }
  }

  #conversionFailed(table: LiveTable, error: unknown): void {
    this.#notBefore = performance.now() + TRY_AGAIN;
    table.fail(this.#notBefore);
    if (this.#closing.signal.aborted || error instanceof ChangedContent) return;
    this.#fault('write', `Rows of ${table.name} cannot be stored in CACHE_DIR (${kindOf(error)}).`);
  }

  /** Keeps a fault, or that there is none any more, and logs the change. */
  #fault(name: 'folder' | 'follow' | 'write', fault: string | null): void {
    const before = this.#faults.get(name);
    if (before === fault || (before === undefined && fault === null)) return;
    if (fault === null) {
      this.#faults.delete(name);
      this.options.log.info({ before }, 'The data folder is followed again');
    } else {
      this.#faults.set(name, fault);
      this.options.log.error({ detail: fault }, 'The data folder cannot be followed as it should; it is tried again');
    }
  }

  #logTables(): void {
    for (const table of this.#tables.values()) {
      if (table.sources.length === 0) continue;
      const skipped = leftOutRows(table.leftOut);
      const facts = { table: table.name, rows: table.rows, files: table.sources.length, skipped };
      if (skipped > 0) this.options.log.warn(facts, 'Table ready, without the rows that do not fit its schema');
      else this.options.log.info(facts, 'Table ready');
    }
  }
}

/** Tells one manifest from the next. */
async function identityOf(path: string): Promise<string> {
  const found = await stat(path, { bigint: true }).catch(() => null);
  return found === null ? '' : `${found.ino}:${found.mtimeNs}`;
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(messageOf(error));
}

/** DuckDB's messages may hold values: only their kind is reported. */
function kindOf(error: unknown): string {
  const message = messageOf(error);
  if (/No space left|ENOSPC/.test(message)) return 'no space left';
  return codeOf(error) ?? /^[A-Z][\w -]*? Error/.exec(message)?.[0] ?? 'unknown';
}
