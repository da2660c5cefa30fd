/** What an LQL text says, as typed data. `json.ts` prints it, `sql.ts` translates it. */

/** UTF-16 offsets into the LQL text; `end` is exclusive. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** A moment in microseconds since the epoch, UTC. */
export interface Instant {
  readonly micros: bigint;
}

/** An operand: text, BOOL, INT64 (bigint), FLOAT64 (number), a moment, or null for the NULL test. */
export type Value = string | boolean | bigint | number | Instant | null;

export type Comparison = '=' | '>' | '>=' | '<' | '<=';

/** How a timestamp was written: a plain date, a datetime without zone, or one with a zone or in Unix time. */
export type Origin = 'date' | 'local' | 'absolute';

interface FilterParts {
  /** Dotted, with a leading `m.` spelt out; `event_message` for a message term, `timestamp` for a time. */
  readonly path: string;
  /** Of a term, the message of the table, and of `t:` its time, however the column is called; null: the field of that path. */
  readonly role: 'message' | 'time' | null;
  readonly negate: boolean;
  /** Written in double quotes or parentheses. */
  readonly quoted: boolean;
  /** Of timestamp filters only. */
  readonly origin: Origin | null;
  /** The normalised shorthand that gave a timestamp filter its window, `last@2hour`. */
  readonly shorthand: string | null;
  /** The whole clause. */
  readonly span: Span;
  /** The path inside the clause; the whole clause where no path was written. */
  readonly pathSpan: Span;
}

/** `values` of `in` are the levels of a level range. */
export type Test =
  | { readonly operator: Comparison | 'list_includes'; readonly value: Value }
  | { readonly operator: 'contains' | '~' | 'list_includes_regex'; readonly value: string }
  | { readonly operator: 'range'; readonly values: readonly [Value, Value] }
  | { readonly operator: 'in'; readonly values: readonly string[] };

export type Filter = FilterParts & Test;

export interface Select {
  /** `*` for every column. */
  readonly path: string;
  readonly alias: string | null;
  readonly wildcard: boolean;
  readonly span: Span;
  readonly pathSpan: Span;
}

export const AGGREGATES = ['count', 'countd', 'avg', 'sum', 'max', 'p50', 'p95', 'p99'] as const;
export type Aggregate = (typeof AGGREGATES)[number];

export type Period = 'second' | 'minute' | 'hour' | 'day';

export interface Chart {
  readonly aggregate: Aggregate;
  /** `timestamp` for `*`, which has the role of time. */
  readonly path: string;
  readonly role: 'time' | null;
  readonly period: Period;
  readonly span: Span;
  readonly pathSpan: Span;
}

export interface Rules {
  /** The table that `f:` names. */
  readonly from: string | null;
  readonly fromSpan: Span | null;
  /** In written order, identical repeats once. */
  readonly select: readonly Select[];
  /** In written order. */
  readonly filters: readonly Filter[];
  readonly chart: Chart | null;
}

export type FieldOperator = Exclude<Test['operator'], 'contains' | 'range' | 'in'>;

/** As written, longest first: the first that fits is the one. */
export const OPERATORS: readonly (readonly [written: string, operator: FieldOperator])[] = [
  [':@>~', 'list_includes_regex'],
  [':@>', 'list_includes'],
  [':>=', '>='],
  [':<=', '<='],
  [':>', '>'],
  [':<', '<'],
  [':~', '~'],
  [':', '='],
];
