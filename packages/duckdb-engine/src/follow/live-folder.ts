/** DATA_DIR as it is now: follows its files, and has the tables that queries read. */
import { createHash } from 'node:crypto';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { DuckDBConnection } from '@duckdb/node-api';

import { columnsOf } from '@logquay/googlesql/types';
import { ServiceError } from '../contract/service-error';
import type { ArrivedRange, FolderStatus, TableStatus } from '../contract/contract';
import { DataFault, codeOf } from '../engine/native-error';
import { type StoredTable, wholeTable } from '../data/part';
import type { DuckDbOptions } from '../engine/options';
import { Declarations, SchemaFile, schemaFileOf } from '../data/schemas';
import { StoredTables } from '../data/stored-tables';
import type { Log } from '../engine/log';
import type { Resources } from './backlog';
import { faultKind, FolderFaults } from './folder-faults';
import { filesByTable, type FolderScan, type FoundFile, knownIn, newestFirst, scanFolder } from './folder-scan';
import { type LeftOut, leftOutRows, NamedOnce } from './left-out';
import { LiveTable, type TableOptions } from './live-table';
import type { Segment } from './segment';
import type { Source } from './source';
import { isDamage, Store } from './store';
import { Storing } from './storing';
import type { CleanUp } from './table-parts';
import { type TailBounds, type TailRoom, tailRoom } from './hot-relations';

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
/** Milliseconds until the hot file is written anew once more. */
const CHECKPOINT_AGAIN = 60_000;
/** Rows that have arrived which are read at once. */
const MOST_ARRIVED = 10_000;

export interface LiveFolderOptions extends TailBounds {
  readonly dataDir: string;
  readonly cacheDir: string;
  readonly declared: DuckDbOptions['declared'];
  /** As of `DuckDbOptions`; null: there is none. */
  readonly schemaFile: string | null;
  readonly log: Log;
  /** Of the database in which large files are read. */
  readonly resources: Resources;
  /** Opening waits until everything is there, however long it takes; it does not wait for another process that has CACHE_DIR. */
  readonly complete: boolean;
  /** Bytes of a text file that are read into the hot file. */
  readonly smallFile: number;
  /** Bytes of content that are sorted at once. */
  readonly convertedBytes: number;
  /** Called when `status` is another one. */
  readonly onStatus: (status: FolderStatus) => void;
}

/** Rows of a table by when they arrived. */
export interface ArrivedTable {
  /** null: there is no such table. */
  readonly table: StoredTable | null;
  readonly epoch: string;
  /** Rows that had arrived when the last of them had. */
  readonly upTo: number;
}

export class LiveFolder {
  readonly data = new StoredTables([]);
  readonly #tables = new Map<string, LiveTable>();
  readonly #named: NamedOnce;
  readonly #storing: Storing;
  /** Names of tables that the folder has. */
  #names: ReadonlySet<string> = new Set();
  /** Tables whose parts are other ones than queries read. */
  readonly #stale = new Set<LiveTable>();
  #connection: DuckDBConnection | null = null;
  /** Takes away what nobody reads any more: it must not be in transactions of the other one. */
  #cleaning: DuckDBConnection | null = null;
  /** Settles when nothing runs on it. */
  #takenAway: Promise<void> = Promise.resolve();
  #ended: Promise<void> = Promise.resolve();
  #closing: AbortController = new AbortController();
  readonly #faults: FolderFaults;
  #target = '';
  #started = false;
  #nextIndex = 0;
  /** `performance.now()` after which this look reads no more files, and whether it has left some. */
  #readUntil = Infinity;
  #left = false;
  /** Bytes of the texts of all hot rows when there was last room beside them. */
  #freeBeside: number | null = null;
  /** `performance.now()`: hot rows before are sealed, and then the hot file is written anew; null: it is short. */
  #sealedBefore: number | null = null;
  #checkpointAt = 0;

  private constructor(
    private readonly options: LiveFolderOptions,
    private readonly store: Store,
    /** Of DATA_DIR: it counts as it was at the start. */
    private readonly ownSchema: SchemaFile,
    private readonly declarations: Declarations,
  ) {
    const { dataDir, log, resources, convertedBytes, tailBytes } = options;
    this.#named = new NamedOnce(log);
    this.#faults = new FolderFaults(log);
    const onFault = (fault: string | null): void => this.#faults.set('store', fault);
    this.#storing = new Storing({ store, dataDir, log, resources, atOnce: convertedBytes, tailBytes, onFault });
  }

  /**
   * Reads the schema, and what there is to be set before the database is closed to files.
   *
   * @throws DataFault where the service cannot start with this data
   */
  static async open(options: LiveFolderOptions): Promise<LiveFolder> {
    const { dataDir, cacheDir, log } = options;
    try {
      await readdir(dataDir);
    } catch (error) {
      throw new DataFault(`DATA_DIR ${dataDir} cannot be read (${codeOf(error)})`);
    }
    const ownSchema = await SchemaFile.of(schemaFileOf(dataDir));
    const declarations = await Declarations.of(dataDir, options);
    const store = await Store.of(cacheDir, dataDir, log);
    try {
      await store.make();
    } catch (error) {
      throw new DataFault(`CACHE_DIR ${cacheDir} cannot be used (${codeOf(error)})`);
    }
    return new LiveFolder(options, store, ownSchema, declarations);
  }

  /** Takes the store, before the database is closed to files. @returns the only folder that it has to be able to open */
  async hold(connection: DuckDBConnection): Promise<string> {
    this.#connection = connection;
    const wait = (fault: string | null): void => {
      this.#faults.set('lock', fault);
      if (fault !== null) this.options.onStatus(this.status);
    };
    await this.store.hold(connection, this.options.complete ? null : wait);
    return this.store.files;
  }

  /**
   * Begins to follow, in the database that has been held. Resolves when queries can be answered.
   *
   * @param storing seals rows, while the one that holds the database takes in more
   * @param cleaning takes away what nobody reads any more
   */
  async start(storing: DuckDBConnection, cleaning: DuckDBConnection): Promise<void> {
    this.#cleaning = cleaning;
    this.#storing.begin(storing);
    this.#closing = new AbortController();
    this.#tables.clear();
    this.#stale.clear();
    const end = this.options.complete ? Infinity : performance.now() + LONGEST_WAIT;
    await this.#addAll(this.store.tables);
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
    await this.#storing.end(this.#ended);
    await this.store.end();
    const connections = [this.#connection, this.#cleaning];
    this.#connection = this.#cleaning = null;
    // DuckDB does not survive that a connection is closed while something runs on it.
    await this.#takenAway;
    for (const connection of connections) connection?.closeSync();
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
        arrived: table.arrived,
      };
    });
    const { epoch } = this.store;
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
        await this.#look();
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
      const isOther = await this.ownSchema.isChanged();
      this.#faults.set(
        'schema',
        isOther ? 'schema.json has changed since the start: it counts from the next start on.' : null,
      );
    }
    const cleanUps: CleanUp[] = [];
    const stored = await this.#storing.finish();
    if (stored !== null) {
      cleanUps.push(stored.cleanUp);
      this.#stale.add(stored.table);
    }
    await this.#takeDeclarations(cleanUps);
    const isKnown = knownIn(scan);
    await this.#addAll(files.keys());
    for (const [name, table] of newestFirst(this.#tables, files)) {
      await this.#safely(name, () => this.#take(table, files.get(name) ?? [], isKnown, cleanUps));
    }
    for (const [name, { fault }] of this.#tables) {
      this.#faults.set(`rows ${name}`, fault === null ? null : `Rows of ${name}: a file ${fault}.`);
    }
    await this.#publish(cleanUps);
    if (!this.#closing.signal.aborted) await this.#keep();
    return scan;
  }

  /** Tables that are declared in another way than before begin anew. */
  async #takeDeclarations(cleanUps: CleanUp[]): Promise<void> {
    this.#faults.set('declared', await this.declarations.look());
    for (const [name, table] of this.#tables) {
      const declared = this.declarations.tables.get(name) ?? null;
      if (table.isDeclaredAs(declared) || table.isBusy) continue;
      await this.#safely(name, async () => {
        const renewed = await table.replaced(this.#optionsOf(name));
        cleanUps.push(renewed.cleanUp);
        this.#tables.set(name, renewed.table);
        this.#stale.delete(table);
        this.#stale.add(renewed.table);
      });
    }
  }

  /** Has rows sealed that are to be, and the hot file short. */
  async #keep(): Promise<void> {
    if (this.#storing.isRunning) return;
    const tables = [...this.#tables.values()];
    const now = performance.now();
    if (now > this.#checkpointAt && (await this.store.isLong())) this.#sealedBefore ??= now;
    const before = this.#sealedBefore;
    if (before !== null && !tables.some(({ hot }) => hot.all.some(({ since }) => since < before))) {
      this.#sealedBefore = null;
      this.#checkpointAt = now + CHECKPOINT_AGAIN;
      for (const table of tables) table.closeHot();
      try {
        await this.store.checkpoint();
        this.#faults.set('write', null);
      } catch (error) {
        this.#faults.set('write', `CACHE_DIR cannot be written (${faultKind(error)}).`);
      }
    }
    this.#storing.start(tables, await this.#tailRoom(), this.#sealedBefore);
  }

  /** Rows that arrived in a range, or in its beginning where that is long. @throws ServiceError invalidParameter where it is not known */
  arrived({ table: name, epoch, after, upTo, whole }: ArrivedRange): ArrivedTable {
    const table = this.#tables.get(name);
    if (epoch !== this.store.epoch || table === undefined || upTo > table.arrived) {
      throw new ServiceError('invalidParameter', 'The position is not known any more.', {
        parameter: 'Last-Event-ID',
        hint: 'Begin without it, and query what may have been missed.',
      });
    }
    const end = whole ? upTo : Math.min(upTo, after + MOST_ARRIVED);
    return { table: table.arrivedRows(after, end), epoch, upTo: end };
  }

  /** All rows of a table but those that arrive from now on. */
  arrivedBefore(name: string): ArrivedTable {
    const table = this.#tables.get(name);
    const upTo = table?.arrived ?? 0;
    return { table: table?.arrivedRows(null, upTo) ?? null, epoch: this.store.epoch, upTo };
  }

  async #scan(): Promise<FolderScan> {
    const { dataDir } = this.options;
    const scan = await scanFolder(dataDir, (table) => this.declarations.tables.has(table));
    const isTruncated = [...filesByTable(scan)].some(([name, files]) => this.#tables.get(name)?.isTruncated(files));
    // A folder is not read at one instant: what was copied before it was truncated is there by now.
    return isTruncated ? scanFolder(dataDir, (table) => this.declarations.tables.has(table)) : scan;
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
    const gone = await table.reconcile(files, isKnown);
    if (gone !== null) {
      cleanUps.push(gone);
      this.#stale.add(table);
    }
    const newest = table.sources
      .filter((source) => table.isReadable(source) && !table.isBacklog(source))
      .sort((a, b) => (a.file.modified < b.file.modified ? 1 : -1));
    if (newest.length > 0 && (await table.readNew(this.#readable(newest)))) this.#stale.add(table);
    if (table.hasOtherShards) this.#stale.add(table);
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

  /** DuckDB is not asked again for the same rows: most looks find nothing new. */
  async #tailRoom(): Promise<TailRoom> {
    const texts = [...this.#tables.values()].reduce((sum, { hot }) => sum + hot.bytes, 0);
    if (texts === this.#freeBeside) return 'free';
    const room = await tailRoom(this.#connection!, texts, this.options);
    this.#freeBeside = room === 'free' ? texts : null;
    return room;
  }

  /** Whether large files are left to be read; rows that are appended all the time do not count. */
  #hasBacklog(): boolean {
    if (this.#storing.isReading) return true;
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
      if (before !== table.isUnserved) this.#stale.add(table);
    }
    for (const table of this.#stale) {
      await this.#safely(table.name, async () => {
        all.push(await table.rebuild());
        this.#stale.delete(table);
      });
    }
    // What cannot be opened is there all the same.
    const unopened = [...this.#names].filter((name) => !this.#tables.has(name));
    if (all.length === 0 && unopened.every((name) => this.data.tables.has(name))) return;
    const tables = [...this.#tables.values()];
    const schemas = tables.map(({ name, fields, times }) => JSON.stringify([name, fields, [...times.units]])).sort();
    const target = createHash('sha256')
      .update(this.store.dataDigest)
      .update(schemas.join('\n'))
      .digest('hex')
      .slice(0, 32);
    if (target !== this.#target) await this.store.publish(new Map(tables.map(({ name, known }) => [name, known])));
    this.#target = target;
    const stored = tables.map((table) => ({ ...table.table, unserved: table.isUnserved, inferred: !table.declared }));
    const served = stored.filter(({ schema, unserved }) => schema.columns.length > 0 || unserved);
    for (const name of unopened) {
      const schema = { name, columns: columnsOf(this.declarations.tables.get(name)?.fields ?? []) };
      const inferred = !this.declarations.tables.has(name);
      served.push({ ...wholeTable(schema, '(SELECT NULL)'), unserved: true, inferred });
    }
    const connection = this.#cleaning;
    const takeAway = async (): Promise<void> => {
      for (const clean of all) {
        if (connection !== null && connection === this.#cleaning) await clean(connection).catch(() => undefined);
      }
    };
    void this.data.replace(served).then(() => (this.#takenAway = this.#takenAway.then(takeAway)));
  }

  /** Opens tables that are declared, or have these names. */
  async #addAll(names: Iterable<string>): Promise<void> {
    this.#names = new Set([...this.declarations.tables.keys(), ...names]);
    for (const name of this.#names) if (!this.#tables.has(name)) await this.#add(name);
  }

  async #add(name: string): Promise<void> {
    await this.#safely(name, async () => {
      const table = await this.#opened(this.#optionsOf(name));
      this.#tables.set(name, table);
      this.#stale.add(table);
    });
  }

  #optionsOf(name: string): TableOptions {
    return {
      name,
      declared: this.declarations.tables.get(name) ?? null,
      dataDir: this.options.dataDir,
      smallFile: this.options.smallFile,
      store: this.store,
      connection: this.#connection!,
      index: this.#nextIndex++,
      onLeftOut: (leftOut: LeftOut) => this.#named.rows(name, leftOut),
      onFault: (file: string, fault: string) => this.#named.fault(name, file, fault),
    };
  }

  /** The table as it is stored; empty where there is nothing of it, or nothing that can be used. */
  async #opened(options: TableOptions): Promise<LiveTable> {
    if (await this.#isWhole(options.name)) {
      try {
        return await LiveTable.open(options);
      } catch (error) {
        if (!isDamage(error)) throw error;
      }
    }
    this.options.log.warn({ table: options.name }, 'A sealed file is damaged or gone: the table is read again');
    return LiveTable.openAnew(options);
  }

  /** Whether sealed files are there as they were written; DuckDB's own checksums tell the rest when they are read. */
  async #isWhole(name: string): Promise<boolean> {
    for (const { record } of this.store.of<Segment>('segment', name)) {
      const size = await stat(join(this.store.filesOf(name), record.file)).then(
        (found) => found.size,
        (error: unknown) => {
          // A file that cannot be looked at for now is there.
          if (codeOf(error) !== 'ENOENT') throw error;
          return null;
        },
      );
      if (size !== record.bytes) return false;
    }
    return true;
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
