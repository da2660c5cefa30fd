/** What queries see of the data: tables, each the union of its parts. */
import type { TableSchema } from '@logquay/googlesql/types';

/** A relation with some of the rows of a table. */
export interface Part {
  /** DuckDB's name of it, quoted. Columns have the names of the schema, and the types of `duckType` but for `single`. */
  readonly relation: string;
  /** Rows at most; an estimate, for a part that grows. */
  readonly rows: number;
  /**
   * Bounds of the table's time (`timeColumnOf`) in microseconds since the epoch; null: not known, as of a part that grows. Every row
   * of the part is within them.
   */
  readonly earliest: bigint | null;
  readonly latest: bigint | null;
  /** The TIMESTAMP column of which every row is known to have a value within GoogleSQL's bounds; null: none is known to be such. */
  readonly timedBy: string | null;
  /**
   * Paths of lists (`metadata`, `metadata.request`) that hold exactly one element in every row and are stored as that
   * element itself: a plain STRUCT.
   */
  readonly single: ReadonlySet<string>;
  /**
   * Rows may be added to it at any time. DuckDB plans by statistics (a filter that no row passes, the longest text) and does
   * not plan a prepared statement anew when rows are added: a statement over such a part is planned in the transaction that
   * runs it, and once only.
   */
  readonly grows: boolean;
  /** Sources that its rows are from; missing: any of the table. */
  readonly sources?: readonly number[];
}

/** Rows of a table from files with the same day in their names (`events_20260917.json`): a table of its own to wildcards. */
export interface Shard {
  /** The table's own name: its other rows. */
  readonly name: string;
  /** Numbers in the column `SOURCE_COLUMN` of its parts. */
  readonly sources: readonly number[];
}

export interface StoredTable {
  readonly schema: TableSchema;
  /** At least one, an empty one where there are no rows. */
  readonly parts: readonly Part[];
  /** Raised whenever schema or parts change, by which translations are cached. Rows appended to a part change nothing here. */
  readonly revision: number | string;
  /** Missing: it is one. */
  readonly shards?: readonly Shard[] | undefined;
  /** Of a wildcard: of all tables with rows that it names. */
  readonly suffixes?: readonly string[];
  /** Of a wildcard: the path of a field that has another type in another of its tables, so that it cannot be queried. */
  readonly conflict?: string;
  /** Its rows are in the data folder and cannot be stored or read: an answer without them would be wrong. */
  readonly unserved?: boolean;
  /** Its columns depend on its rows: nobody has declared them. */
  readonly inferred?: boolean;
}

/** A table that is one relation, of whose rows nothing is known. */
export function wholeTable(schema: TableSchema, relation: string): StoredTable {
  return { schema, parts: [unknownPart(relation)], revision: 0 };
}

export function unknownPart(relation: string): Part {
  return {
    relation,
    rows: 0,
    earliest: null,
    latest: null,
    timedBy: null,
    single: new Set(),
    grows: false,
  };
}
