/**
 * A part of a table on disk, sealed: a DuckDB file with rows in time order, the last first, which is never written again. Table `rows`
 * has the lists of `single` as their elements; the few rows that do not fit that are in table `odd`, with lists.
 */
import type { RestField } from '../../../googlesql/rest-schema';
import { quoteName } from '../sql';

/** SQL: a hidden column of stored rows, the number of the source that they came from. */
export const SOURCE_COLUMN = quoteName('logquay:source');

/** Another one: which row of the table it was to arrive, from 1; NULL for rows of Parquet files, which arrive in no order. */
export const ARRIVAL_COLUMN = quoteName('logquay:arrival');

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
  /** The first and the last arrival of its rows, as numbers of the table; null: they have none. */
  readonly arrived: readonly [first: number, last: number] | null;
  /** What is to be added to an arrival in the file to have that of the table. */
  readonly before: number;
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
