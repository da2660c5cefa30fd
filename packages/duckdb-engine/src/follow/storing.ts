/** Has sealed files written, one at a time: of hot relations, of what is too much for the hot file, and of sealed files. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { DuckDBConnection } from '@duckdb/node-api';

import { Watch } from '../data/conversion-progress';
import { latestRowsFirst } from '../data/time-column';
import type { Log } from '../engine/log';
import { quoteText } from '../sql';
import { type BacklogOptions, INTERRUPTED_EVERY, inWorkshop, PARQUET, readBacklog, type Resources } from './backlog';
import {
  castColumns,
  ARRIVAL_COLUMN,
  areApart,
  isNotOf,
  latestFirst,
  type Segment,
  singleOfAll,
  SOURCE_COLUMN,
} from './segment';
import { faultKind } from './folder-faults';
import type { HotRelation, TailRoom } from './hot-relations';
import { NOTHING_LEFT_OUT } from './left-out';
import type { LiveTable, Sealed } from './live-table';
import { SegmentFile } from './segment-file';
import type { Source } from './source';
import { ROW_GROUP, type Store } from './store';
import type { CleanUp } from './table-parts';

/** Milliseconds after which hot rows are sealed, if they are not few. */
const HOT_AGE = 10 * 60_000;
/** The same without a new row: what does not grow is queried faster. */
const HOT_REST = 5_000;
const FEW = 256 * 1024;
/** Relations of a table that are sealed however small they are: a query reads each. */
const MOST_RELATIONS = 16;
/** What is read of a backlog at once, in pieces that are sorted at once; and bytes at most. */
const PIECES = 6;
const LARGEST = 512 * 1024 * 1024;
/** Bytes of content that are sorted at once after failures, at least. */
const LEAST = 4 * 1024 * 1024;
/** Bytes of sealed files that are merged for each byte of content that is sorted at once: they are compressed. */
const MERGED = 1 / 4;
/** Milliseconds until what failed is tried again: doubled each time, up to the last. */
const FIRST_PAUSE = 2_000;
const LAST_PAUSE = 60_000;
/** Rows that are sorted at once where the memory is short: as many as DuckDB reads at once. */
const FEWEST_ROWS = 2_048;
const UNFINISHED = 'unfinished.duckdb';

export interface StoringOptions {
  readonly store: Store;
  readonly dataDir: string;
  readonly log: Log;
  readonly resources: Resources;
  /** Bytes of content that are sorted at once. */
  readonly atOnce: number;
  /** Bytes of hot rows of all tables beyond which they are sealed. */
  readonly tailBytes: number;
  /** Takes why rows cannot be stored; null: they can. */
  readonly onFault: (fault: string | null) => void;
}

/** A table of which the last file could not be written. */
interface Failed {
  readonly fault: string;
  /** Milliseconds until it is tried again, and when that is. */
  readonly pause: number;
  readonly notBefore: number;
  /** Bytes that are sorted at once then: it may have been too much for the memory. */
  readonly atOnce: number;
}

type Kind = 'hot' | 'backlog' | 'merge';

interface Job {
  readonly kind: Kind;
  readonly table: LiveTable;
  readonly sources: readonly Source[];
  readonly started: number;
  outcome: Sealed | Error | null;
}

export class Storing {
  #current: Job | null = null;
  #settled: Promise<void> = Promise.resolve();
  #connection: DuckDBConnection | null = null;
  #ending = new AbortController();
  readonly #failed = new Map<string, Failed>();
  /** Bytes of sealed files that are merged at once: as many as the memory has been enough for. */
  #merged: number;

  constructor(private readonly options: StoringOptions) {
    this.#merged = options.atOnce * MERGED;
  }

  get isRunning(): boolean {
    return this.#current !== null;
  }

  /** Whether rows are being stored that cannot be read yet. */
  get isReading(): boolean {
    return this.#current?.kind === 'backlog';
  }

  /** Begins anew. @param connection of its own, to the database of the store */
  begin(connection: DuckDBConnection): void {
    this.#connection = connection;
    this.#ending = new AbortController();
    this.#current = null;
  }

  /** Begins with what is due, of one table. @param before `performance.now()`: hot rows from before are due; null: none are for that */
  start(tables: readonly LiveTable[], room: TailRoom, before: number | null): void {
    if (this.#current !== null || this.#ending.signal.aborted) return;
    const now = performance.now();
    for (const table of [...tables].sort((a, b) => b.newest - a.newest)) {
      const failed = this.#failed.get(table.name);
      if (failed !== undefined && now < failed.notBefore) continue;
      const { atOnce } = failed ?? this.options;
      const most = failed === undefined ? Math.max(atOnce, Math.min(LARGEST, PIECES * atOnce)) : atOnce;
      const isDue = this.#isDue(table, room, before);
      const backlog = this.#backlogOf(table, atOnce, most);
      const isScattered = table.segments.isScattered(this.#merged, table.fields);
      if (isDue && !isScattered) {
        return this.#do('hot', table, [], () => this.#sealHot(table, failed !== undefined));
      }
      if (backlog.length > 0 && !isScattered) {
        const bounds = { atOnce, most, closely: failed !== undefined };
        return this.#do('backlog', table, backlog, () => this.#readBacklog(table, backlog, bounds));
      }
      const merged = table.segments.mergeable(this.#merged, table.fields);
      if (merged.length > 0) return this.#do('merge', table, [], () => this.#merge(table, merged));
      // Nothing is left of what failed.
      this.#succeed(table);
    }
  }

  #isDue({ hot }: LiveTable, room: TailRoom, before: number | null): boolean {
    if (hot.all.length === 0) return false;
    if (hot.all.length > MOST_RELATIONS || hot.all.some(({ since }) => since < (before ?? 0))) return true;
    const least = room === 'over' ? 0 : Math.min(FEW, this.options.tailBytes);
    return hot.bytes > least && (room !== 'free' || hot.age > HOT_AGE || hot.rest > HOT_REST);
  }

  /** The newest files that are too much for the hot file, so many. */
  #backlogOf(table: LiveTable, atOnce: number, most: number): readonly Source[] {
    const now = performance.now();
    const all = table.sources.filter((source) => table.isBacklog(source) && now >= source.notBefore);
    const found: Source[] = [];
    let bytes = 0;
    for (const source of all.sort((a, b) => (a.file.modified < b.file.modified ? 1 : -1))) {
      if (bytes > most) break;
      found.push(source);
      // Rows of lines can be sorted piece by piece, as many as are needed.
      const isParquet = source.file.format === 'parquet';
      bytes += source.unreadBytes * (isParquet ? PARQUET : 1) * (!isParquet && table.declared ? 1 : most / atOnce);
    }
    return found;
  }

  #do(kind: Kind, table: LiveTable, sources: readonly Source[], work: () => Promise<Sealed>): void {
    const job: Job = { kind, table, sources, started: performance.now(), outcome: null };
    this.#current = job;
    table.isBusy = true;
    for (const source of sources) source.converting = true;
    this.#settled = work().then(
      (sealed) => void (job.outcome = sealed),
      (error: unknown) =>
        void (job.outcome = error instanceof Error ? error : new Error(faultKind(error), { cause: error })),
    );
  }

  /** Takes over what has been written. @returns the table, and what to do when nobody reads what it was; null: nothing has */
  async finish(): Promise<{ readonly table: LiveTable; readonly cleanUp: CleanUp } | null> {
    const job = this.#current;
    // What ends is no fault, and its file goes.
    if (job === null || job.outcome === null || this.#ending.signal.aborted) return null;
    this.#current = null;
    const { kind, table, sources, started, outcome } = job;
    table.isBusy = false;
    for (const source of sources) source.converting = false;
    try {
      if (outcome instanceof Error) throw outcome;
      const cleanUp = await table.seal(outcome);
      const rows = outcome.written?.rows ?? 0;
      const ms = Math.round(performance.now() - started);
      this.options.log.info({ table: table.name, rows, files: table.segments.all.length, ms }, 'Rows stored');
      this.#succeed(table);
      return { table, cleanUp };
    } catch (error) {
      if (kind === 'merge') this.#merged /= 2;
      this.#fail(job, error);
      return null;
    } finally {
      await this.#clear();
    }
  }

  async #clear(): Promise<void> {
    await rm(this.options.store.building, { recursive: true, force: true }).catch(() => undefined);
  }

  /** Ends what is under way. @param looked settles when nobody takes over any more what has been written */
  async end(looked: Promise<void>): Promise<void> {
    this.#ending.abort();
    // Between two statements there is nothing to interrupt.
    const interrupting = setInterval(() => this.#connection?.interrupt(), INTERRUPTED_EVERY);
    await Promise.all([this.#settled, looked]);
    clearInterval(interrupting);
    await this.#clear();
    this.#connection?.closeSync();
    this.#connection = null;
    this.#current = null;
  }

  #succeed({ name }: LiveTable): void {
    if (this.#failed.delete(name)) this.#report();
  }

  #fail({ table, sources }: Job, error: unknown): void {
    const before = this.#failed.get(table.name);
    const pause = before === undefined ? FIRST_PAUSE : Math.min(LAST_PAUSE, 2 * before.pause);
    const notBefore = performance.now() + pause;
    const atOnce = Math.max(LEAST, Math.floor((before ?? this.options).atOnce / 4));
    const fault = `Rows of ${table.name} cannot be stored in CACHE_DIR (${faultKind(error)}).`;
    this.#failed.set(table.name, { fault, pause, notBefore, atOnce });
    for (const source of sources) source.notBefore = notBefore;
    this.#report();
  }

  #report(): void {
    const [first] = this.#failed.values();
    this.options.onFault(first?.fault ?? null);
  }

  /** Seals the hot relations of a table as they are now. @param sparingly with little memory */
  async #sealHot(table: LiveTable, sparingly: boolean): Promise<Sealed> {
    const connection = this.#connection!;
    const relations = table.closeHot();
    const { fields, time } = table;
    // The only folder in which the database of the store may write.
    const path = join(this.options.store.filesOf(table.name), UNFINISHED);
    const file = await SegmentFile.create(connection, path, fields, time, ROW_GROUP);
    try {
      const queries = relations.map((one) => rowsOf(one, castColumns(one.fields, fields)));
      if (!sparingly) await file.add(`(${queries.join(' UNION ALL ')})`);
      for (const one of sparingly ? relations : []) {
        const found = await connection.runAndReadAll(`SELECT coalesce(max(rowid), -1)::DOUBLE FROM ${one.relation}`);
        for (let row = 0; row <= Number(found.getRows()[0]![0]); row += FEWEST_ROWS) {
          const some = `rowid BETWEEN ${row} AND ${row + FEWEST_ROWS - 1}`;
          await file.add(`(${rowsOf(one, castColumns(one.fields, fields), some)})`);
        }
      }
      const written = await file.finish();
      return { written, path, relations, merged: [], sources: [], leftOut: NOTHING_LEFT_OUT };
    } catch (error) {
      await file.abandon();
      throw error;
    }
  }

  #readBacklog(
    table: LiveTable,
    sources: readonly Source[],
    bounds: Pick<BacklogOptions, 'atOnce' | 'most' | 'closely'>,
  ): Promise<Sealed> {
    const { dataDir, store, resources, log } = this.options;
    const watch = new Watch(table.name, log.progress ?? (() => undefined));
    const lookUp = this.#connection!;
    const { signal } = this.#ending;
    return inWorkshop(resources, store.building, signal, (workshop) =>
      readBacklog({ table, sources, dataDir, watch, lookUp, signal, ...bounds }, workshop),
    );
  }

  /** Writes the rows of sealed files as one. */
  #merge(table: LiveTable, merged: readonly Segment[]): Promise<Sealed> {
    const { store, resources } = this.options;
    const { fields, time, segments } = table;
    const single = singleOfAll(merged, fields);
    return inWorkshop(resources, store.building, this.#ending.signal, async ({ connection, path, rowGroup }) => {
      const inputs: string[] = [];
      for (const [i, segment] of [...merged].sort(latestFirst).entries()) {
        const file = join(store.filesOf(table.name), segment.file);
        await connection.run(`ATTACH ${quoteText(file)} AS merged_${i} (READ_ONLY)`);
        const dropped = segments.droppedOf(segment);
        const where = dropped.length === 0 ? '' : ` WHERE ${isNotOf(dropped)}`;
        const hidden = `${SOURCE_COLUMN}, ${ARRIVAL_COLUMN} + ${segment.before} AS ${ARRIVAL_COLUMN}`;
        const columns = (own: readonly string[]): string =>
          [...castColumns(segment.fields, fields, new Set(own)), hidden].join(', ');
        const rows =
          single === null ? columns(segment.single) : `* EXCLUDE (${SOURCE_COLUMN}, ${ARRIVAL_COLUMN}), ${hidden}`;
        inputs.push(`SELECT ${rows} FROM merged_${i}.rows${where}`);
        if (segment.odd > 0) inputs.push(`SELECT ${columns([])} FROM merged_${i}.odd${where}`);
      }
      const all = `(${inputs.join(' UNION ALL ')})`;
      const target = await SegmentFile.create(connection, path, fields, time, rowGroup);
      if (single === null) await target.add(all);
      // One behind the other they are in order already, for which no memory is needed.
      else if (areApart(merged)) for (const input of inputs) await target.append(input, single);
      else await target.append(`FROM ${all}${latestRowsFirst(time)}`, single);
      const written = await target.finish();
      return { written, path, relations: [], merged, sources: [], leftOut: NOTHING_LEFT_OUT };
    });
  }
}

/** SQL: the rows of a hot relation that count. @param only a condition on them */
function rowsOf({ relation, dropped }: HotRelation, columns: readonly string[], only = 'true'): string {
  const counted = dropped.length === 0 ? 'true' : isNotOf(dropped);
  return `SELECT ${[...columns, SOURCE_COLUMN, ARRIVAL_COLUMN].join(', ')} FROM ${relation} WHERE ${counted} AND ${only}`;
}
