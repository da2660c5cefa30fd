/** DATA_DIR as it is now: follows its files, and has the tables that queries read. */
import { createHash } from 'node:crypto';
import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { DuckDBConnection } from '@duckdb/node-api';

import { columnsOf, type RestField } from '../../../googlesql/rest-schema';
import { ServiceError } from '../../../errors';
import type { ArrivedRange } from '../../contract';
import type { FolderStatus, TableStatus } from '../../data-status';
import { DataFault } from '../data/data-fault';
import { describedTables } from '../data/schemas';
import { StoredTables } from '../data/stored-tables';
import type { Log } from '../engine/log';
import { codeOf, messageOf } from '../engine/native-error';
import type { ArrivedBatch } from './arrived-batches';
import { arrivedRows, unknownPosition } from './arrived-rows';
import { CacheFolder } from './cache-folder';
import { Conversions } from './conversions';
import type { Converter } from './converter';
import { faultKind } from './fault-kind';
import { FolderArrivals } from './folder-arrivals';
import { lockFolder, unlockFolder } from './folder-lock';
import { type FolderScan, type FoundFile, scanFolder } from './folder-scan';
import { LiveTable } from './live-table';
import { type Manifest, readManifest, writeManifest } from './manifest';
import { NamedOnce } from './named-once';
import { SchemaFile } from './schema-file';
import { type LeftOut, leftOutRows, type Segment } from './segment';
import type { Source } from './source';
import type { CleanUp } from './table-parts';
import { type TailBounds, type TailRoom, tailRoom } from './tail-room';

/** Milliseconds between two looks at the folder, and for each millisecond that one takes. */
const LOOK_AGAIN = 200;
const REST = 4;
const MOST_REST = 1_000;
/** Milliseconds after which a look reads no more files, unless looking itself takes longer: lines that are appended meanwhile come next. */
const MOST_READING = 300;
/** Milliseconds between two tries to become the writer, or to write again what could not be written. */
const TRY_AGAIN = 2_000;
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

/** What may keep the folder from being followed: a word for each, or a table's name. */
type Faulty = 'folder' | 'schema' | 'follow' | 'lock' | 'convert' | 'write' | 'arrivals' | `table ${string}`;

export class LiveFolder {
  readonly data = new StoredTables([]);
  readonly #tables = new Map<string, LiveTable>();
  readonly #named: NamedOnce;
  readonly #conversions: Conversions;
  /** Tables whose parts are other ones than queries read. */
  readonly #stale = new Set<LiveTable>();
  /** Tables whose manifest is to be written, and files that go then. */
  readonly #unwritten = new Map<LiveTable, readonly string[]>();
  /** Of manifests that another process writes, by table: identity of the file. */
  readonly #manifests = new Map<string, string>();
  #connection: DuckDBConnection | null = null;
  /** Whether no other process may write CACHE_DIR, and whether this one does. */
  #locked = false;
  #writer = false;
  #ended: Promise<void> = Promise.resolve();
  #closing: AbortController = new AbortController();
  /** What keeps the folder from being followed as it should. */
  readonly #faults = new Map<Faulty, string>();
  readonly #arrivals: FolderArrivals;
  /** Settles when nobody changes tables or reads files of them. */
  #exclusive: Promise<unknown> = Promise.resolve();
  #nextIndex = 0;
  #nextLock = 0;
  #nextWrite = 0;
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
    this.#arrivals = new FolderArrivals(options.dataDir);
    this.#conversions = new Conversions({
      folder,
      log,
      converter,
      atOnce: convertedBytes,
      tailBytes,
      onFault: (fault) => this.#fault('convert', fault),
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
   * Begins to follow, with tables in the database of this connection, which may open `opens`. Resolves when queries can be
   * answered.
   */
  async start(connection: DuckDBConnection): Promise<void> {
    this.#connection = connection;
    this.#closing = new AbortController();
    this.#tables.clear();
    this.#stale.clear();
    this.#unwritten.clear();
    this.#nextLock = 0;
    const end = this.options.complete ? Infinity : performance.now() + LONGEST_WAIT;
    this.#writer = await this.#lock();
    for (const name of new Set([...this.declared.keys(), ...(await this.folder.tables())])) await this.#add(name);
    if (this.#writer) await this.#removeUnused();
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
    if (this.#locked) unlockFolder(this.folder.path);
    this.#locked = this.#writer = false;
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
    const degraded = [...this.#faults.values()].join(' ');
    const { epoch } = this.#arrivals;
    return { target: this.#target, epoch, tables, degraded: degraded === '' ? null : degraded };
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
        this.#fault('follow', null);
      } catch (error) {
        if (signal.aborted) return;
        this.#fault('follow', `DATA_DIR cannot be followed (${faultKind(error)}).`);
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
    this.#fault('folder', fault);
    if (fault === null) {
      const isOther = await this.schemaFile.isChanged();
      this.#fault(
        'schema',
        isOther ? 'schema.json has changed since the start: it counts from the next start on.' : null,
      );
    }
    const cleanUps: CleanUp[] = [];
    const locked = await this.#lock();
    const converted = await this.#conversions.finish();
    if (converted !== null) {
      cleanUps.push(converted.cleanUp);
      this.#stale.add(converted.table);
      this.#outdate(converted.table, converted.gone);
    }
    const isKnown = knownIn(scan);
    for (const name of [...this.declared.keys(), ...files.keys()]) if (!this.#tables.has(name)) await this.#add(name);
    for (const [name, known] of newestFirst(this.#tables, files)) {
      await this.#safely(name, async () => {
        const table = this.#writer ? known : await this.#followed(name, known);
        await this.#take(table, files.get(name) ?? [], isKnown, cleanUps);
        if (table !== known) cleanUps.push(this.#replace(name, table));
      });
    }
    await this.#publish(cleanUps);
    // This look has followed the writer before to where it has ended.
    if (locked && !this.#writer) await this.#takeOver();
    await this.#takeArrivals();
    if (this.#writer) {
      await this.#writeManifests();
      const isClosing = this.#closing.signal.aborted;
      if (this.#unwritten.size === 0 && !isClosing && !this.#conversions.isRunning) {
        await this.#conversions.start([...this.#tables.values()], await this.#tailRoom());
      }
    }
    return scan;
  }

  /** Writes down what has been read since the last look, and has it known. */
  async #takeArrivals(): Promise<void> {
    await this.#arrivals.open(this.#writer ? this.folder.arrivals : null);
    for (const [name, { sources }] of this.#tables) {
      await this.#safely(name, () => this.#arrivals.take(name, sources));
    }
    try {
      await this.#arrivals.publish();
      this.#fault('arrivals', null);
    } catch (error) {
      this.#fault('arrivals', `CACHE_DIR cannot be written (${faultKind(error)}).`);
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
      this.#fault(`table ${table}`, null);
    } catch (error) {
      if (!this.#closing.signal.aborted) {
        this.#fault(`table ${table}`, `Table ${table} cannot be followed (${faultKind(error)}).`);
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
    if (moved && table.segments.length > 0) this.#outdate(table);
    if (gone.length > 0) {
      const empty = table.dropEmptySegments();
      if (empty.length > 0) this.#outdate(table, empty);
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
    return !this.#writer || !table.isBacklog(source);
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
    if (!this.#writer) return false;
    const now = performance.now();
    return [...this.#tables.values()].some((table) =>
      table.sources.some((source) => table.isBacklog(source) && source.fault === null && now >= source.notBefore),
    );
  }

  /** The manifest of a table is to be written; then the files of these segments go. */
  #outdate(table: LiveTable, segments: readonly Segment[] = []): void {
    if (!this.#writer) return;
    const files = segments.map(({ file }) => join(this.folder.segmentsOf(table.name), file));
    this.#unwritten.set(table, [...(this.#unwritten.get(table) ?? []), ...files]);
  }

  /** Has queries read what the tables have now. @param cleanUps what to do when nobody reads what they had before */
  async #publish(cleanUps: readonly CleanUp[]): Promise<void> {
    const all = [...cleanUps];
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
    const served = tables.map(({ table }) => table).filter(({ schema }) => schema.columns.length > 0);
    const connection = this.#connection;
    void this.data.replace(served).then(async () => {
      for (const clean of all) if (connection === this.#connection) await clean().catch(() => undefined);
    });
  }

  async #add(name: string): Promise<void> {
    await this.#safely(name, async () => {
      const table = await this.#openTable(name);
      this.#tables.set(name, table);
      this.#stale.add(table);
    });
  }

  async #openTable(name: string): Promise<LiveTable> {
    const folder = this.folder.segmentsOf(name);
    this.#manifests.set(name, await this.folder.manifestIdentity(name));
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
    const manifest = await readManifest(this.folder.manifestOf(name));
    if (manifest === null || !(await this.#areWhole(folder, manifest))) return new LiveTable(options, null);
    const table = new LiveTable(options, manifest);
    try {
      await table.attach();
      return table;
    } catch (error) {
      await table.dispose();
      if (!this.#writer || !isDamage(error)) throw error;
      this.#warnOfDamage(folder);
      return new LiveTable(options, null);
    }
  }

  /** Whether segments are there as they were written; DuckDB's own checksums tell the rest when they are read. */
  async #areWhole(folder: string, { segments }: Manifest): Promise<boolean> {
    for (const { file, bytes } of segments) {
      const found = await stat(join(folder, file)).catch(() => null);
      if (found?.size === bytes) continue;
      this.#warnOfDamage(join(folder, file));
      return false;
    }
    return true;
  }

  #warnOfDamage(file: string): void {
    this.options.log.warn({ file }, 'A stored segment is damaged or gone: the table is converted again');
  }

  /** The table, opened again where another process has stored more of it. */
  async #followed(name: string, table: LiveTable): Promise<LiveTable> {
    const identity = await this.folder.manifestIdentity(name);
    if (identity === this.#manifests.get(name)) return table;
    try {
      return await this.#openTable(name);
    } catch (error) {
      this.#manifests.delete(name);
      // Segments that are gone already are no fault: the next look finds a newer manifest.
      if ((await this.folder.manifestIdentity(name)) !== identity) return table;
      throw error;
    }
  }

  #replace(name: string, table: LiveTable): CleanUp {
    const before = this.#tables.get(name);
    this.#tables.set(name, table);
    this.#stale.add(table);
    if (before !== undefined) this.#stale.delete(before);
    return async () => before?.dispose();
  }

  /** @returns whether no other process writes CACHE_DIR, now or later */
  async #lock(): Promise<boolean> {
    if (this.#locked || performance.now() < this.#nextLock) return this.#locked;
    this.#nextLock = performance.now() + TRY_AGAIN;
    try {
      this.#locked = await lockFolder(this.#connection!, this.folder);
      this.#fault('lock', null);
    } catch (error) {
      this.#fault('lock', `CACHE_DIR cannot be written (${faultKind(error)}).`);
    }
    return this.#locked;
  }

  /** Goes on from where the writer before has ended. */
  async #takeOver(): Promise<void> {
    this.#writer = true;
    this.#arrivals.writeTo(this.folder.arrivals);
    await this.#removeUnused();
    this.options.log.info({}, 'This process now writes CACHE_DIR');
  }

  /** Removes what a writer that was killed has left. */
  async #removeUnused(): Promise<void> {
    try {
      await this.folder.removeUnused(new Map([...this.#tables].map(([name, { segments }]) => [name, segments])));
    } catch (error) {
      this.#fault('write', `CACHE_DIR cannot be written (${faultKind(error)}).`);
    }
  }

  /** Writes what is stored; until that has succeeded nothing is removed, and nothing more is stored. */
  async #writeManifests(): Promise<void> {
    if (performance.now() < this.#nextWrite) return;
    try {
      for (const [table, files] of this.#unwritten) {
        await writeManifest(this.folder.manifestOf(table.name), table.manifest);
        this.#unwritten.delete(table);
        for (const file of files) await rm(file, { force: true });
      }
      this.#fault('write', null);
    } catch (error) {
      this.#nextWrite = performance.now() + TRY_AGAIN;
      this.#fault('write', `CACHE_DIR cannot be written (${faultKind(error)}).`);
    }
  }

  /** Records a fault, or that there is none any more, and logs the change. */
  #fault(name: Faulty, fault: string | null): void {
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

function filesByTable({ files }: FolderScan): ReadonlyMap<string, readonly FoundFile[]> {
  const byTable = new Map<string, FoundFile[]>();
  for (const file of files) {
    const others = byTable.get(file.table);
    if (others === undefined) byTable.set(file.table, [file]);
    else others.push(file);
  }
  return byTable;
}

/** Tables in the order in which their files have changed last: what a look does not come to is the oldest. */
function newestFirst(
  tables: ReadonlyMap<string, LiveTable>,
  files: ReadonlyMap<string, readonly FoundFile[]>,
): readonly (readonly [string, LiveTable])[] {
  const changed = new Map(
    [...files].map(([name, found]) => [
      name,
      found.reduce((newest, { modified }) => (modified > newest ? modified : newest), 0n),
    ]),
  );
  return [...tables].sort(([a], [b]) => ((changed.get(a) ?? 0n) < (changed.get(b) ?? 0n) ? 1 : -1));
}

/** Tells whether it is known that a path is not there, rather than that it could not be looked for. */
function knownIn({ unreadable }: FolderScan): (path: string) => boolean {
  const places = [...unreadable.keys()];
  return (path) => !places.some((place) => place === '' || path === place || path.startsWith(`${place}/`));
}

/** DuckDB's words for a file that is not as it wrote it. */
function isDamage(error: unknown): boolean {
  return /not a valid DuckDB database|checksum|corrupt|deserializ/i.test(messageOf(error));
}
