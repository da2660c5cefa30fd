/** Has segments of the tables written, one at a time, and takes them over. */
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';

import { buildingPrefix } from '../data/conversion-folders';
import type { Log } from '../engine/log';
import { messageOf } from '../engine/native-error';
import type { CacheFolder } from './cache-folder';
import type { Converter } from './converter';
import { faultKind } from './fault-kind';
import type { LiveTable, TableJob } from './live-table';
import type { Segment } from './segment';
import type { SegmentResult } from './segment-job';
import type { CleanUp } from './table-parts';
import type { TailRoom } from './tail-room';
import type { TailWriter } from './tail-writer';

/** Milliseconds after which a tail is stored, if it is not tiny: a start reads it again. */
const TAIL_AGE = 10 * 60_000;
/** The same without a new row: what does not grow is queried faster. */
const TAIL_REST = 5_000;
const TINY = 256 * 1024;
/** Tails of a table that are stored however small they are: a query reads each. */
const MOST_TAILS = 16;
/** What a conversion reads where it can write in chunks (`SegmentJob.atOnce`): so many, and bytes at most. */
const CHUNKS = 6;
const LARGEST = 512 * 1024 * 1024;
/** Bytes of content that a conversion reads after failures, at least. */
const LEAST = 4 * 1024 * 1024;
/** Bytes of segments that are merged for each byte of content that is read at once: they are compressed. */
const MERGED = 1 / 4;
/** A segment while it is written in the folder of the others. */
const UNFINISHED = 'unfinished.duckdb';
/** Milliseconds until a conversion that failed is tried again: doubled each time, up to the last. */
const FIRST_PAUSE = 2_000;
const LAST_PAUSE = 60_000;

export interface ConversionsOptions {
  readonly folder: CacheFolder;
  readonly log: Log;
  readonly converter: () => Converter;
  /** Bytes of content that one conversion sorts at once. */
  readonly atOnce: number;
  /** Bytes in memory of all tables beyond which they are stored. */
  readonly tailBytes: number;
  /** Takes why rows cannot be stored; null: they can. */
  readonly onFault: (fault: string | null) => void;
}

/** A table whose last conversion failed. */
interface Failed {
  readonly fault: string;
  /** Milliseconds until it is tried again, and when that is. */
  readonly pause: number;
  readonly notBefore: number;
  /** Bytes that are sorted at once then: it may have been too much for the memory. */
  readonly atOnce: number;
}

interface Conversion {
  readonly table: LiveTable;
  /** Of what is half made. */
  readonly folder: string;
  readonly isMerge: boolean;
  /** It stores a part of what has been too much at once: the next one does, too. */
  readonly inParts: boolean;
  readonly started: number;
  outcome: SegmentResult | Error | null;
}

/** What a conversion has changed. */
export interface Converted {
  readonly table: LiveTable;
  readonly cleanUp: CleanUp;
  /** Segments that are no part of the table any more. */
  readonly gone: readonly Segment[];
}

export class Conversions {
  #current: Conversion | null = null;
  #converter: Converter | null = null;
  #tailWriter: TailWriter | null = null;
  /** Tables that could not be stored, by name. */
  readonly #failed = new Map<string, Failed>();
  /** Bytes of segments that are merged at once: as many as the memory has been enough for. */
  #merged: number;

  constructor(private readonly options: ConversionsOptions) {
    this.#merged = options.atOnce * MERGED;
  }

  get isRunning(): boolean {
    return this.#current !== null;
  }

  /** Whether rows are being stored: a merge stores none. */
  get isStoring(): boolean {
    return this.#current !== null && !this.#current.isMerge;
  }

  /** The table of a conversion that is tried again: each new tail beside what it stores would remain if it failed, too. */
  get retried(): LiveTable | null {
    const table = this.#current?.table;
    return table !== undefined && this.#failed.has(table.name) ? table : null;
  }

  /** Whether the last conversion of a table has failed. */
  hasFailed({ name }: LiveTable): boolean {
    return this.#failed.has(name);
  }

  /** Begins anew, with tails in another database. */
  begin(tailWriter: TailWriter): void {
    this.#tailWriter = tailWriter;
  }

  /** Begins with what is due, of one table. */
  async start(tables: readonly LiveTable[], room: TailRoom): Promise<void> {
    if (this.#current !== null) return;
    const now = performance.now();
    const least = room === 'over' ? 0 : Math.min(TINY, this.options.tailBytes);
    for (const table of [...tables].sort((a, b) => b.newest - a.newest)) {
      const failed = this.#failed.get(table.name);
      if (failed !== undefined && now < failed.notBefore) continue;
      const { count, bytes, age, rest } = table.tails;
      const isDue = bytes > least && (room !== 'free' || age > TAIL_AGE || rest > TAIL_REST);
      const roll = isDue || count > MOST_TAILS;
      // What failed twice is no matter of the moment.
      const inParts = failed !== undefined && failed.pause > FIRST_PAUSE;
      const { atOnce } = failed ?? this.options;
      const most = failed === undefined ? Math.max(atOnce, Math.min(LARGEST, CHUNKS * atOnce)) : atOnce;
      const next = table.nextJob(roll, { atOnce, most, merged: this.#merged }, inParts);
      if (next === null) {
        // Nothing is left of what failed.
        this.#succeed(table);
        continue;
      }
      try {
        const folder = await mkdtemp(join(this.options.folder.path, buildingPrefix(process.pid)));
        const isMerge = next.job.merged.length > 0;
        const conversion: Conversion = { table, folder, isMerge, inParts, started: performance.now(), outcome: null };
        this.#current = conversion;
        const done = (outcome: SegmentResult | Error): void => void (conversion.outcome = outcome);
        this.#store(next, folder).then(done, (error: unknown) => done(asError(error)));
      } catch (error) {
        this.#fail(table, error);
      }
      return;
    }
  }

  /** Has a segment written, as `segmentIn(folder)`. */
  async #store({ job, sealed }: TableJob, folder: string): Promise<SegmentResult> {
    const writer = this.#tailWriter;
    const path = segmentIn(folder);
    if (sealed !== null && writer !== null) {
      // The only folder in which the database of the tails may write.
      const unfinished = join(this.options.folder.segmentsOf(job.table), UNFINISHED);
      try {
        const segment = await writer.write(sealed.rows, job.fields, unfinished);
        if (segment !== null) await rename(unfinished, path);
        const ends = Object.fromEntries(job.ranges.map(({ source, to }) => [source, { ...to!, whole: false }]));
        return { segment, fields: job.fields, ends, changed: [], faults: {}, leftOut: sealed.leftOut };
      } catch (error) {
        if (writer.isClosed) throw error;
        // With memory of its own it may succeed.
        const facts = { table: job.table, fault: faultKind(error) };
        this.options.log.warn(facts, 'Rows in memory are read again to be stored');
      }
    }
    this.#converter ??= this.options.converter();
    return this.#converter.convert({ ...job, path, folder });
  }

  /** Takes over what a conversion has done; null: nothing. */
  async finish(): Promise<Converted | null> {
    const conversion = this.#current;
    if (conversion === null || conversion.outcome === null) return null;
    this.#current = null;
    const { table, folder, isMerge, inParts, started, outcome } = conversion;
    try {
      if (outcome instanceof Error) throw outcome;
      const file = table.nextFile();
      const path = this.options.folder.segmentsOf(table.name);
      if (outcome.segment !== null) {
        await mkdir(path, { recursive: true });
        await rename(segmentIn(folder), join(path, file));
      }
      const before = table.segments;
      const cleanUp = table.finish(file, outcome);
      table.dropEmptySegments();
      const gone = before.filter((segment) => !table.segments.includes(segment));
      const rows = outcome.segment?.rows ?? 0;
      const ms = Math.round(performance.now() - started);
      this.options.log.info({ table: table.name, rows, segments: table.segments.length, ms }, 'Rows converted');
      if (!inParts) this.#succeed(table);
      return { table, cleanUp, gone };
    } catch (error) {
      if (isMerge) this.#merged /= 2;
      this.#fail(table, error);
      return null;
    } finally {
      await rm(folder, { recursive: true, force: true }).catch(() => undefined);
    }
  }

  /** Ends what is under way, and begins nothing more until `close`. */
  async end(): Promise<void> {
    await Promise.all([this.#tailWriter?.close(), this.#converter?.close()]);
    this.#tailWriter = this.#converter = null;
  }

  /** Clears away what was under way. */
  async close(): Promise<void> {
    await this.end();
    if (this.#current !== null) await rm(this.#current.folder, { recursive: true, force: true });
    this.#current = null;
  }

  #succeed({ name }: LiveTable): void {
    if (this.#failed.delete(name)) this.#report();
  }

  #fail(table: LiveTable, error: unknown): void {
    const before = this.#failed.get(table.name);
    const pause = before === undefined ? FIRST_PAUSE : Math.min(LAST_PAUSE, 2 * before.pause);
    const notBefore = performance.now() + pause;
    const atOnce = Math.max(LEAST, Math.floor((before ?? this.options).atOnce / 4));
    const fault = `Rows of ${table.name} cannot be stored in CACHE_DIR (${faultKind(error)}).`;
    this.#failed.set(table.name, { fault, pause, notBefore, atOnce });
    table.fail(notBefore);
    this.#report();
  }

  #report(): void {
    const [first] = this.#failed.values();
    this.options.onFault(first?.fault ?? null);
  }
}

function segmentIn(folder: string): string {
  return join(folder, 'segment.duckdb');
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(messageOf(error));
}
