/** In which order records of a table have arrived, and where in its files they are (docs/decisions/tail.md). */
import { join } from 'node:path';

import { codeOf } from '../engine/native-error';
import { beginsWith } from './copies';
import type { FoundFile } from './folder-scan';
import type { Position } from './records';
import { ChangedContent, resumeDigest } from './resume-digest';
import type { Progress } from './segment-job';
import { type Source, UNREAD } from './source';

/** A file, whatever its name, of which records have arrived. */
export interface ArrivingFile {
  /** Of all such files of the table. */
  readonly number: number;
  file: Pick<FoundFile, 'identity' | 'family' | 'format'>;
  /** How much has arrived. */
  progress: Progress;
  /** null: there is no such file, as far as is known. */
  source: Source | null;
}

/** Consecutive records of one file. */
export interface Arrival {
  readonly from: ArrivingFile;
  /** Records of the table that arrived before. */
  readonly after: number;
  readonly start: Position;
  readonly end: Position;
  /** When: milliseconds since the epoch. */
  readonly at: number;
}

/** What is written down when records have arrived. Plain data. */
export interface ArrivalRecord extends Pick<ArrivingFile['file'], 'identity' | 'family' | 'format'> {
  readonly table: string;
  /** Of the file. */
  readonly number: number;
  readonly after: number;
  readonly start: Position;
  readonly end: Progress;
  readonly at: number;
}

/** All that is known of a table's arrivals, to go on from in another process. Plain data. */
export interface ArrivalsState {
  readonly table: string;
  readonly count: number;
  readonly files: readonly (Pick<ArrivalRecord, 'number' | 'identity' | 'family' | 'format'> & {
    readonly progress: Progress;
  })[];
  readonly arrivals: readonly (Pick<ArrivalRecord, 'number' | 'after' | 'start' | 'at'> & { readonly end: Position })[];
}

/** Milliseconds for which arrivals can be read again. */
const REMEMBERED = 70 * 60_000;
const MOST_ARRIVALS = 100_000;
/** Bytes up to which arrivals of one file in a row count as one. */
const JOINED = 1024 * 1024;

/** The arrivals of one table. */
export class Arrivals {
  #all: Arrival[] = [];
  #count = 0;
  #published = 0;
  readonly #files = new Map<Source, ArrivingFile>();
  /** Files that are not in the folder, or have not been found in it yet, by identity. */
  readonly #missing = new Map<string, ArrivingFile>();
  #nextNumber = 0;

  constructor(
    private readonly dataDir: string,
    written: readonly (ArrivalsState | ArrivalRecord)[] = [],
  ) {
    const files = new Map<number, ArrivingFile>();
    const fileOf = (number: number, file: ArrivingFile['file'], progress: Progress): ArrivingFile => {
      const known = files.get(number) ?? { number, file, progress, source: null };
      known.file = file;
      known.progress = progress;
      files.set(number, known);
      this.#nextNumber = Math.max(this.#nextNumber, number + 1);
      return known;
    };
    for (const one of written) {
      if ('files' in one) {
        for (const { number, progress, ...file } of one.files) fileOf(number, file, progress);
        for (const { number, ...arrival } of one.arrivals) {
          const from = files.get(number);
          if (from !== undefined) this.#add({ ...arrival, from });
        }
        this.#count = one.count;
      } else {
        const { number, identity, family, format, after, start, end, at } = one;
        const from = fileOf(number, { identity, family, format }, end);
        this.#add({ from, after, start, end: end.position, at });
      }
    }
    for (const file of files.values()) this.#missing.set(file.file.identity, file);
    this.#published = this.#count;
  }

  /** Records that have arrived, left-out ones included. */
  get count(): number {
    return this.#published;
  }

  /** What is taken has been written down, and may be read. */
  publish(): void {
    this.#published = this.#count;
  }

  /** Takes what has been read of the sources since. @returns what has arrived */
  async take(table: string, sources: readonly Source[], now: number): Promise<readonly ArrivalRecord[]> {
    const present = new Set(sources);
    for (const [source, file] of this.#files) {
      if (present.has(source)) continue;
      this.#files.delete(source);
      file.source = null;
      this.#missing.set(file.file.identity, file);
    }
    const records: ArrivalRecord[] = [];
    for (const source of sources) {
      const { read, file } = source;
      // What a Parquet file holds is in segments alone, in no order.
      if (file.format === 'parquet' || read.position.offset === 0) continue;
      const from = this.#files.get(source) ?? (await this.#found(source));
      if (from === null) continue;
      const { identity, family, format } = file;
      from.file = { identity, family, format };
      const start = from.progress.position;
      if (read.position.records <= start.records) continue;
      const { number } = from;
      const record = { table, number, identity, family, format, after: this.#count, start, end: read, at: now };
      this.#add({ from, after: this.#count, start, end: read.position, at: now });
      from.progress = read;
      records.push(record);
    }
    this.#forget(now);
    return records;
  }

  /** What has to be written down so that another process can go on. */
  state(table: string): ArrivalsState {
    const files = [...this.#files.values(), ...this.#missing.values()];
    return {
      table,
      count: this.#count,
      files: files.map(({ number, file, progress }) => ({ number, ...file, progress })),
      arrivals: this.#all.map(({ from: { number }, after, start, end, at }) => ({ number, after, start, end, at })),
    };
  }

  /** Whether everything that arrived behind so many records is known. */
  reaches(after: number): boolean {
    return after <= this.#published && after >= (this.#all[0]?.after ?? this.#count);
  }

  /** What arrived behind so many records, the first first. */
  *behind(after: number): Generator<Arrival> {
    let [low, high] = [0, this.#all.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (endOf(this.#all[middle]!) <= after) low = middle + 1;
      else high = middle;
    }
    yield* this.#all.slice(low);
  }

  /** Of an arrival the part before a position is known to end there: what follows can be read without it. */
  split(arrival: Arrival, at: Position): void {
    const index = this.#all.indexOf(arrival);
    if (index === -1 || at.records <= arrival.start.records || at.records >= arrival.end.records) return;
    const after = arrival.after + at.records - arrival.start.records;
    this.#all.splice(index, 1, { ...arrival, end: at }, { ...arrival, after, start: at });
  }

  #add(arrival: Arrival): void {
    const last = this.#all.at(-1);
    this.#count = endOf(arrival);
    const joins =
      last?.from === arrival.from &&
      last.end.records === arrival.start.records &&
      arrival.end.offset - last.start.offset <= JOINED;
    if (joins) this.#all[this.#all.length - 1] = { ...last, end: arrival.end, at: arrival.at };
    else this.#all.push(arrival);
  }

  #forget(now: number): void {
    let old = Math.max(0, this.#all.length - MOST_ARRIVALS);
    while (old < this.#all.length && this.#all[old]!.at < now - REMEMBERED) old++;
    if (old === 0) return;
    this.#all = this.#all.slice(old);
    const known = new Set(this.#all.map(({ from }) => from));
    for (const [identity, file] of this.#missing) if (!known.has(file)) this.#missing.delete(identity);
  }

  /** The file of a new source: one that was there before, whose content it has, or a new one; null: not known yet. */
  async #found(source: Source): Promise<ArrivingFile | null> {
    const { identity, family, format } = source.file;
    const same = this.#missing.get(identity);
    const related = [...this.#missing.values()].filter((one) => one !== same && one.file.family === family);
    let found: ArrivingFile | null = null;
    for (const candidate of same === undefined ? related : [same, ...related]) {
      if (candidate.file.format !== format) continue;
      const has = await this.#has(source, candidate, candidate === same);
      if (has === null) return null;
      if (!has) continue;
      found = candidate;
      this.#missing.delete(candidate.file.identity);
      break;
    }
    found ??= { number: this.#nextNumber++, file: { identity, family, format }, progress: UNREAD, source };
    found.source = source;
    this.#files.set(source, found);
    return found;
  }

  /** Whether a source holds what arrived of a file; null: it cannot be read now. */
  async #has({ file, read }: Source, { progress }: ArrivingFile, same: boolean): Promise<boolean | null> {
    const { position, digest } = progress;
    if (read.position.offset === position.offset && isEqual(read.digest, digest)) return true;
    const content = { path: join(this.dataDir, file.path), compression: file.compression };
    try {
      if (!same) return await beginsWith(content, progress);
      await resumeDigest({ ...content, from: progress });
      return true;
    } catch (error) {
      if (error instanceof ChangedContent || codeOf(error) === null) return false;
      return null;
    }
  }
}

function isEqual(a: Progress['digest'], b: Progress['digest']): boolean {
  return a.chain === b.chain && a.rest === b.rest;
}

/** Records that had arrived when an arrival had. */
export function endOf({ after, start, end }: Arrival): number {
  return after + end.records - start.records;
}
