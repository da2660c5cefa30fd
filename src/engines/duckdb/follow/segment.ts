/**
 * A part of a table on disk: a DuckDB file with rows in time order, the last first, which is never written again. Table `rows`
 * has the lists of `single` as their elements; the few rows that do not fit that are in table `odd`, with lists.
 */
import type { RestField } from '../../../googlesql/rest-schema';
import type { LeftOutReason } from '../../data-status';
import { quoteName } from '../sql';

/** The hidden column of stored rows: the number of the source that they came from. */
export const SOURCE_COLUMN = quoteName('logquay:source');

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
  /** Fields that the schema does not name, of rows that were read one by one. */
  readonly ignored: number;
  /** Values that did not fit an inferred column. */
  readonly nulled: number;
}

export const NOTHING_LEFT_OUT: LeftOut = { rows: {}, first: [], ignored: 0, nulled: 0 };

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
  return { rows, first, ignored: a.ignored + b.ignored, nulled: a.nulled + b.nulled };
}
