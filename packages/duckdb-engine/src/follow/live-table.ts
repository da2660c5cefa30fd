import { mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { type DuckDBConnection, listValue } from '@duckdb/node-api';

import type { RestField } from '@logquay/googlesql/types';
import type { Shard, StoredTable } from '../data/part';
import type { DeclaredTable } from '../data/schemas';
import { parsedRow, Unfit } from '../data/strict-row';
import { type TimeColumn, timeColumnOf, type TimeUnitsOfTable } from '../data/time-column';
import { quoteText } from '../sql';
import { ContentFault, ChangedContent, type Progress } from './content';
import { isMoved } from './copies';
import { type KnownFields, NO_FIELDS, sameFields, TableFields } from './inferred-schema';
import { firstFields } from './first-fields';
import { faultKind } from './folder-faults';
import { type FoundFile, shardsOf } from './folder-scan';
import { type HotRelation, HotRelations, type OpenedRelation, type PlacedRow } from './hot-relations';
import { type LeftOut, NOTHING_LEFT_OUT, together } from './left-out';
import { MovedFile, type ReadBatch, SourceReader } from './reader';
import { DIGEST_OF_ID, identified, ORDINAL_OF_ID, rowOf, rulesOf } from './rows';
import { isNotOf, type Segment, SegmentsOfTable } from './segment';
import type { WrittenFile } from './segment-file';
import { isOfReading, NOT_STORED, type Seen, type Source, type SourceRecord } from './source';
import { type Reconciled, SourcesOfTable } from './sources-of-table';
import type { Put, Store } from './store';
import { type CleanUp, TableParts } from './table-parts';

/** Milliseconds until a file that cannot be read is tried again. */
const TRY_AGAIN = 5_000;
/** Milliseconds until an archive that grows is read again, for each that it took: it is read from its beginning. */
const PATIENCE = 10;
/** Bytes of files whose rows are inserted together: planning an insertion takes as long as inserting a hundred rows of a wide table. */
const INSERTED_AT_ONCE = 2 * 1024 * 1024;
/** The same in values of their lists: DuckDB holds those of one insertion at once (`MOST_ROW_VALUES`). */
export const VALUES_AT_ONCE = 512 * 1024;
/** How many times smaller an archive is taken to be than its rows. */
const COMPRESSION = 8;

export interface TableOptions {
  readonly name: string;
  /** null: inferred from the rows. */
  readonly declared: DeclaredTable | null;
  readonly dataDir: string;
  /** Bytes of a text file, as it stands in memory, that are read into the hot file rather than into a sealed one. */
  readonly smallFile: number;
  readonly store: Store;
  /** Of the store. */
  readonly connection: DuckDBConnection;
  /** Tells names of relations of one table from those of another. */
  readonly index: number;
  /** Takes what was left out of a batch of rows. */
  readonly onLeftOut: (leftOut: LeftOut) => void;
  /** Takes why a file is set aside. */
  readonly onFault: (file: string, fault: string) => void;
}

/** A table as the hot file knows it. */
interface TableRecord extends KnownFields {
  readonly declared: boolean;
  /** As of `DeclaredTable`. */
  readonly open: boolean;
  /** Numbers that have not been used. */
  readonly nextSource: number;
  readonly nextFile: number;
  /** Rows that have arrived. */
  readonly arrived: number;
  readonly leftOut: LeftOut;
}

/** What is to be noted of a source, once its rows are in the table. */
export interface SourceEnd {
  /** What it was; null: it is read on from there. */
  readonly seen: Seen | null;
  readonly waiting: boolean;
  readonly fault: string | null;
  readonly notBefore: number;
}

/** A source, and how far its rows are in a sealed file. */
export interface SealedSource {
  readonly source: Source;
  readonly read: Progress;
  readonly end: SourceEnd | null;
}

/** A file that is to be a part of the table. */
export interface Sealed {
  /** null: there are no rows, and no file. */
  readonly written: WrittenFile | null;
  readonly path: string;
  /** What it takes the place of. */
  readonly relations: readonly HotRelation[];
  readonly merged: readonly Segment[];
  /** What has been read for it, and left out. */
  readonly sources: readonly SealedSource[];
  readonly leftOut: LeftOut;
}

/** Rows could not be taken, for no fault of the file that they are from. */
class NotTaken extends Error {}

/** One table: its sources, sealed files and hot relations. Used by one caller at a time, but for what a backlog is read with. */
export class LiveTable {
  readonly #sources: SourcesOfTable;
  readonly #fields: TableFields;
  readonly #segments: SegmentsOfTable;
  readonly #hot: HotRelations;
  readonly #parts: TableParts;
  #leftOut: LeftOut;
  #nextFile: number;
  #arrived: number;
  readonly #reader: SourceReader;
  /** Sources that have gone, and are known to the hot file still. */
  readonly #gone = new Set<number>();
  /** Its files have been looked at for what their first rows tell. */
  #isBegun = false;
  /** Relations that are no part of the table any more. */
  #unread: HotRelation[] = [];
  #hasOtherShards = false;
  /** How many sealed files have been written. */
  conversions = 0;
  /** It is being sealed, or a backlog of it read. */
  isBusy = false;
  /** Rows that are being read as a backlog: relations of a connection that have ids. */
  staged: { readonly connection: DuckDBConnection; readonly relations: () => readonly string[] } | null = null;
  /** Settles when no ids are being generated. */
  #numbering: Promise<unknown> = Promise.resolve();

  private constructor(
    private readonly options: TableOptions,
    known: TableRecord | null,
    segments: readonly Segment[],
    sources: ReadonlyMap<number, SourceRecord>,
    nextRelation = 0,
  ) {
    const { name, declared, dataDir, connection, store } = options;
    this.#fields = new TableFields(declared, known ?? NO_FIELDS);
    this.#nextFile = known?.nextFile ?? 1;
    this.#arrived = known?.arrived ?? 0;
    this.#leftOut = known?.leftOut ?? NOTHING_LEFT_OUT;
    this.#sources = new SourcesOfTable(name, dataDir, { sources, next: known?.nextSource ?? 1 });
    this.#segments = new SegmentsOfTable(segments, (source) => this.#sources.has(source));
    this.#hot = new HotRelations(store, connection, name, declared !== null, nextRelation);
    this.#parts = new TableParts({ ...options, folder: store.filesOf(name), strict: this.#fields.isStrict });
    this.#reader = new SourceReader(dataDir, this.#fields);
  }

  /** The table as the hot file has it. @throws what DuckDB throws where a sealed file is damaged or gone */
  static async open(options: TableOptions): Promise<LiveTable> {
    const { store, name, declared } = options;
    const [known] = store.of<TableRecord>('table', name);
    const record = known?.record ?? null;
    const isSame =
      record !== null &&
      (declared === null
        ? !record.declared
        : record.declared && record.open === declared.open && sameFields(declared.fields, record.fields));
    if (!isSame) return this.#anew(options, record);
    const segments = store.of<Segment>('segment', name).map((one) => one.record);
    const sources = store.of<SourceRecord>('source', name).map((one) => [Number(one.id), one.record] as const);
    const table = new LiveTable(options, record, segments, new Map(sources));
    await table.#hot.open((source) => table.#sources.has(source));
    await table.#parts.attach(segments);
    return table;
  }

  /** The table without anything of what the hot file has of it. */
  static async openAnew(options: TableOptions): Promise<LiveTable> {
    return this.#anew(options, options.store.of<TableRecord>('table', options.name)[0]?.record ?? null);
  }

  static async #anew(options: TableOptions, before: TableRecord | null): Promise<LiveTable> {
    const { store, name } = options;
    await store.forget(name);
    // Numbers go on: what a live tail has been told is not told again of other rows.
    const { arrived = 0, nextFile = 1, nextSource = 1 } = before ?? {};
    const known = {
      ...NO_FIELDS,
      declared: false,
      open: false,
      nextSource,
      nextFile,
      arrived,
      leftOut: NOTHING_LEFT_OUT,
    };
    return new LiveTable(options, known, [], new Map());
  }

  isDeclaredAs(declared: DeclaredTable | null): boolean {
    const own = this.options.declared;
    if (own === null || declared === null) return own === declared;
    return own.open === declared.open && sameFields(own.fields, declared.fields);
  }

  /** A table of the same name and files that has other declared fields, and no rows yet. @returns what to do when nobody reads this one */
  async replaced(options: TableOptions): Promise<{ readonly table: LiveTable; readonly cleanUp: CleanUp }> {
    const relations = this.#hot.close();
    const segments = this.#segments.all;
    const known = { ...this.#record(0, NOTHING_LEFT_OUT), ...NO_FIELDS, leftOut: NOTHING_LEFT_OUT };
    await this.#commit((put) => {
      for (const { id } of this.sources) put('source', this.name, id, null);
      this.#putRemoved(put, relations, segments);
      put('table', this.name, '', known);
    });
    const unread = [...relations, ...this.#unread];
    const end = this.#parts.end();
    const cleanUp: CleanUp = async (connection) => {
      await end(connection);
      await this.#remove(connection, unread, segments);
    };
    return { table: new LiveTable(options, known, [], new Map(), this.#hot.next), cleanUp };
  }

  /** Takes nothing but what is declared. */
  get isStrict(): boolean {
    return this.#fields.isStrict;
  }

  get name(): string {
    return this.options.name;
  }

  get fields(): readonly RestField[] {
    return this.#fields.all;
  }

  get declared(): boolean {
    return this.#fields.isDeclared;
  }

  /** Which of its numbers are times. */
  get times(): TimeUnitsOfTable {
    return this.#fields.times;
  }

  /** What its rows are ordered by; null: nothing. */
  get time(): TimeColumn | null {
    return timeColumnOf(this.fields, this.times.units);
  }

  get known(): KnownFields {
    return this.#fields.known;
  }

  get rules(): ReturnType<typeof rulesOf> {
    return this.#fields.rules;
  }

  get sources(): readonly Source[] {
    return this.#sources.all;
  }

  get segments(): SegmentsOfTable {
    return this.#segments;
  }

  get hot(): Pick<HotRelations, 'all' | 'bytes' | 'age' | 'rest'> {
    return this.#hot;
  }

  get leftOut(): LeftOut {
    return this.#leftOut;
  }

  /** Rows that have arrived. */
  get arrived(): number {
    return this.#arrived;
  }

  /** Rows that are served. */
  get rows(): number {
    return this.#segments.rows + this.#hot.rows;
  }

  /** Why rows of a file are not served that it may well have; null: there is no such file. */
  get fault(): string | null {
    const faults = this.sources.flatMap(({ fault }) => fault ?? []);
    const isGrave = (fault: string): boolean => fault.startsWith(NOT_STORED) || (this.rows === 0 && isOfReading(fault));
    return faults.find(isGrave) ?? null;
  }

  /** Whether there are rows and none of them is served, as they cannot be read or have not been read yet: it must not pass for empty. */
  get isUnserved(): boolean {
    const isUnread = ({ isChanged, read, file }: Source): boolean =>
      isChanged && read.position.offset === 0 && file.size > 0;
    return this.rows === 0 && (this.fault !== null || this.sources.some(isUnread));
  }

  /** Bytes of the sealed files. */
  get bytes(): number {
    return this.#segments.bytes;
  }

  /** What queries read since it was last rebuilt. */
  get table(): StoredTable {
    return this.#parts.table;
  }

  /** As of `TableParts`. */
  arrivedRows(after: number | null, upTo: number): StoredTable {
    return this.#parts.arrived(after, upTo);
  }

  /** Whether files have come, or have other names, so that wildcards mean other rows than they find. */
  get hasOtherShards(): boolean {
    return this.#hasOtherShards;
  }

  get #shards(): readonly Shard[] | undefined {
    return shardsOf(this.name, new Map(this.sources.map(({ id, file }) => [id, file])));
  }

  /** `performance.now()` when what is not served yet was first seen; null: everything is. */
  get behindSince(): number | null {
    return this.sources.reduce<number | null>(
      (first, { behindSince }) => (behindSince === null ? first : Math.min(first ?? Infinity, behindSince)),
      null,
    );
  }

  /** When the newest of its files has changed: milliseconds since the epoch. */
  get newest(): number {
    return this.sources.reduce((newest, { file }) => Math.max(newest, Number(file.modified / 1_000_000n)), 0);
  }

  /** As of `SourcesOfTable`. */
  isTruncated(files: readonly FoundFile[]): boolean {
    return this.#sources.isTruncated(files);
  }

  /** Takes what the folder holds now. @returns what to do about what has gone when nobody reads it any more; null: nothing has */
  async reconcile(...[files, isKnown]: Parameters<SourcesOfTable['reconcile']>): Promise<CleanUp | null> {
    const { next } = this.#sources;
    const { gone, moved } = await this.#sources.reconcile(files, isKnown);
    if ((moved || next !== this.#sources.next) && !isDeepStrictEqual(this.#shards, this.table.shards))
      this.#hasOtherShards = true;
    const now = performance.now();
    for (const source of this.sources) {
      // A last line is complete without its newline when nothing has followed for long.
      if (source.waiting && source.isQuiet) source.seen = null;
      if (source.isChanged) source.behindSince ??= now;
      else source.behindSince = null;
    }
    if (!moved) return null;
    for (const { id } of gone) this.#hot.drop(id);
    // Whoever reads what has gone must not see what comes in its place.
    if (gone.length > 0) this.#hot.close();
    const remove = await this.#without(gone).catch((error: unknown) => {
      // It is known without the hot file, which is told later.
      if (gone.length === 0) throw error;
      return async () => undefined;
    });
    if (remove === null) return null;
    const rebuilt = await this.rebuild();
    return async (connection) => {
      await rebuilt(connection);
      await remove(connection);
    };
  }

  /** Rows have gone, or files have other names. */
  async #without(gone: Reconciled['gone']): Promise<CleanUp | null> {
    for (const { id } of gone) this.#gone.add(id);
    const isFree = gone.length > 0 && !this.isBusy;
    const segments = isFree ? this.#segments.empty : [];
    const relations = isFree ? this.#hot.all.filter(({ rows }) => rows === 0) : [];
    const named = this.sources.filter((source) => source.isRenamed);
    if (gone.length + named.length === 0) return null;
    await this.#commit((put) => {
      for (const source of named) put('source', this.name, source.id, source.record());
      this.#putRemoved(put, relations, segments);
    });
    for (const source of named) source.save();
    if (gone.length === 0) return null;
    this.#segments.replace(segments, null);
    this.#hot.remove(relations);
    return (connection) => this.#remove(connection, relations, segments);
  }

  async #commit(work: (put: Put) => Promise<void> | void): Promise<void> {
    const gone = [...this.#gone];
    await this.#store.commit((put) => {
      for (const id of gone) put('source', this.name, id, null);
      return work(put);
    });
    for (const id of gone) this.#gone.delete(id);
  }

  #putRemoved(put: Put, relations: readonly HotRelation[], segments: readonly Segment[]): void {
    for (const { id } of relations) put('relation', this.name, id, null);
    for (const { file } of segments) put('segment', this.name, file, null);
  }

  async #remove(
    connection: DuckDBConnection,
    relations: readonly HotRelation[],
    segments: readonly Segment[],
  ): Promise<void> {
    for (const relation of relations) await relation.remove(connection);
    for (const { file } of segments) await rm(join(this.#store.filesOf(this.name), file), { force: true });
  }

  get #store(): Store {
    return this.options.store;
  }

  /** Whether what is unread of a source is too much for the hot file. */
  isBacklog(source: Source): boolean {
    if (!source.isChanged) return false;
    const { format, compression } = source.file;
    if (format === 'parquet') return true;
    return source.unreadBytes * (compression === 'none' ? 1 : COMPRESSION) > this.options.smallFile;
  }

  /** Whether something of a source is unread, and it may be read now. */
  isReadable(source: Source): boolean {
    return !source.converting && source.isChanged && performance.now() >= source.notBefore;
  }

  /** Reads what is new of readable sources into the hot file. @returns whether parts or fields are others than before */
  async readNew(sources: AsyncIterable<Source>): Promise<boolean> {
    const [relations, fields, units] = [this.#hot.all, this.fields, JSON.stringify([...this.times.units])];
    let waiting: ReadBatch[] = [];
    let ends = new Map<Source, SourceEnd>();
    const insert = async (): Promise<void> => {
      const [batches, noted] = [waiting, ends];
      waiting = [];
      ends = new Map();
      await this.#insertSafely(batches, noted);
    };
    const take = async (batch: ReadBatch): Promise<boolean> => {
      const all = [...waiting, batch];
      const isMuch = bytesOf(all) > INSERTED_AT_ONCE || valuesOf(all) > VALUES_AT_ONCE;
      if (waiting.length > 0 && isMuch) await insert();
      waiting.push(batch);
      return false;
    };
    const ignoring = (error: unknown): null => {
      if (error instanceof NotTaken) return null;
      throw error;
    };
    for await (const source of sources) {
      const end = await this.readThrough(source, take).catch(ignoring);
      if (end !== null) ends.set(source, end);
    }
    await insert().catch(ignoring);
    return relations !== this.#hot.all || fields !== this.fields || units !== JSON.stringify([...this.times.units]);
  }

  /**
   * Reads a source to its end.
   *
   * @param take takes rows, and tells whether they are enough: what it throws is thrown as NotTaken
   * @returns null: nothing is known of its end
   */
  async readThrough(source: Source, take: (batch: ReadBatch) => Promise<boolean>): Promise<SourceEnd | null> {
    const { size, modified, compression, identity } = source.file;
    const started = performance.now();
    const end = { seen: { size, modified }, waiting: false, fault: null, notBefore: 0 };
    const archiveAgain = (): number => {
      const now = performance.now();
      return compression === 'none' ? 0 : now + PATIENCE * (now - started);
    };
    if (this.#fields.isUnknown && !this.#isBegun) {
      this.#isBegun = true;
      const files = this.sources.map(({ file }) => file);
      this.#fields.begin(await firstFields(this.options.dataDir, files));
    }
    try {
      const batches = this.#reader.read(source);
      for (;;) {
        const { done, value } = await batches.next();
        if (done === true) return { ...end, waiting: value, notBefore: archiveAgain() };
        const isEnough = await take(value).catch((cause: unknown) => {
          throw cause instanceof NotTaken ? cause : new NotTaken('', { cause });
        });
        if (!isEnough) continue;
        await batches.return(false);
        return { ...end, seen: null };
      }
    } catch (error) {
      if (error instanceof NotTaken) throw error;
      if (error instanceof MovedFile || (await isMoved(source.pathIn(this.options.dataDir), identity))) return null;
      if (error instanceof ChangedContent) {
        source.replaced = true;
        return null;
      }
      const notBefore = performance.now() + TRY_AGAIN;
      if (error instanceof ContentFault) {
        return { ...end, fault: error.message, notBefore: Math.max(notBefore, archiveAgain()) };
      }
      return { ...end, seen: source.seen, fault: `cannot be read (${faultKind(error)})`, notBefore };
    }
  }

  /** Has a source as it is at its end. */
  #note(source: Source, { seen, waiting, fault, notBefore }: SourceEnd): void {
    source.waiting = waiting;
    source.fault = fault;
    source.notBefore = Math.max(source.notBefore, notBefore);
    source.seen = seen;
    if (!source.isChanged) source.behindSince = null;
    if (fault !== null) this.options.onFault(source.file.path, fault);
  }

  /** Inserts rows; files whose rows cannot be inserted are set aside. @throws NotTaken where there are such */
  async #insertSafely(batches: readonly ReadBatch[], ends: ReadonlyMap<Source, SourceEnd>): Promise<void> {
    const sources = new Set([...batches.map(({ source }) => source), ...ends.keys()]);
    if (sources.size === 0) return;
    try {
      await this.#insert(batches, ends);
      return;
    } catch {
      // The rows of one file keep no other's from being read.
    }
    let failed = false;
    for (const source of sources) {
      const own = batches.filter((batch) => batch.source === source);
      const end = ends.get(source);
      const noted = new Map(end === undefined ? [] : [[source, end]]);
      try {
        await this.#insert(own, noted).catch(() =>
          this.#insert(
            own.map((batch) => this.strictly(batch)),
            noted,
          ),
        );
      } catch (error) {
        failed = true;
        const fault = `${NOT_STORED} (${faultKind(error)})`;
        this.#note(source, { seen: source.seen, waiting: false, fault, notBefore: performance.now() + TRY_AGAIN });
      }
    }
    if (failed) throw new NotTaken();
  }

  /** Inserts all rows or none, with how far their sources have been read: one transaction. */
  async #insert(batches: readonly ReadBatch[], ends: ReadonlyMap<Source, SourceEnd>): Promise<void> {
    const read = new Map([...ends.keys()].map((source) => [source, source.read]));
    for (const { source, end } of batches) read.set(source, end);
    const leftOut = batches.reduce((all, batch) => together(all, batch.leftOut.total), NOTHING_LEFT_OUT);
    await this.numbered(this.options.connection, batches, async (rows) => {
      let opened: OpenedRelation | null = null;
      await this.#commit(async (put) => {
        opened = rows.length === 0 ? null : await this.#hot.opened(batches.at(-1)!.fields, put);
        await opened?.relation.insert(rows, this.#arrived);
        for (const [source, progress] of read) {
          const record = source.record(progress, seenAt(ends.get(source) ?? null));
          if (progress.position.offset > 0) put('source', this.name, source.id, record);
        }
        put('table', this.name, '', this.#record(rows.length, leftOut));
      });
      this.#added(opened, rows);
      this.#arrived += rows.length;
    });
    this.#leftOut = together(this.#leftOut, leftOut);
    for (const [source, progress] of read) {
      source.read = progress;
      source.save();
    }
    for (const [source, end] of ends) this.#note(source, end);
    for (const batch of batches) if (batch.leftOut.any) this.options.onLeftOut(batch.leftOut.total);
  }

  #added(opened: OpenedRelation | null, rows: readonly PlacedRow[]): void {
    if (opened === null) return;
    this.#hot.add(opened, rows, this.#arrived);
    if (opened.before !== null) this.#unread.push(opened.before);
  }

  /** Rows, each read closely: nothing that `ExactLines` has found may keep rows from being read. */
  strictly(batch: ReadBatch): ReadBatch {
    const { fields, leftOut } = batch;
    const rules = rulesOf(fields, this.isStrict);
    const rows = batch.rows.flatMap(({ json, digest }) => {
      try {
        // A row without an id is one still.
        return { ...rowOf(json, parsedRow(json), fields, rules, leftOut), digest };
      } catch (error) {
        if (!(error instanceof Unfit)) throw error;
        leftOut.addRows(error.reason, 1, []);
        return [];
      }
    });
    return { ...batch, rows };
  }

  #record(more: number, leftOut: LeftOut): TableRecord {
    return {
      ...this.#fields.known,
      declared: this.declared,
      open: this.options.declared?.open ?? false,
      nextSource: this.#sources.next,
      nextFile: this.#nextFile,
      arrived: this.#arrived + more,
      leftOut: together(this.#leftOut, leftOut),
    };
  }

  /**
   * Has the rows of batches inserted, those without an id with one that no equal row of the table has.
   *
   * @param connection which looks for equal rows that are committed
   */
  numbered(
    connection: DuckDBConnection,
    batches: readonly ReadBatch[],
    insert: (rows: readonly PlacedRow[]) => Promise<void>,
  ): Promise<void> {
    const rows = batches.flatMap((batch) => batch.rows);
    const sources = batches.flatMap((batch) => batch.rows.map(() => batch.source.id));
    const place = (texts: readonly string[]): PlacedRow[] => texts.map((text, i) => ({ text, source: sources[i]! }));
    if (rows.every(({ digest }) => digest === null)) return insert(place(rows.map(({ json }) => json)));
    const done = this.#numbering.then(async () => {
      const digests = [...new Set(rows.flatMap(({ digest }) => digest ?? []))];
      const times = rows.flatMap(({ digest, time }) => (digest === null ? [] : (time ?? []))).sort();
      await insert(place(identified(rows, await this.ordinals(connection, digests, times))));
    });
    this.#numbering = done.catch(() => undefined);
    return done;
  }

  /** Nobody looks at what is staged any more. */
  async unstage(): Promise<void> {
    this.staged = null;
    await this.#numbering;
  }

  /** The next ordinal of each digest that a row has already. @param times of the rows: equal rows have equal times */
  async ordinals(
    connection: DuckDBConnection,
    digests: readonly string[],
    times: readonly string[],
  ): Promise<Map<string, number>> {
    const timed = this.rules.timed && times.length > 0;
    const within = timed ? ` AND timestamp BETWEEN ${quoteText(times[0]!)} AND ${quoteText(times.at(-1)!)}` : '';
    const known = (relation: string, where = ''): string =>
      `SELECT id FROM ${relation} WHERE ${DIGEST_OF_ID} IN (SELECT unnest($1))${within}${where}`;
    const sealed = this.#parts.table.parts.filter(({ grows }) => !grows).map(({ relation }) => known(relation));
    const hot = this.#hot.all
      .filter(({ fields }) => rulesOf(fields, this.isStrict).identified)
      .map(({ relation, dropped }) => known(relation, dropped.length === 0 ? '' : ` AND ${isNotOf(dropped)}`));
    const staged = this.staged;
    const next = new Map<string, number>();
    const all = [
      { connection, queries: [...sealed, ...hot] },
      ...(staged === null
        ? []
        : [{ connection: staged.connection, queries: staged.relations().map((relation) => known(relation)) }]),
    ];
    for (const { connection: own, queries } of all) {
      if (queries.length === 0) continue;
      const statement = await own.prepare(
        `SELECT ${DIGEST_OF_ID}, max(${ORDINAL_OF_ID}) + 1 FROM (${queries.join(' UNION ALL ')}) GROUP BY 1`,
      );
      try {
        statement.bind([listValue([...digests])]);
        for (const [digest, ordinal] of (await statement.runAndReadAll()).getRows()) {
          next.set(String(digest), Math.max(next.get(String(digest)) ?? 0, Number(ordinal)));
        }
      } finally {
        statement.destroySync();
      }
    }
    return next;
  }

  /** Makes what queries read anew: as `TableParts.rebuild`. */
  async rebuild(): Promise<CleanUp> {
    const unread = this.#unread;
    const shards = this.#shards;
    const rebuilt = await this.#parts.rebuild(this.fields, this.times.units, this.#segments, this.#hot.all, shards);
    this.#hasOtherShards = false;
    this.#unread = this.#unread.filter((relation) => !unread.includes(relation));
    return async (connection) => {
      await rebuilt(connection);
      await this.#remove(connection, unread, []);
    };
  }

  get onLeftOut(): TableOptions['onLeftOut'] {
    return this.options.onLeftOut;
  }

  /** Takes over what a Parquet file has. */
  unite(fields: readonly RestField[]): void {
    this.#fields.unite(fields);
  }

  /** The hot relations, which take no more rows: they are being sealed, or written anew. */
  closeHot(): readonly HotRelation[] {
    return this.#hot.close();
  }

  /** Has a file as a part of the table: one transaction. @returns what to do when nobody reads the parts before any more */
  async seal({ written, path, relations, merged, sources, leftOut }: Sealed): Promise<CleanUp> {
    const file = `${this.#nextFile++}.duckdb`;
    const place = join(this.#store.filesOf(this.name), file);
    const gone = [...merged, ...this.#segments.empty.filter((segment) => !merged.includes(segment))];
    const before = sources.length === 0 ? 0 : this.#arrived;
    const arrived = written?.arrived ?? null;
    const more = sources.length === 0 ? 0 : (arrived?.[1] ?? 0);
    const shifted = arrived === null ? null : ([arrived[0] + before, arrived[1] + before] as const);
    const segment = written === null ? null : { file, ...written, arrived: shifted, before };
    // A source may have gone meanwhile.
    const known = sources.filter(({ source }) => this.#sources.find(source.id) === source);
    if (segment !== null) {
      await mkdir(this.#store.filesOf(this.name), { recursive: true });
      await rename(path, place);
    }
    try {
      await this.#commit((put) => {
        this.#putRemoved(put, relations, gone);
        if (segment !== null) put('segment', this.name, file, segment);
        for (const { source, read, end } of known) {
          if (read.position.offset > 0) put('source', this.name, source.id, source.record(read, seenAt(end)));
        }
        put('table', this.name, '', this.#record(more, leftOut));
      });
    } catch (error) {
      await rm(place, { force: true });
      throw error;
    }
    this.conversions++;
    this.#arrived += more;
    this.#leftOut = together(this.#leftOut, leftOut);
    this.#segments.replace(gone, segment);
    this.#hot.remove(relations);
    for (const { source, read, end } of known) {
      source.read = read;
      source.save();
      if (end === null) source.seen = null;
      else this.#note(source, end);
    }
    const rebuilt = await this.rebuild();
    return async (connection) => {
      await rebuilt(connection);
      await this.#remove(connection, relations, gone);
    };
  }
}

/** What is stored of the end of a source: one whose last record waits is to be read on after a restart, too. */
function seenAt(end: SourceEnd | null): Seen | null {
  return end === null || end.waiting ? null : end.seen;
}

function bytesOf(batches: readonly ReadBatch[]): number {
  return batches.reduce((sum, { bytes }) => sum + bytes, 0);
}

export function valuesOf(batches: readonly ReadBatch[]): number {
  return batches.reduce((sum, { rows }) => rows.reduce((all, { values }) => all + values, sum), 0);
}
