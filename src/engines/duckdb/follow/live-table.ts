import { join } from 'node:path';
import { type DuckDBConnection, listValue } from '@duckdb/node-api';

import { columnsOf, type RestField } from '../../../googlesql/rest-schema';
import type { Part, StoredTable } from '../data/part';
import { type JsonObject, Unfit } from '../data/strict-row';
import { codeOf } from '../engine/native-error';
import { quoteName, quoteText } from '../sql';
import { castColumns } from './cast-columns';
import { ContentFault, keeping, readContent } from './content';
import { sameFields, unitedFields } from './fields';
import { ORDINAL } from './generated-ids';
import { withFieldsOf } from './inferred-schema';
import { LeftOutCount } from './left-out-count';
import type { Manifest } from './manifest';
import { type RawRecord, readRecords } from './records';
import { ChangedContent, resumeDigest } from './resume-digest';
import { generatedId, recordRow, type ReadRow, rowOf, rulesOf } from './rows';
import { type LeftOut, leftOutRows, NOTHING_LEFT_OUT, type Segment, SOURCE_COLUMN, together } from './segment';
import type { Range, SegmentJob, SegmentResult } from './segment-job';
import type { Source } from './source';
import { type Reconciled, SourcesOfTable } from './sources-of-table';
import { Tail } from './tail';

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
  /** The tails that it takes the place of. */
  readonly tails: readonly Tail[];
  readonly merged: readonly Segment[];
}

/** Milliseconds after which the last line of a file that does not change is complete without its newline. */
const QUIET = 60_000;
/** Milliseconds until a file that cannot be read is tried again. */
const TRY_AGAIN = 5_000;
/** How many times smaller a compressed file is taken to be. */
const COMPRESSION = 8;
/** Segments of about the same size that are merged at once. */
const MERGED_AT_ONCE = 8;
/** Rows beyond which a segment is not merged any more. */
const LARGE_SEGMENT = 2_000_000;

/** One table: its sources, segments and tails. Used by one caller at a time. */
export class LiveTable {
  readonly #sources: SourcesOfTable;
  #fields: readonly RestField[];
  #segments: readonly Segment[];
  #nextSegment: number;
  /** Of what is in segments. */
  #stored: LeftOut;
  /** Of what is in the tails, and of what a conversion is storing now. */
  #recent: LeftOut = NOTHING_LEFT_OUT;
  #sealed: LeftOut = NOTHING_LEFT_OUT;
  readonly #tails: Tail[] = [];
  #nextTail = 0;
  #nextView = 0;
  #revision = 0;
  #conversion: Conversion | null = null;
  readonly #attached = new Map<string, string>();
  /** Relations that give a segment or a tail in another form, by what they give. */
  readonly #views = new Map<string, string>();
  /** How many conversions have been done. */
  conversions = 0;

  constructor(
    private readonly options: TableOptions,
    manifest: Manifest | null,
  ) {
    const { name, declared, dataDir } = options;
    const usable =
      manifest !== null && (declared === null ? !manifest.declared : sameFields(declared, manifest.fields));
    const before = usable ? manifest : null;
    this.#fields = declared ?? before?.fields ?? [];
    this.#segments = before?.segments ?? [];
    this.#nextSegment = manifest?.nextSegment ?? 1;
    this.#stored = before?.leftOut ?? NOTHING_LEFT_OUT;
    this.#sources = new SourcesOfTable(name, dataDir, {
      sources: before?.sources ?? [],
      nextSource: manifest?.nextSource ?? 1,
    });
  }

  get name(): string {
    return this.options.name;
  }

  get fields(): readonly RestField[] {
    return this.#fields;
  }

  get declared(): boolean {
    return this.options.declared !== null;
  }

  get sources(): readonly Source[] {
    return this.#sources.all;
  }

  get segments(): readonly Segment[] {
    return this.#segments;
  }

  get leftOut(): LeftOut {
    return together(together(this.#stored, this.#sealed), this.#recent);
  }

  /** Rows that are served. */
  get rows(): number {
    const stored = this.#segments.reduce((sum, segment) => sum + this.#rowsOf(segment), 0);
    return this.#tails.reduce((sum, { rows }) => sum + rows, stored);
  }

  /** Bytes of the texts in memory. */
  get tailBytes(): number {
    return this.#tails.reduce((sum, { bytes }) => sum + bytes, 0);
  }

  /** Milliseconds since the oldest of them came. */
  get tailAge(): number {
    const now = performance.now();
    return Math.max(0, ...this.#tails.map(({ since }) => (since === null ? 0 : now - since)));
  }

  /** Milliseconds since the last insertion. */
  get tailRest(): number {
    const now = performance.now();
    return Math.min(...this.#tails.map(({ last }) => now - last));
  }

  get tails(): readonly Tail[] {
    return this.#tails;
  }

  /** `performance.now()` when what is not served yet was first seen; null: everything is. */
  get behindSince(): number | null {
    const times = this.sources.flatMap(({ behindSince }) => behindSince ?? []);
    return times.length === 0 ? null : Math.min(...times);
  }

  /** Takes what the folder holds now. @returns what has changed */
  async reconcile(...[files, isKnown]: Parameters<SourcesOfTable['reconcile']>): Promise<Reconciled> {
    const reconciled = await this.#sources.reconcile(files, isKnown);
    const { gone } = reconciled;
    const now = performance.now();
    for (const source of this.sources) {
      // A last line is complete without its newline when nothing has followed for long.
      if (source.waiting && now - source.unchangedSince > QUIET) source.seen = null;
      if (source.isChanged) source.behindSince ??= now;
      else source.behindSince = null;
    }
    for (const { id, read, stored } of gone) {
      if (read.position.offset === stored.position.offset) continue;
      for (const tail of this.#tails) await tail.delete(id);
    }
    return reconciled;
  }

  /** Whether a conversion is to read what is unread of a source. */
  isBacklog(source: Source): boolean {
    if (!source.isChanged) return false;
    const { format, compression } = source.file;
    if (format === 'parquet') return true;
    return source.unreadBytes * (compression === 'none' ? 1 : COMPRESSION) > this.options.smallFile;
  }

  /**
   * Reads what is new of a source into the tail.
   *
   * @returns whether the parts are others than before
   */
  async readNew(source: Source): Promise<boolean> {
    const now = performance.now();
    if (source.converting || !source.isChanged || now < source.notBefore) return false;
    const { file } = source;
    const path = source.pathIn(this.options.dataDir);
    const seen = { size: file.size, modified: file.modified };
    const before = this.#tails.length;
    let waiting = false;
    try {
      const digest = await resumeDigest({ path, compression: file.compression, from: source.read });
      const { position } = source.read;
      const to = file.compression === 'none' ? file.size : Infinity;
      const quiet = now - source.unchangedSince > QUIET || Date.now() - Number(file.modified / 1_000_000n) > QUIET;
      const content = readContent(path, file.compression, position.offset, to);
      const closed = (): boolean => {
        waiting = !quiet && file.compression === 'none';
        return !waiting;
      };
      const pending: Buffer[] = [];
      let digested = position.offset;
      const blocks = keeping(content, pending);
      for await (const batch of readRecords(blocks, file.format, position, closed)) {
        await this.#insert(batch.records, source);
        digested = digest.take(pending, batch.position.offset - digested) + digested;
        source.read = { position: batch.position, digest: digest.state() };
      }
      source.fault = null;
    } catch (error) {
      if (error instanceof ChangedContent) {
        source.replaced = true;
        return false;
      }
      source.fault = error instanceof ContentFault ? error.message : `cannot be read (${codeOf(error) ?? 'unknown'})`;
      source.notBefore = performance.now() + TRY_AGAIN;
      this.options.onFault(file.path, source.fault);
      if (!(error instanceof ContentFault)) return before !== this.#tails.length;
    }
    source.seen = seen;
    source.waiting = waiting;
    source.behindSince = null;
    return before !== this.#tails.length;
  }

  /** Inserts rows of records, all or none: what has been read moves on with them. */
  async #insert(records: readonly RawRecord[], source: Source): Promise<void> {
    const { declared } = this;
    const count = new LeftOutCount(!declared);
    const parsed: { readonly text: string; readonly line: number; readonly row: JsonObject }[] = [];
    const leaveOut = (line: number, work: () => void): void => {
      try {
        work();
      } catch (error) {
        if (!(error instanceof Unfit)) throw error;
        count.add(source.pathIn(this.options.dataDir), line, error);
      }
    };
    for (const { text, line } of records) {
      leaveOut(line, () => {
        const row = recordRow(text);
        if (row !== null && text !== null) parsed.push({ text, line, row });
      });
    }
    if (!declared) {
      const first = this.rows === 0;
      for (const { row } of parsed) this.#fields = withFieldsOf(this.#fields, row, first);
    }
    const rules = rulesOf(this.#fields, declared);
    const rows: ReadRow[] = [];
    for (const { text, line, row } of parsed) {
      leaveOut(line, () => rows.push(rowOf(text, row, this.#fields, rules, count)));
    }
    if (rows.length > 0) {
      const tail = await this.#openTail();
      await tail.insert(await this.#identified(rows), source.id);
    }
    const { total } = count;
    if (leftOutRows(total) + total.ignored + total.nulled === 0) return;
    this.#recent = together(this.#recent, total);
    this.options.onLeftOut(total);
  }

  /** The texts of rows, those without an id with one that no equal row has. */
  async #identified(rows: readonly ReadRow[]): Promise<string[]> {
    const digests = [...new Set(rows.flatMap(({ digest }) => digest ?? []))];
    if (digests.length === 0) return rows.map(({ json }) => json);
    const next = await this.#ordinals(digests, rows);
    return rows.map(({ json, digest }) => {
      if (digest === null) return json;
      const ordinal = next.get(digest) ?? 0;
      next.set(digest, ordinal + 1);
      const start = json === '{}' ? '{' : `${json.slice(0, -1)},`;
      return `${start}"id":"${generatedId(digest, ordinal)}"}`;
    });
  }

  /** The next ordinal of each digest that a stored row has. Equal rows have equal times. */
  async #ordinals(digests: readonly string[], rows: readonly ReadRow[]): Promise<Map<string, number>> {
    const times = rows.flatMap(({ json }) => /"timestamp":"([^"]{1,40})"/.exec(json)?.[1] ?? []).sort();
    const timed = rulesOf(this.#fields, this.declared).timed && times.length > 0;
    const within = timed ? ` AND timestamp BETWEEN ${quoteText(times[0]!)} AND ${quoteText(times.at(-1)!)}` : '';
    const parts = this.table.parts.map(
      ({ relation }) => `SELECT id FROM ${relation} WHERE substr(id, 1, 32) IN (SELECT unnest($1))${within}`,
    );
    const statement = await this.options.connection.prepare(
      `SELECT substr(id, 1, 32), max(${ORDINAL}) + 1 FROM (${parts.join(' UNION ALL ')}) GROUP BY 1`,
    );
    try {
      statement.bind([listValue([...digests])]);
      const found = await statement.runAndReadAll();
      return new Map(found.getRows().map(([digest, next]) => [String(digest), Number(next)]));
    } finally {
      statement.destroySync();
    }
  }

  /** The tail that takes rows of the fields now. */
  async #openTail(): Promise<Tail> {
    const last = this.#tails.at(-1);
    const sealed = this.#conversion?.tails.includes(last!) === true;
    if (last !== undefined && !sealed && sameFields(last.fields, this.#fields)) return last;
    const { connection, index } = this.options;
    const tail = await Tail.create(connection, `tail ${index} ${this.#nextTail++}`, this.#fields);
    this.#tails.push(tail);
    this.#revision++;
    return tail;
  }

  /** What queries read. */
  get table(): StoredTable {
    const { name } = this.options;
    const schema = { name, columns: columnsOf(this.#fields) };
    return { schema, parts: this.#parts, revision: this.#revision };
  }

  #parts: readonly Part[] = [];

  /**
   * Makes the parts anew from segments and tails.
   *
   * @returns what to do when nobody reads the parts before any more
   * @throws what attaching a segment throws, which another process may have removed
   */
  async rebuild(): Promise<() => Promise<void>> {
    const { connection } = this.options;
    const used = new Set<string>();
    const parts: Part[] = [];
    for (const segment of this.#segments) {
      if (this.#rowsOf(segment) === 0) continue;
      const relation = await this.#attach(segment);
      const dropped = Object.keys(segment.sources).filter((id) => !this.#sources.has(Number(id)));
      const { rows, odd, earliest, latest, single, fields } = segment;
      const bounds = { earliest: bigintOf(earliest), latest: bigintOf(latest), grows: false };
      const where = dropped.length === 0 ? '' : ` WHERE ${SOURCE_COLUMN} NOT IN (${dropped.join(', ')})`;
      const same = sameFields(fields, this.#fields);
      const as = await this.#inForm(`${relation}.rows`, fields, single, where, used);
      parts.push({ relation: as, rows: rows - odd, ...bounds, single: new Set(same ? single : []) });
      if (odd === 0) continue;
      const oddOnes = await this.#inForm(`${relation}.odd`, fields, [], where, used);
      parts.push({ relation: oddOnes, rows: odd, ...bounds, single: new Set() });
    }
    for (const tail of this.#tails) {
      const relation = await this.#inForm(tail.relation, tail.fields, [], '', used);
      parts.push({ relation, rows: tail.rows, earliest: null, latest: null, single: new Set(), grows: true });
    }
    if (parts.length === 0) {
      const empty = castColumns([], this.#fields);
      const relation = `(SELECT ${empty === '' ? 'NULL' : empty} WHERE false)`;
      parts.push({ relation, rows: 0, earliest: null, latest: null, single: new Set(), grows: false });
    }
    this.#parts = parts;
    this.#revision++;
    const views = [...this.#views].filter(([, view]) => !used.has(view));
    for (const [what] of views) this.#views.delete(what);
    const files = new Set(this.#segments.map(({ file }) => file));
    const detached = [...this.#attached].filter(([file]) => !files.has(file));
    for (const [file] of detached) this.#attached.delete(file);
    return async () => {
      for (const [, view] of views) await connection.run(`DROP VIEW IF EXISTS ${view}`);
      for (const [, alias] of detached) await connection.run(`DETACH ${alias}`);
    };
  }

  async #attach({ file }: Segment): Promise<string> {
    const { connection, folder, index } = this.options;
    let alias = this.#attached.get(file);
    if (alias === undefined) {
      alias = quoteName(`segment ${index} ${file}`);
      await connection.run(`ATTACH ${quoteText(join(folder, file))} AS ${alias} (READ_ONLY)`);
      this.#attached.set(file, alias);
    }
    return alias;
  }

  /** The relation, or a view of it with the rows and in the form of the table now. */
  async #inForm(
    relation: string,
    fields: readonly RestField[],
    single: readonly string[],
    where: string,
    used: Set<string>,
  ): Promise<string> {
    const same = sameFields(fields, this.#fields);
    if (where === '' && same) return relation;
    const columns = same
      ? fields.map(({ name }) => quoteName(name)).join(', ')
      : castColumns(fields, this.#fields, new Set(single));
    const text = `SELECT ${columns} FROM ${relation}${where}`;
    let view = this.#views.get(text);
    if (view === undefined) {
      view = quoteName(`view ${this.options.index} ${this.#nextView++}`);
      await this.options.connection.run(`CREATE VIEW ${view} AS ${text}`);
      this.#views.set(text, view);
    }
    used.add(view);
    return view;
  }

  #rowsOf({ sources }: Segment): number {
    return Object.entries(sources).reduce((sum, [id, rows]) => sum + (this.#sources.has(Number(id)) ? rows : 0), 0);
  }

  /**
   * What a conversion should do now: store the tails, read a backlog, merge small segments; null: nothing.
   *
   * @param roll whether the tails are to be stored
   */
  nextJob(roll: boolean, most: number): Omit<SegmentJob, 'path' | 'folder'> | null {
    if (this.#conversion !== null) return null;
    const now = performance.now();
    const backlog = this.sources
      .filter((source) => this.isBacklog(source) && now >= source.notBefore)
      .sort((a, b) => (a.file.modified < b.file.modified ? 1 : -1));
    const merged = this.#mergeable();
    if (!roll && backlog.length === 0 && merged.length === 0) return null;
    const ranges: Range[] = [];
    let bytes = 0;
    for (const source of this.sources) {
      if (source.stored.position.offset === source.read.position.offset) continue;
      ranges.push(this.#range(source, source.read.position.offset));
    }
    for (const source of backlog) {
      if (bytes > most) break;
      // What is in the tails is stored first.
      if (source.stored.position.offset !== source.read.position.offset) continue;
      ranges.push(this.#range(source, null));
      source.converting = true;
      bytes += source.unreadBytes;
    }
    this.#conversion = { ranges, tails: [...this.#tails], merged };
    this.#sealed = this.#recent;
    this.#recent = NOTHING_LEFT_OUT;
    const withPath = (segment: Segment): { path: string; segment: Segment } => ({
      path: join(this.options.folder, segment.file),
      segment,
    });
    return {
      table: this.name,
      fields: this.#fields,
      declared: this.declared,
      ranges,
      merged: merged.map((segment) => ({
        ...withPath(segment),
        dropped: Object.keys(segment.sources)
          .map(Number)
          .filter((id) => !this.#sources.has(id)),
      })),
      others: this.#segments.filter((segment) => !merged.includes(segment)).map(withPath),
      most,
    };
  }

  #range(source: Source, to: number | null): Range {
    const { identity, format, compression } = source.file;
    const path = source.pathIn(this.options.dataDir);
    return {
      source: source.id,
      path,
      identity,
      format,
      compression,
      from: source.stored,
      to,
      closed: to === null && this.#isQuiet(source),
    };
  }

  #isQuiet({ file }: Source): boolean {
    return Date.now() - Number(file.modified / 1_000_000n) > QUIET;
  }

  /** Segments of about one size, or with rows to drop. */
  #mergeable(): readonly Segment[] {
    const small = this.#segments.filter(({ rows }) => rows < LARGE_SEGMENT / 2);
    const bySize = new Map<number, Segment[]>();
    for (const segment of small) {
      const size = Math.floor(Math.log(segment.rows) / Math.log(MERGED_AT_ONCE));
      bySize.set(size, [...(bySize.get(size) ?? []), segment]);
    }
    const found = [...bySize.values()].find((segments) => segments.length >= MERGED_AT_ONCE);
    if (found !== undefined) return found.slice(0, MERGED_AT_ONCE);
    const sparse = this.#segments.find(
      (segment) => this.#rowsOf(segment) < segment.rows / 2 && this.#rowsOf(segment) > 0,
    );
    return sparse === undefined ? [] : [sparse];
  }

  /** A name for the next segment's file. */
  nextFile(): string {
    return `${this.#nextSegment++}.duckdb`;
  }

  /**
   * Takes over what a conversion has done: `manifest` then tells what is stored.
   *
   * @returns tails that are no part of the table any more
   * @throws ChangedContent where a source no longer holds what the tails have of it; then nothing has changed
   */
  finish(file: string, { segment, fields, ends, faults, leftOut }: SegmentResult): readonly Tail[] {
    const { tails, merged, ranges } = this.#conversion!;
    for (const { source, to } of ranges) {
      if (to !== null && this.#sources.has(source) && ends[source]?.position.offset !== to) throw new ChangedContent();
    }
    this.#conversion = null;
    this.conversions++;
    const others = this.#segments.filter((other) => !merged.includes(other) && this.#rowsOf(other) > 0);
    this.#segments = segment === null ? others : [...others, { file, ...segment }];
    this.#fields = unitedFields(this.#fields, fields);
    this.#stored = together(this.#stored, leftOut);
    this.#sealed = NOTHING_LEFT_OUT;
    if (leftOutRows(leftOut) > 0 && ranges.some(({ to }) => to === null)) this.options.onLeftOut(leftOut);
    for (const { source: id, to } of ranges) {
      const source = this.sources.find((one) => one.id === id);
      const end = ends[id];
      if (source === undefined) continue;
      source.converting = false;
      if (end === undefined) continue;
      source.stored = end;
      if (to !== null) continue;
      source.read = end;
      source.fault = faults[id] ?? null;
      const { size, modified, compression, format } = source.file;
      const whole = format === 'parquet' || compression !== 'none' || end.position.offset === size;
      if (whole && end.position.offset > 0) source.seen = { size, modified };
      if (source.fault !== null) {
        source.notBefore = performance.now() + TRY_AGAIN;
        this.options.onFault(source.file.path, source.fault);
      }
      if (!source.isChanged) source.behindSince = null;
    }
    for (const tail of tails) this.#tails.splice(this.#tails.indexOf(tail), 1);
    return tails;
  }

  /** A conversion has failed: its sources are looked at again. */
  fail(until: number): void {
    for (const { source: id, to } of this.#conversion?.ranges ?? []) {
      const source = this.sources.find((one) => one.id === id);
      if (source === undefined) continue;
      source.converting = false;
      if (to === null) source.notBefore = until;
    }
    this.#conversion = null;
    this.#recent = together(this.#sealed, this.#recent);
    this.#sealed = NOTHING_LEFT_OUT;
  }

  /** When the newest of its files has changed: milliseconds since the epoch. */
  get newest(): number {
    return Math.max(0, ...this.sources.map(({ file }) => Number(file.modified / 1_000_000n)));
  }

  isDisposed = false;

  /** Gives back what it has in the database, when nobody reads it any more. */
  async dispose(): Promise<void> {
    const { connection } = this.options;
    this.isDisposed = true;
    for (const view of this.#views.values()) await connection.run(`DROP VIEW IF EXISTS ${view}`);
    for (const tail of this.#tails) await tail.drop();
    for (const alias of this.#attached.values()) await connection.run(`DETACH ${alias}`);
  }

  get manifest(): Manifest {
    return {
      fields: this.#fields,
      declared: this.declared,
      sources: this.sources.filter(({ stored }) => stored.position.offset > 0).map(({ record }) => record),
      segments: this.#segments,
      nextSource: this.#sources.next,
      nextSegment: this.#nextSegment,
      leftOut: this.#stored,
    };
  }
}

function bigintOf(digits: string | null): bigint | null {
  return digits === null ? null : BigInt(digits);
}
