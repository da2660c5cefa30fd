import { join } from 'node:path';
import type { DuckDBConnection } from '@duckdb/node-api';

import type { RestField } from '../../../googlesql/rest-schema';
import type { StoredTable } from '../data/part';
import type { FoundFile } from './folder-scan';
import { LeftOutTotals } from './left-out-count';
import type { Manifest } from './manifest';
import type { ReadRow } from './rows';
import { type LeftOut, leftOutRows, type Segment } from './segment';
import type { Progress, Range, SegmentJob, SegmentResult } from './segment-job';
import { SegmentsOfTable } from './segments-of-table';
import { isOfReading, NOT_STORED, type Source } from './source';
import { type Reconciled, SourcesOfTable } from './sources-of-table';
import { TableFields } from './table-fields';
import { type CleanUp, TableParts } from './table-parts';
import { TailReader, TRY_AGAIN } from './tail-reader';
import type { SealedRows } from './tail-writer';
import { Tails } from './tails';

export interface TableOptions {
  readonly name: string;
  /** null: inferred from the rows. */
  readonly declared: readonly RestField[] | null;
  readonly dataDir: string;
  /** Bytes of a text file, as it stands in memory, that are read here rather than by a conversion. */
  readonly smallFile: number;
  /** Of the table, for segments. */
  readonly folder: string;
  readonly connection: DuckDBConnection;
  /** Tells names of relations of one table from those of another. */
  readonly index: number;
  /** Takes what was left out of a batch of rows. */
  readonly onLeftOut: (leftOut: LeftOut) => void;
  /** Takes why a file is set aside. */
  readonly onFault: (file: string, fault: string) => void;
}

/** A job under way. */
interface Conversion {
  readonly ranges: readonly Range[];
  readonly merged: readonly Segment[];
  /** What sources were as it began, by their numbers. */
  readonly seen: ReadonlyMap<number, { readonly size: number; readonly modified: bigint }>;
}

/** What a conversion is to do, but for where. */
export interface TableJob {
  readonly job: Omit<SegmentJob, 'path' | 'folder'>;
  /** The same from what is in memory; null: there is more to do, or in another form. */
  readonly sealed: Sealed | null;
}

/** What tails give to the ranges of a job. */
export interface Sealed {
  readonly rows: readonly SealedRows[];
  readonly leftOut: LeftOut;
}

/** How much a conversion may take on: of content as in `SegmentJob`, and bytes of segments to merge. */
export type JobBounds = Pick<SegmentJob, 'atOnce' | 'most'> & { readonly merged: number };

/** How many times smaller a file is taken to be than its rows: a compressed one, and one of Parquet, which is compressed as well. */
const COMPRESSION = 8;
const PARQUET = 3;

/** One table: its sources, segments and tails. Used by one caller at a time. */
export class LiveTable {
  readonly #sources: SourcesOfTable;
  readonly #fields: TableFields;
  readonly #segments: SegmentsOfTable;
  readonly #tails: Tails;
  readonly #parts: TableParts;
  readonly #reader: TailReader;
  readonly #leftOut: LeftOutTotals;
  #nextSegment: number;
  #conversion: Conversion | null = null;
  /** How many conversions have been done. */
  conversions = 0;

  constructor(
    private readonly options: TableOptions,
    manifest: Manifest | null,
  ) {
    const { name, declared, dataDir, connection, index, onFault } = options;
    const before = manifest !== null && TableFields.match(declared, manifest) ? manifest : null;
    this.#fields = new TableFields(declared, before);
    this.#nextSegment = manifest?.nextSegment ?? 1;
    this.#leftOut = new LeftOutTotals(before?.leftOut);
    this.#sources = new SourcesOfTable(name, dataDir, {
      sources: before?.sources ?? [],
      nextSource: manifest?.nextSource ?? 1,
    });
    this.#segments = new SegmentsOfTable(before?.segments ?? [], (source) => this.#sources.has(source));
    this.#tails = new Tails(connection, index);
    this.#parts = new TableParts(options);
    this.#reader = new TailReader({
      dataDir,
      connection,
      fields: this.#fields,
      tails: this.#tails,
      parts: this.#parts,
      isEmpty: () => this.rows === 0,
      onLeftOut: (leftOut) => {
        this.#leftOut.add(leftOut);
        options.onLeftOut(leftOut);
      },
      onFault,
    });
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

  get sources(): readonly Source[] {
    return this.#sources.all;
  }

  get segments(): readonly Segment[] {
    return this.#segments.all;
  }

  get leftOut(): LeftOut {
    return this.#leftOut.total;
  }

  /** Rows that are served. */
  get rows(): number {
    return this.#segments.rows + this.#tails.rows;
  }

  /** Why rows of a file are not served that it may well have; null: there is no such file. */
  get fault(): string | null {
    const faults = this.sources.flatMap(({ fault }) => fault ?? []);
    const isGrave = (fault: string): boolean => fault.startsWith(NOT_STORED) || (this.rows === 0 && isOfReading(fault));
    return faults.find(isGrave) ?? null;
  }

  /** Whether there are rows and none of them is served: it must not pass for empty. @param failed whether the last conversion has */
  isUnserved(failed: boolean): boolean {
    if (this.rows === 0 && this.fault !== null) return true;
    const isUnread = ({ isChanged, read }: Source): boolean => isChanged && read.position.offset === 0;
    return failed && this.#segments.rows === 0 && this.sources.some(isUnread);
  }

  /** Bytes of the segments. */
  get bytes(): number {
    return this.#segments.bytes;
  }

  get tails(): Pick<Tails, 'count' | 'bytes' | 'age' | 'rest'> {
    return this.#tails;
  }

  /** What queries read since it was last rebuilt. */
  get table(): StoredTable {
    return this.#parts.table;
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

  /** Attaches the segments. @throws what DuckDB throws where one is damaged or gone */
  async attach(): Promise<void> {
    await this.#parts.attach(this.segments);
  }

  /** As of `SourcesOfTable`. */
  isTruncated(files: readonly FoundFile[]): boolean {
    return this.#sources.isTruncated(files);
  }

  /** Takes what the folder holds now. */
  async reconcile(...[files, isKnown]: Parameters<SourcesOfTable['reconcile']>): Promise<Reconciled> {
    const reconciled = await this.#sources.reconcile(files, isKnown);
    const now = performance.now();
    for (const source of this.sources) {
      // A last line is complete without its newline when nothing has followed for long.
      if (source.waiting && source.isQuiet) source.seen = null;
      if (source.isChanged) source.behindSince ??= now;
      else source.behindSince = null;
    }
    for (const { id } of reconciled.gone) this.#tails.drop(id);
    return reconciled;
  }

  /** Whether a conversion is to read what is unread of a source. */
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

  /** Reads what is new of readable sources into the tail. @param onChange called when parts or fields are others than before */
  async readNew(sources: AsyncIterable<Source>, onChange: () => void): Promise<void> {
    const [tails, fields] = [this.#tails.all, this.fields];
    try {
      for await (const source of sources) await this.#reader.read(source);
    } finally {
      await this.#reader.insertRead();
      if (tails !== this.#tails.all || fields !== this.fields) onChange();
    }
  }

  pathOf(source: Source): string {
    return source.pathIn(this.options.dataDir);
  }

  /** The next ordinal of each digest of the rows without an id. */
  async nextOrdinals(rows: readonly ReadRow[]): Promise<ReadonlyMap<string, number>> {
    const digests = [...new Set(rows.flatMap(({ digest }) => digest ?? []))];
    return digests.length === 0 ? new Map() : this.#reader.nextOrdinals(digests, rows);
  }

  /** Makes what queries read anew: as `TableParts.rebuild`. */
  rebuild(): Promise<CleanUp> {
    return this.#parts.rebuild(this.fields, this.#segments, this.#tails);
  }

  /** As `rebuild`, after rows have gone: whoever reads those sees none that is read from now on. */
  async rebuildWithout(): Promise<CleanUp> {
    const release = this.#tails.hold();
    const empty = this.#tails.dropEmpty();
    const cleanUp = await this.rebuild();
    return async () => {
      release();
      await cleanUp();
      for (const tail of empty) await tail.remove();
    };
  }

  /** Leaves out segments without a row that counts. @returns them */
  dropEmptySegments(): readonly Segment[] {
    return this.#conversion === null ? this.#segments.dropEmpty() : [];
  }

  /**
   * What a conversion should do now: store the tails, read a backlog, or merge segments; null: nothing.
   *
   * @param roll whether the tails are to be stored
   * @param inParts whether what is in the tails has been too much to be stored at once
   */
  nextJob(roll: boolean, bounds: JobBounds, inParts: boolean): TableJob | null {
    if (this.#conversion !== null) return null;
    const now = performance.now();
    const backlog = this.sources.filter((source) => this.isBacklog(source) && now >= source.notBefore);
    const isDue = (roll || backlog.length > 0) && !this.#segments.isScattered(bounds.merged, this.fields);
    const ranges = isDue ? this.#ranges(backlog, bounds, inParts) : [];
    const merged = ranges.length === 0 ? this.#segments.mergeable(bounds.merged, this.fields) : [];
    if (ranges.length === 0 && merged.length === 0) return null;
    const seen = backlog.map(({ id, file: { size, modified } }) => [id, { size, modified }] as const);
    this.#conversion = { ranges, merged, seen: new Map(seen) };
    const sealed = ranges.length === 0 ? null : this.#seal(ranges);
    const stored = (segment: Segment): SegmentJob['merged'][number] => ({
      path: join(this.options.folder, segment.file),
      segment,
      dropped: this.#segments.droppedOf(segment),
    });
    const job = {
      table: this.name,
      fields: this.fields,
      declared: this.declared,
      ranges,
      merged: merged.map(stored),
      others: this.segments.filter((segment) => !merged.includes(segment)).map(stored),
      atOnce: bounds.atOnce,
      most: bounds.most,
    };
    return { job, sealed };
  }

  #seal(ranges: readonly Range[]): Sealed | null {
    const rows = this.#tails.seal(this.fields);
    const leftOut = this.#leftOut.seal();
    const isAll = this.sources.filter(({ isInTail }) => isInTail).length === ranges.length;
    return rows !== null && isAll && ranges.every(({ to }) => to !== null) ? { rows, leftOut } : null;
  }

  /**
   * What is in the tails, and of the backlog so much, the newest first. In parts: of each no more than `most`, and what is left is read
   * into a tail anew.
   */
  #ranges(backlog: readonly Source[], { atOnce, most }: JobBounds, inParts: boolean): readonly Range[] {
    const now = performance.now();
    const ranges: Range[] = [];
    for (const source of this.sources) {
      const isSetAside = source.fault !== null && now < source.notBefore;
      if (!source.isInTail || isSetAside) continue;
      ranges.push(this.#range(source, inParts ? null : source.read));
      source.converting ||= inParts;
    }
    let bytes = 0;
    for (const source of [...backlog].sort((a, b) => (a.file.modified < b.file.modified ? 1 : -1))) {
      if (bytes > most) break;
      // What is in the tails is stored first.
      if (source.isInTail) continue;
      ranges.push(this.#range(source, null));
      source.converting = true;
      // Rows of lines can be stored in chunks, as many as are needed.
      const isParquet = source.file.format === 'parquet';
      const inChunks = !isParquet && this.declared;
      bytes += source.unreadBytes * (isParquet ? PARQUET : 1) * (inChunks ? 1 : most / atOnce);
    }
    return ranges;
  }

  #range(source: Source, to: Progress | null): Range {
    const { identity, format, compression } = source.file;
    const path = source.pathIn(this.options.dataDir);
    const closed = to === null && source.isQuiet;
    return { source: source.id, path, identity, format, compression, from: source.stored, to, closed };
  }

  /** A name for the next segment's file. */
  nextFile(): string {
    return `${this.#nextSegment++}.duckdb`;
  }

  /**
   * Takes over what a conversion has done: `manifest` then tells what is stored.
   *
   * @returns what to do when nobody reads the parts before any more
   */
  finish(file: string, { segment, fields, ends, changed, faults, leftOut }: SegmentResult): CleanUp {
    const { merged, ranges, seen } = this.#conversion!;
    this.#conversion = null;
    this.conversions++;
    this.#segments.replace(merged, segment === null ? null : { file, ...segment });
    this.#fields.unite(fields);
    for (const range of ranges) {
      const source = this.#sources.find(range.source);
      if (source === undefined) continue;
      source.converting = false;
      if (changed.includes(source.id)) source.replaced = true;
      const fault = faults[source.id] ?? null;
      if (fault !== null) {
        source.notBefore = performance.now() + TRY_AGAIN;
        this.options.onFault(source.file.path, fault);
      }
      const end = ends[source.id];
      if (range.to === null || fault !== null) source.fault = fault;
      if (end === undefined) continue;
      const { whole, ...progress } = end;
      source.stored = progress;
      if (range.to !== null) continue;
      source.read = progress;
      if (!whole) {
        // What was in a tail behind that is read anew.
        source.seen = null;
        continue;
      }
      source.seen = seen.get(source.id) ?? null;
      source.waiting = !range.closed && isCut(range, progress, source.seen?.size ?? 0);
      if (!source.isChanged) source.behindSince = null;
    }
    if (ranges.length === 0) return async () => undefined;
    this.#leftOut.store(leftOut);
    // What tails have left out has been named.
    if (leftOutRows(leftOut) + leftOut.fields.length > 0 && ranges.some(({ to }) => to === null))
      this.options.onLeftOut(leftOut);
    const stored = this.#tails.store(new Set(Object.keys(ends).map(Number)));
    if (ranges.some(({ to }) => to === null)) this.#numberAgain();
    return async () => {
      for (const tail of stored) await tail.remove();
    };
  }

  /** What came while a backlog was read has not been numbered over that: it is read again before anybody sees both. */
  #numberAgain(): void {
    for (const tail of this.#tails.all) {
      if (!tail.hasGeneratedIds) continue;
      for (const id of tail.sources) {
        this.#tails.drop(id);
        const source = this.#sources.find(id);
        if (source === undefined) continue;
        source.read = source.stored;
        source.seen = null;
      }
    }
  }

  /** A conversion has failed: its sources are looked at again. */
  fail(until: number): void {
    for (const { source: id, to } of this.#conversion?.ranges ?? []) {
      const source = this.#sources.find(id);
      if (source === undefined) continue;
      source.converting = false;
      if (to === null) source.notBefore = until;
    }
    this.#conversion = null;
    this.#tails.unseal();
    this.#leftOut.unseal();
  }

  isDisposed = false;

  /** Gives back what it has in the database, when nobody reads it any more. */
  async dispose(): Promise<void> {
    this.isDisposed = true;
    await this.#parts.dispose();
    for (const tail of this.#tails.all) await tail.remove();
  }

  get manifest(): Manifest {
    return {
      fields: this.fields,
      declared: this.declared,
      sources: this.sources.filter(({ stored }) => stored.position.offset > 0).map(({ record }) => record),
      segments: this.segments,
      nextSource: this.#sources.next,
      nextSegment: this.#nextSegment,
      leftOut: this.#leftOut.stored,
    };
  }
}

/** Whether a text has been read to its end but for a last record without one. */
function isCut({ format, compression }: Range, { position }: Progress, size: number): boolean {
  return format !== 'parquet' && compression === 'none' && position.offset < size;
}
