/** DATA_DIR as it is now: follows its files, and has the tables that queries read. */
import { createHash } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { DuckDBConnection } from '@duckdb/node-api';

import { columnsOf, type RestField } from '../../../googlesql/rest-schema';
import { ServiceError } from '../../../errors';
import type { ArrivedRange, FolderStatus, TableStatus } from '../../contract';
import { DataFault } from '../data/data-fault';
import { describedTables } from '../data/schemas';
import { StoredTables } from '../data/stored-tables';
import type { Log } from '../engine/log';
import { codeOf } from '../engine/native-error';
import type { ArrivedBatch } from './arrived-batches';
import { arrivedRows, unknownPosition } from './arrived-rows';
import { CacheFolder } from './cache-folder';
import { Conversions } from './conversions';
import type { Converter } from './converter';
import { faultKind } from './fault-kind';
import { FolderArrivals } from './folder-arrivals';
import { FolderFaults } from './folder-faults';
import { filesByTable, type FolderScan, type FoundFile, knownIn, newestFirst, scanFolder } from './folder-scan';
import type { LiveTable } from './live-table';
import { NamedOnce } from './named-once';
import { SchemaFile } from './schema-file';
import { type LeftOut, leftOutRows } from './segment';
import type { Source } from './source';
import type { CleanUp } from './table-parts';
import { type OpenedWith, TableStore } from './table-store';
import { type TailBounds, type TailRoom, tailRoom } from './tail-room';
import { TailWriter } from './tail-writer';

/** Milliseconds between two looks at the folder, and for each millisecond that one takes. */
const LOOK_AGAIN = 200;
const REST = 4;
const MOST_REST = 1_000;
/** Milliseconds after which a look reads no more files, unless looking itself takes longer: lines that are appended meanwhile come next. */
const MOST_READING = 300;
/** Bytes in files for which opening waits, rather than answer from a part of them. */
const WAITED_FOR = 32 * 1024 * 1024;
/** The same in milliseconds. */
const LONGEST_WAIT = 3_000;

export interface LiveFolderOptions extends TailBounds {
  readonly dataDir: string;
  readonly cacheDir: string;
  readonly log: Log;
  readonly converter: () => Converter;
  /** Opening waits until everything is there, however long it takes. */
  readonly complete: boolean;
  /** Bytes of a text file that are read into memory rather than by a conversion. */
  readonly smallFile: number;
  /** Bytes of content that one conversion reads. */
  readonly convertedBytes: number;
  /** Called when `status` is another one. */
  readonly onStatus: (status: FolderStatus) => void;
}

export class LiveFolder {
  readonly data = new StoredTables([]);
  readonly #tables = new Map<string, LiveTable>();
  readonly #named: NamedOnce;
  readonly #conversions: Conversions;
  /** Tables whose parts are other ones than queries read. */
  readonly #stale = new Set<LiveTable>();
  #connection: DuckDBConnection | null = null;
  #ended: Promise<void> = Promise.resolve();
  #closing: AbortController = new AbortController();
  readonly #faults: FolderFaults;
  readonly #store: TableStore;
  readonly #arrivals: FolderArrivals;
  /** Settles when nobody changes tables or reads files of them. */
  #exclusive: Promise<unknown> = Promise.resolve();
  #target = '';
  #started = false;
  /** `performance.now()` after which this look reads no more files, and whether it has left some. */
  #readUntil = Infinity;
  #left = false;
  /** Bytes of the texts of all rows in memory when there was last room beside them. */
  #freeBeside: number | null = null;

  private constructor(
    private readonly options: LiveFolderOptions,
    private readonly folder: CacheFolder,
    private readonly schemaFile: SchemaFile,
    private readonly declared: ReadonlyMap<string, readonly RestField[]>,
  ) {
    const { log, converter, convertedBytes, tailBytes } = options;
    this.#named = new NamedOnce(log);
    this.#faults = new FolderFaults(log);
    this.#store = new TableStore(folder, this.#faults, log);
    this.#arrivals = new FolderArrivals(options.dataDir);
    this.#conversions = new Conversions({
      folder,
      log,
      converter,
      atOnce: convertedBytes,
      tailBytes,
      onFault: (fault) => this.#faults.set('convert', fault),
    });
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
    const schemaFile = await SchemaFile.of(dataDir);
    const folder = await CacheFolder.of(cacheDir, dataDir);
    try {
      await folder.make();
    } catch (error) {
      throw new DataFault(`CACHE_DIR ${cacheDir} cannot be used (${codeOf(error)})`);
    }
    return new LiveFolder(options, folder, schemaFile, declared);
  }

  /** The only folder, and the only file, that the database has to be able to open. */
  get opens(): { readonly folder: string; readonly file: string } {
    return { folder: this.folder.segments, file: this.folder.lock };
  }

  /**
   * Begins to follow, with tables in the database of both connections, which may open `opens`. Resolves when queries can be
   * answered.
   *
   * @param storing writes what is in memory, while the other one takes in more
   */
  async start(connection: DuckDBConnection, storing: DuckDBConnection): Promise<void> {
    this.#connection = connection;
    this.#conversions.begin(new TailWriter(storing));
    this.#closing = new AbortController();
    this.#tables.clear();
    this.#stale.clear();
    const end = this.options.complete ? Infinity : performance.now() + LONGEST_WAIT;
    await this.#store.begin(connection);
    for (const name of new Set([...this.declared.keys(), ...(await this.folder.tables())])) await this.#add(name);
    await this.#store.removeUnused(this.#tables.values());
    await this.#publish([]);
    const scan = await this.#look();
    const bytes = scan.files.reduce((sum, { size }) => sum + size, 0);
    const pending = [...this.#tables.values()]
      .flatMap(({ sources }) => sources)
      .reduce((sum, one) => sum + Math.max(0, one.unreadBytes), 0);
    if (bytes === 0)
      this.options.log.info({ dataDir: this.options.dataDir }, 'DATA_DIR holds no rows yet: waiting for files');
    const wait = this.options.complete || pending <= WAITED_FOR;
    while ((this.#left || (wait && this.#hasBacklog())) && !this.#closing.signal.aborted && performance.now() < end) {
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
    await this.#conversions.end();
    await this.#ended;
    await this.#exclusive;
    this.#arrivals.lose();
    await this.#conversions.close();
    this.#store.end();
    this.#connection?.closeSync();
    this.#connection = null;
  }

  get status(): FolderStatus {
    const now = performance.now();
    const tables = [...this.#tables.values()].map((table): TableStatus => {
      const { name, rows, bytes, sources, leftOut, conversions, declared, behindSince } = table;
      return {
        table: name,
        rows,
        bytes,
        files: sources.length,
        behind: behindSince === null ? 0 : Math.round((now - behindSince) / 1000),
        leftOut: leftOut.rows,
        ignoredFields: leftOut.ignored,
        nulledValues: leftOut.nulled,
        conversions,
        faults: sources.filter(({ fault }) => fault !== null).length,
        declared,
        arrived: this.#arrivals.countOf(name),
      };
    });
    const { epoch } = this.#arrivals;
    return { target: this.#target, epoch, tables, degraded: this.#faults.detail };
  }

  /** Names DATA_DIR and the schema, not sizes and times: rows that are appended leave results in caches good. */
  get target(): string {
    return this.#target;
  }

  async #follow(): Promise<void> {
    const { signal } = this.#closing;
    let last = '';
    while (!signal.aborted) {
      const started = performance.now();
      try {
        await this.exclusively(() => this.#look());
        this.#faults.set('follow', null);
      } catch (error) {
        if (signal.aborted) return;
        this.#faults.set('follow', `DATA_DIR cannot be followed (${faultKind(error)}).`);
      }
      const { status } = this;
      const text = JSON.stringify(status);
      if (text !== last) this.options.onStatus(status);
      last = text;
      const rest = Math.max(LOOK_AGAIN, Math.min(MOST_REST, REST * (performance.now() - started)));
      await sleep(this.#left ? 0 : rest, undefined, { signal, ref: false }).catch(() => undefined);
    }
  }

  /** One look at the folder: takes what is new, and has stored what is to be. */
  async #look(): Promise<FolderScan> {
    const started = performance.now();
    const scan = await this.#scan();
    const now = performance.now();
    this.#readUntil = now + Math.max(MOST_READING, now - started);
    this.#left = false;
    const files = filesByTable(scan);
    this.#named.files(scan.refused);
    const [first] = scan.unreadable;
    const fault = first === undefined ? null : `DATA_DIR cannot be read (${first[0] || '.'}: ${first[1]}).`;
    this.#faults.set('folder', fault);
    if (fault === null) {
      const isOther = await this.schemaFile.isChanged();
      this.#faults.set(
        'schema',
        isOther ? 'schema.json has changed since the start: it counts from the next start on.' : null,
      );
    }
    const cleanUps: CleanUp[] = [];
    const locked = await this.#store.lock(this.#connection!);
    const converted = await this.#conversions.finish();
    if (converted !== null) {
      cleanUps.push(converted.cleanUp);
      this.#stale.add(converted.table);
      this.#store.outdate(converted.table, converted.gone);
    }
    const isKnown = knownIn(scan);
    for (const name of [...this.declared.keys(), ...files.keys()]) if (!this.#tables.has(name)) await this.#add(name);
    for (const [name, known] of newestFirst(this.#tables, files)) {
      await this.#safely(name, async () => {
        const table = await this.#store.followed(known, this.#openedWith(name));
        await this.#take(table, files.get(name) ?? [], isKnown, cleanUps);
        if (table !== known) cleanUps.push(this.#replace(name, table));
      });
    }
    for (const [name, { fault }] of this.#tables) {
      this.#faults.set(`rows ${name}`, fault === null ? null : `Rows of ${name}: a file ${fault}.`);
    }
    await this.#publish(cleanUps);
    // This look has followed the writer before to where it has ended.
    if (locked && !this.#store.isWriter) {
      this.#arrivals.writeTo(this.folder.arrivals);
      await this.#store.takeOver(this.#tables.values());
    }
    await this.#takeArrivals();
    if (this.#store.isWriter) {
      await this.#store.writeManifests();
      const isClosing = this.#closing.signal.aborted;
      if (this.#store.isWritten && !isClosing && !this.#conversions.isRunning) {
        await this.#conversions.start([...this.#tables.values()], await this.#tailRoom());
      }
    }
    return scan;
  }

  /** Writes down what has been read since the last look, and has it known. */
  async #takeArrivals(): Promise<void> {
    await this.#arrivals.open(this.#store.isWriter ? this.folder.arrivals : null);
    for (const [name, { sources }] of this.#tables) {
      await this.#safely(name, () => this.#arrivals.take(name, sources));
    }
    try {
      await this.#arrivals.publish();
      this.#faults.set('arrivals', null);
    } catch (error) {
      this.#faults.set('arrivals', `CACHE_DIR cannot be written (${faultKind(error)}).`);
    }
  }

  /** Does `work` while no table changes. */
  async exclusively<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#exclusive.then(work);
    this.#exclusive = done.catch(() => undefined);
    return done;
  }

  /** Where the rows of a table end now. */
  placeOf(table: string): { readonly epoch: string; readonly upTo: number } {
    return { epoch: this.#arrivals.epoch, upTo: this.#arrivals.countOf(table) };
  }

  /** The rows of a range, or of its beginning, until they are released. @throws as arrivedRows */
  arrived(range: ArrivedRange): Promise<ArrivedBatch> {
    return this.#arrivals.batch(range, (name) =>
      this.exclusively(async () => {
        const connection = this.#connection;
        if (connection === null || this.#arrivals.epoch === '') {
          throw new ServiceError('backendUnavailable', 'The data folder is being opened.');
        }
        const arrivals = this.#arrivals.of(range);
        const table = this.#tables.get(range.table);
        if (table === undefined) throw unknownPosition();
        const rows = await arrivedRows(connection, name, table, arrivals, range);
        const schema = { name: range.table, columns: columnsOf(table.fields) };
        return { ...rows, table: { schema, parts: [rows.part], revision: 0 }, epoch: this.#arrivals.epoch };
      }),
    );
  }

  async #scan(): Promise<FolderScan> {
    const { dataDir } = this.options;
    const scan = await scanFolder(dataDir, (table) => this.declared.has(table));
    const isTruncated = [...filesByTable(scan)].some(([name, files]) => this.#tables.get(name)?.isTruncated(files));
    // A folder is not read at one instant: what was copied before it was truncated is there by now.
    return isTruncated ? scanFolder(dataDir, (table) => this.declared.has(table)) : scan;
  }

  /** What goes wrong with one table leaves the others as they are. */
  async #safely(table: string, work: () => Promise<void>): Promise<void> {
    try {
      await work();
      this.#faults.set(`table ${table}`, null);
    } catch (error) {
      if (!this.#closing.signal.aborted) {
        this.#faults.set(`table ${table}`, `Table ${table} cannot be followed (${faultKind(error)}).`);
      }
    }
  }

  /** Takes the files of a table as they are now. */
  async #take(
    table: LiveTable,
    files: readonly FoundFile[],
    isKnown: (path: string) => boolean,
    cleanUps: CleanUp[],
  ): Promise<void> {
    const { gone, moved } = await table.reconcile(files, isKnown);
    // What has vanished or moved is known at the next start without reading it again.
    if (moved && table.segments.length > 0) this.#store.outdate(table);
    if (gone.length > 0) {
      const empty = table.dropEmptySegments();
      if (empty.length > 0) this.#store.outdate(table, empty);
      this.#stale.add(table);
      // Before anything is read: ids are counted over what there is.
      cleanUps.push(await table.rebuildWithout());
    }
    if (this.#conversions.retried === table) return;
    const newest = table.sources
      .filter((source) => this.#isToRead(table, source))
      .sort((a, b) => (a.file.modified < b.file.modified ? 1 : -1));
    await table.readNew(this.#readable(newest), () => this.#stale.add(table));
  }

  /** Files to be read in this look, of those of a table. */
  async *#readable(newest: readonly Source[]): AsyncGenerator<Source> {
    for (const source of newest) {
      if (this.#closing.signal.aborted || (await this.#tailRoom()) === 'over') return;
      if (performance.now() <= this.#readUntil) {
        yield source;
        continue;
      }
      // While the service is waited for, one file of all tables.
      if (this.#left && !this.#started) return;
      this.#left = true;
      // However much comes in others, the file that has waited longest is read.
      const waiting = newest.slice(newest.indexOf(source));
      yield waiting.reduce((a, b) => (a.behindSince! <= b.behindSince! ? a : b));
      return;
    }
  }

  /** Whether a file has something new that is no conversion's to read. */
  #isToRead(table: LiveTable, source: Source): boolean {
    if (!table.isReadable(source) || source.file.format === 'parquet') return false;
    return !this.#store.isWriter || !table.isBacklog(source);
  }

  /** DuckDB is not asked again for the same rows: most looks find nothing new. */
  async #tailRoom(): Promise<TailRoom> {
    const texts = [...this.#tables.values()].reduce((sum, { tails }) => sum + tails.bytes, 0);
    if (texts === this.#freeBeside) return 'free';
    const room = await tailRoom(this.#connection!, texts, this.options);
    this.#freeBeside = room === 'free' ? texts : null;
    return room;
  }

  /** Whether conversions have something left to read; rows that are appended all the time do not count. */
  #hasBacklog(): boolean {
    if (this.#conversions.isStoring) return true;
    if (!this.#store.isWriter) return false;
    const now = performance.now();
    return [...this.#tables.values()].some((table) =>
      table.sources.some((source) => table.isBacklog(source) && source.fault === null && now >= source.notBefore),
    );
  }

  /** Has queries read what the tables have now. @param cleanUps what to do when nobody reads what they had before */
  async #publish(cleanUps: readonly CleanUp[]): Promise<void> {
    const all = [...cleanUps];
    for (const table of this.#tables.values()) {
      const before = this.data.tables.get(table.name)?.unserved ?? false;
      if (before !== this.#isUnserved(table)) this.#stale.add(table);
    }
    for (const table of this.#stale) {
      await this.#safely(table.name, async () => {
        if (!table.isDisposed) all.push(await table.rebuild());
        this.#stale.delete(table);
      });
    }
    if (all.length === 0) return;
    const tables = [...this.#tables.values()];
    const schemas = tables.map(({ name, fields }) => JSON.stringify([name, fields])).sort();
    this.#target = createHash('sha256')
      .update(this.folder.dataDigest)
      .update(schemas.join('\n'))
      .digest('hex')
      .slice(0, 32);
    const stored = tables.map((table) => ({ ...table.table, unserved: this.#isUnserved(table) }));
    const served = stored.filter(({ schema }) => schema.columns.length > 0);
    const connection = this.#connection;
    void this.data.replace(served).then(async () => {
      for (const clean of all) if (connection === this.#connection) await clean().catch(() => undefined);
    });
  }

  #isUnserved(table: LiveTable): boolean {
    return table.isUnserved(this.#conversions.hasFailed(table));
  }

  async #add(name: string): Promise<void> {
    await this.#safely(name, async () => {
      const table = await this.#store.open(this.#openedWith(name));
      this.#tables.set(name, table);
      this.#stale.add(table);
    });
  }

  #openedWith(name: string): OpenedWith {
    return {
      name,
      declared: this.declared.get(name) ?? null,
      dataDir: this.options.dataDir,
      smallFile: this.options.smallFile,
      connection: this.#connection!,
      onLeftOut: (leftOut: LeftOut) => this.#named.rows(name, leftOut),
      onFault: (file: string, fault: string) => this.#named.fault(name, file, fault),
    };
  }

  #replace(name: string, table: LiveTable): CleanUp {
    const before = this.#tables.get(name);
    this.#tables.set(name, table);
    this.#stale.add(table);
    if (before !== undefined) this.#stale.delete(before);
    return async () => before?.dispose();
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
