/** The segments of a table, which of their rows count, and which are merged. */
import type { RestField } from '../../../googlesql/rest-schema';
import { areApart, type Segment, singleOfAll } from './segment';

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
