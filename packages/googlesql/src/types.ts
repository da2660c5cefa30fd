/** GoogleSQL's types as the resolver, the gate and the engines see them. */

export type ScalarName =
  | 'BOOL'
  | 'INT64'
  | 'FLOAT64'
  | 'NUMERIC'
  | 'BIGNUMERIC'
  | 'STRING'
  | 'BYTES'
  | 'DATE'
  | 'TIME'
  | 'DATETIME'
  | 'TIMESTAMP'
  | 'INTERVAL'
  | 'JSON'
  | 'GEOGRAPHY';

/** Of a written type: `STRING(10)` has its own, `ARRAY<NUMERIC(10, 2)>` and a STRUCT those of elements and fields. */
export interface TypeParameters {
  readonly own: readonly string[];
  readonly inner: readonly (TypeParameters | null)[];
}

export type SqlType =
  | { readonly kind: ScalarName }
  | { readonly kind: 'ARRAY'; readonly element: SqlType }
  | RangeType
  | { readonly kind: 'STRUCT'; readonly fields: readonly StructField[] };

/** From a first value to before a last one; either end may be open. */
export interface RangeType {
  readonly kind: 'RANGE';
  readonly element: { readonly kind: RangeElement };
}

export type RangeElement = 'DATE' | 'DATETIME' | 'TIMESTAMP';

export interface StructField {
  /** null: an anonymous field, as in the tuple `(1, 2)`. */
  readonly name: string | null;
  readonly type: SqlType;
}

/** A column of a table or of a result, in order. */
export interface NamedType {
  readonly name: string;
  readonly type: SqlType;
}

export const TIME_UNITS = ['s', 'ms', 'us', 'ns'] as const;
export type TimeUnit = (typeof TIME_UNITS)[number];
/** How many of a unit a second has. */
export const PER_SECOND: Readonly<Record<TimeUnit, number>> = { s: 1, ms: 1e3, us: 1e6, ns: 1e9 };
/** Units of the numeric columns whose values are known to be times, by the column's name. */
export type TimeUnits = ReadonlyMap<string, TimeUnit>;

/** A table that a query may name. `path` is the name as its owner spells it. */
export interface TableSchema {
  readonly name: string;
  readonly columns: readonly NamedType[];
  /** Columns that can be named and are no part of `*`: that of a wildcard table (`TABLE_SUFFIX`). */
  readonly pseudo?: readonly NamedType[];
  /** Of numeric columns that hold times, as their first values tell; missing: no column is known to. */
  readonly timeUnits?: TimeUnits;
}

/** Of each row of a wildcard table (`events_*`): what the name of its own table has in the place of the star. */
export const TABLE_SUFFIX: NamedType = { name: '_TABLE_SUFFIX', type: { kind: 'STRING' } };
