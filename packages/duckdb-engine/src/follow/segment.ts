/**
 * A part of a table on disk, sealed: a DuckDB file with rows in time order, the last first, which is never written again. Table `rows`
 * has the lists of `single` as their elements; the few rows that do not fit that are in table `odd`, with lists.
 */
import type { RestField } from '@logquay/googlesql/types';
import { storedType, storedValue } from '../data/field-sql';
import { listsValue } from '../data/single-lists';
import type { TimeColumn } from '../data/time-column';
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
  /** What its rows are ordered by; null: nothing. */
  readonly time: TimeColumn | null;
  /** Bounds of that in microseconds since the epoch, as digits; null: not every row has it. */
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
  const shape = JSON.stringify([fields, first.time, [...first.single].sort()]);
  const isAlike = ({ odd, fields: own, time, single }: Segment): boolean =>
    odd === 0 && JSON.stringify([own, time, [...single].sort()]) === shape;
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

/** Segments of about the same size that are merged at once, and so many at least: each merge compresses all of its rows again. */
const MERGED_AT_ONCE = 8;
const FEWEST = 4;
/** So many that could be merged are merged before anything else is done. */
const MOST_SMALL = 4 * MERGED_AT_ONCE;
/** Rows that a merge gives at most. */
const MOST_ROWS = 2_000_000;
/** Where nothing has to be sorted it may be so many times as much, up to these bytes: it takes seconds, in which nothing else is stored. */
const UNSORTED = 4;
const MOST_UNSORTED = 96 * 1024 * 1024;
/** With less for a merge, it is done beside queries in their process: no more of it then, and what fits is two segments. */
const LITTLE = 8 * 1024 * 1024;
const FEWEST_OF_LITTLE = 2;

export class SegmentsOfTable {
  #all: readonly Segment[];

  /** @param isSource whether rows of a source, by its number, are rows of the table */
  constructor(
    segments: readonly Segment[],
    private readonly isSource: (source: number) => boolean,
  ) {
    this.#all = segments;
  }

  get all(): readonly Segment[] {
    return this.#all;
  }

  get rows(): number {
    return this.#all.reduce((sum, segment) => sum + this.rowsOf(segment), 0);
  }

  get bytes(): number {
    return this.#all.reduce((sum, { bytes }) => sum + bytes, 0);
  }

  /** Rows of a segment that count. */
  rowsOf({ sources }: Segment): number {
    return Object.entries(sources).reduce((sum, [id, rows]) => sum + (this.isSource(Number(id)) ? rows : 0), 0);
  }

  /** Sources of rows in a segment that do not count. */
  droppedOf({ sources }: Segment): readonly number[] {
    return Object.keys(sources)
      .map(Number)
      .filter((id) => !this.isSource(id));
  }

  /**
   * Segments to write as one: of about one size, or one of whose rows less than half count.
   *
   * @param most bytes to sort
   * @param fields that they are written with
   */
  mergeable(most: number, fields: readonly RestField[]): readonly Segment[] {
    const sparse = this.#all.find((segment) => segment.bytes <= most && this.rowsOf(segment) < segment.rows / 2);
    if (sparse !== undefined) return [sparse];
    const bySize = new Map<number, Segment[]>();
    const unsorted = most < LITTLE ? most : Math.max(most, Math.min(UNSORTED * most, MOST_UNSORTED));
    for (const segment of this.#small(unsorted)) {
      const size = Math.floor(Math.log(segment.rows) / Math.log(MERGED_AT_ONCE));
      bySize.set(size, [...(bySize.get(size) ?? []), segment]);
    }
    for (const segments of bySize.values()) {
      for (let i = 0; i + MERGED_AT_ONCE <= segments.length; i += MERGED_AT_ONCE) {
        const found = segments.slice(i, i + MERGED_AT_ONCE);
        const isSorted = singleOfAll(found, fields) !== null && areApart(found);
        const fitting = fittingIn(found, isSorted ? unsorted : most);
        if (fitting.length >= fewestOf(most)) return fitting;
      }
    }
    return [];
  }

  /** Whether there are so many small ones that they are merged first. @param most @param fields as of `mergeable` */
  isScattered(most: number, fields: readonly RestField[]): boolean {
    return this.#small(most).length >= MOST_SMALL && this.mergeable(most, fields).length > 1;
  }

  /** Those of which enough can be merged. */
  #small(most: number): readonly Segment[] {
    const fewest = fewestOf(most);
    return this.#all.filter(({ rows, bytes }) => rows <= MOST_ROWS / fewest && bytes <= most / fewest);
  }

  replace(merged: readonly Segment[], segment: Segment | null): void {
    const others = this.#all.filter((other) => !merged.includes(other));
    this.#all = segment === null ? others : [...others, segment];
  }

  /** Those without a row that counts. */
  get empty(): readonly Segment[] {
    return this.#all.filter((segment) => this.rowsOf(segment) === 0);
  }
}

function fittingIn(segments: readonly Segment[], most: number): readonly Segment[] {
  let [sumOfRows, sumOfBytes] = [0, 0];
  return segments.filter(({ rows, bytes }) => (sumOfRows += rows) <= MOST_ROWS && (sumOfBytes += bytes) <= most);
}

function fewestOf(most: number): number {
  return most < LITTLE ? FEWEST_OF_LITTLE : FEWEST;
}

/**
 * The items of a select list that give columns as `before` in the types of `fields`, with lists: what was not there yet is NULL, or an
 * empty list.
 *
 * @param single paths of lists that are stored as their elements
 */
export function castColumns(
  before: readonly RestField[],
  fields: readonly RestField[],
  single: ReadonlySet<string> = new Set(),
): readonly string[] {
  return fields.map((field) => castColumn(before, field, single));
}

function castColumn(before: readonly RestField[], field: RestField, single: ReadonlySet<string>): string {
  const name = quoteName(field.name);
  const known = before.find((other) => other.name.toLowerCase() === field.name.toLowerCase());
  const value = known === undefined ? 'NULL' : listsValue(known, single);
  if (known !== undefined && storedType(known) === storedType(field))
    return value === name ? name : `${value} AS ${name}`;
  const cast = `TRY_CAST(${value} AS ${storedType(field)})`;
  return `${storedValue(asStored(field), cast, 'blob')} AS ${name}`;
}

/** Timestamps are stored in UTC already. */
function asStored(field: RestField): RestField {
  const type = field.type === 'TIMESTAMP' ? 'DATETIME' : field.type;
  return { ...field, type, fields: field.fields.map(asStored) };
}
