/**
 * A part of a table on disk: a DuckDB file with rows in time order, the last first, which is never written again. Table `rows`
 * has the lists of `single` as their elements; the few rows that do not fit that are in table `odd`, with lists.
 */
import type { RestField } from '../../../googlesql/rest-schema';
import type { LeftOutReason } from '../../contract';
import { quoteName } from '../sql';

/** The hidden column of stored rows: the number of the source that they came from. */
export const SOURCE_KEY = 'logquay:source';

/** SQL: that column. */
export const SOURCE_COLUMN = quoteName(SOURCE_KEY);

/** SQL: the row came from none of these sources. */
export function isNotOf(sources: Iterable<number>): string {
  return `${SOURCE_COLUMN} NOT IN (${[...sources].join(', ')})`;
}

export interface Segment {
  /** Name of the file in the table's folder. */
  readonly file: string;
  readonly rows: number;
  /** Those of them that are in table `odd`; 0: there is none. */
  readonly odd: number;
  /** Bytes of the file. */
  readonly bytes: number;
  /** Bounds of `timestamp` in microseconds since the epoch, as digits; null: it has none. */
  readonly earliest: string | null;
  readonly latest: string | null;
  /** Rows of each source. */
  readonly sources: Readonly<Record<number, number>>;
  /** The fields that it was written with. */
  readonly fields: readonly RestField[];
  /** Paths of lists that are stored as their one element (`Part.single`). */
  readonly single: readonly string[];
}

/** The lists that segments of these fields all have as their elements; null: they differ, or some rows have others. */
export function singleOfAll(segments: readonly Segment[], fields: readonly RestField[]): ReadonlySet<string> | null {
  const [first] = segments;
  if (first === undefined) return null;
  const shape = JSON.stringify([fields, [...first.single].sort()]);
  const isAlike = ({ odd, fields: own, single }: Segment): boolean =>
    odd === 0 && JSON.stringify([own, [...single].sort()]) === shape;
  return segments.every(isAlike) ? new Set(first.single) : null;
}

/** Orders segments: that with the newest row first. */
export function latestFirst(a: Segment, b: Segment): number {
  return Number(BigInt(b.latest ?? 0) - BigInt(a.latest ?? 0));
}

/** Whether the rows of each segment are older than those of the newer ones, but for a hundredth of its time. */
export function areApart(segments: readonly Segment[]): boolean {
  let end: bigint | null = null;
  for (const { earliest, latest } of [...segments].sort(latestFirst)) {
    if (earliest === null || latest === null) return false;
    const [first, last] = [BigInt(earliest), BigInt(latest)];
    if (end !== null && last - end > (last - first) / 100n) return false;
    end = end === null || first < end ? first : end;
  }
  return true;
}

/** A row that was left out. */
export interface LeftOutRow {
  readonly file: string;
  /** From 1; a Parquet file's rows count as lines. */
  readonly line: number;
  readonly reason: string;
}

/** What was left out of a table. */
export interface LeftOut {
  /** Rows, by reason. */
  readonly rows: Readonly<Partial<Record<LeftOutReason, number>>>;
  /** The first few of them. */
  readonly first: readonly LeftOutRow[];
  /** The first few fields that there was no room for in an inferred schema. */
  readonly fields: readonly string[];
  /** Fields that the schema does not name. */
  readonly ignored: number;
  /** Values that did not fit an inferred column. */
  readonly nulled: number;
}

export const NOTHING_LEFT_OUT: LeftOut = { rows: {}, first: [], fields: [], ignored: 0, nulled: 0 };

/** So many rows are named. */
export const NAMED = 10;

export function leftOutRows({ rows }: LeftOut): number {
  return Object.values(rows).reduce((sum, count) => sum + count, 0);
}

export function together(a: LeftOut, b: LeftOut): LeftOut {
  const rows = { ...a.rows };
  for (const [reason, count] of Object.entries(b.rows) as [LeftOutReason, number][]) {
    rows[reason] = (rows[reason] ?? 0) + count;
  }
  const first = [...a.first, ...b.first].slice(0, NAMED);
  const fields = [...new Set([...a.fields, ...b.fields])].slice(0, NAMED);
  return { rows, first, fields, ignored: a.ignored + b.ignored, nulled: a.nulled + b.nulled };
}
