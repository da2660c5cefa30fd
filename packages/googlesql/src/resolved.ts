/**
 * The resolved tree: every name is a column, every expression has its type, every implicit cast is written out.
 * Modelled on relational algebra, so that a printer for another dialect never looks a name up.
 *
 * Columns have ids that are unique within one resolved query, CTEs and subqueries included. A relation's columns are
 * those that an operator above it may read. Correlated subqueries simply read columns of an enclosing relation.
 */
import type { AggregateName, ScalarName } from './functions/function-table';
import type { Span } from './tree';
import type { SqlType, TableSchema, TypeParameters } from './types';

export interface Column {
  readonly id: number;
  /** As it was called in the query; for people, never for lookup. */
  readonly name: string;
  readonly type: SqlType;
}

export interface ResolvedQuery {
  /** CTEs in order of definition; each may read earlier ones and those of enclosing queries. */
  readonly ctes: readonly Cte[];
  readonly relation: Relation;
  /** The columns of the result in order. A null name is unnamed: `f0_`, `f1_` in a top-level result. */
  readonly output: readonly OutputColumn[];
  /** SELECT AS STRUCT and SELECT AS VALUE: one column, whose value is the row. */
  readonly valueTable: boolean;
  /** True where the outermost ORDER BY fixes the order of the result. */
  readonly ordered: boolean;
}

export interface OutputColumn {
  readonly name: string | null;
  readonly column: Column;
}

export interface Cte {
  /** Unique within the whole resolved query. */
  readonly id: number;
  readonly name: string;
  /** Where its name stands in the text. */
  readonly span: Span;
  readonly query: ResolvedQuery;
}

export type Relation =
  | SingleRow
  | TableScan
  | CteScan
  | QueryScan
  | UnnestScan
  | JoinRelation
  | Filter
  | Compute
  | Aggregate
  | Windowed
  | Sort
  | Limit
  | SetRelation;

/** SELECT without FROM: one row, no column. */
export interface SingleRow {
  readonly kind: 'single_row';
}

/** `columns` are those that the query uses, with the field of the table each one is. */
export interface TableScan {
  readonly kind: 'table';
  readonly table: TableSchema;
  readonly columns: readonly { readonly column: Column; readonly source: string }[];
}

/** Each scan of a CTE has fresh columns; `source` is the CTE's output column. */
export interface CteScan {
  readonly kind: 'cte';
  readonly cte: Cte;
  readonly columns: readonly { readonly column: Column; readonly source: Column }[];
}

/** A subquery in FROM or in parentheses: its output columns are visible as they are. */
export interface QueryScan {
  readonly kind: 'query';
  readonly query: ResolvedQuery;
}

/**
 * One row per element of `array`, joined to `input` (which `array` may read; null: a FROM that starts with UNNEST).
 * `outer`: LEFT JOIN, a row without elements is kept with a NULL element. `on` is the condition of a join that
 * has one other than TRUE.
 */
export interface UnnestScan {
  readonly kind: 'unnest';
  readonly input: Relation | null;
  readonly array: Expr;
  readonly element: Column;
  readonly offset: Column | null;
  readonly outer: boolean;
  readonly on: Expr | null;
}

export interface JoinRelation {
  readonly kind: 'join';
  readonly type: 'inner' | 'left' | 'right' | 'full';
  readonly left: Relation;
  readonly right: Relation;
  /** null: a cross join. */
  readonly on: Expr | null;
}

export interface Filter {
  readonly kind: 'filter';
  readonly input: Relation;
  readonly condition: Expr;
}

/** Adds columns; those of the input stay visible. */
export interface Compute {
  readonly kind: 'compute';
  readonly input: Relation;
  readonly columns: readonly ComputedColumn[];
}

export interface ComputedColumn {
  readonly column: Column;
  readonly expr: Expr;
}

/** GROUP BY and SELECT DISTINCT. Visible afterwards: keys and aggregates only. */
export interface Aggregate {
  readonly kind: 'aggregate';
  readonly input: Relation;
  readonly keys: readonly ComputedColumn[];
  /** ROLLUP, CUBE, GROUPING SETS: indexes into `keys`; null for a plain GROUP BY. */
  readonly groupingSets: readonly (readonly number[])[] | null;
  readonly aggregates: readonly { readonly column: Column; readonly call: AggregateCall }[];
}

export interface AggregateCall {
  readonly kind: 'aggregate_call';
  /** Canonical upper-case name; `$count_star` for COUNT(*); `GROUPING` reads a key column. */
  readonly function: AggregateName;
  /** SAFE. prefix. */
  readonly safe: boolean;
  readonly args: readonly Expr[];
  readonly distinct: boolean;
  readonly nulls: 'ignore' | 'respect' | null;
  readonly having: { readonly kind: 'max' | 'min'; readonly expr: Expr } | null;
  readonly orderBy: readonly SortKey[];
  readonly limit: Expr | null;
  readonly type: SqlType;
  readonly span: Span;
}

/** Adds one column per window function. */
export interface Windowed {
  readonly kind: 'window';
  readonly input: Relation;
  readonly functions: readonly { readonly column: Column; readonly call: WindowCall }[];
}

export interface WindowCall {
  /** An aggregate over a window, or a function of its own such as ROW_NUMBER. */
  readonly call: AggregateCall;
  readonly partitionBy: readonly Expr[];
  readonly orderBy: readonly SortKey[];
  readonly frame: ResolvedFrame | null;
}

export interface ResolvedFrame {
  readonly unit: 'rows' | 'range';
  readonly from: ResolvedBound;
  readonly to: ResolvedBound;
}

export interface ResolvedBound {
  readonly kind: 'unbounded_preceding' | 'preceding' | 'current_row' | 'following' | 'unbounded_following';
  readonly offset: Expr | null;
}

export interface SortKey {
  readonly expr: Expr;
  readonly descending: boolean;
  /** Always decided: GoogleSQL's default is written out. */
  readonly nullsFirst: boolean;
}

export interface Sort {
  readonly kind: 'sort';
  readonly input: Relation;
  readonly keys: readonly SortKey[];
}

export interface Limit {
  readonly kind: 'limit';
  readonly input: Relation;
  readonly count: Expr;
  readonly offset: Expr | null;
}

/** Columns of every input are matched by position and already cast to the types of `columns`. */
export interface SetRelation {
  readonly kind: 'set';
  readonly operator: 'union' | 'intersect' | 'except';
  readonly distinct: boolean;
  readonly inputs: readonly ResolvedQuery[];
  readonly columns: readonly Column[];
}

// ------------------------------------------------------------------------------------ expressions

export type Expr =
  | ResolvedLiteral
  | ResolvedParameter
  | ColumnRef
  | FieldRef
  | FunctionCall
  | ResolvedCast
  | ResolvedCase
  | MakeArray
  | MakeStruct
  | SubqueryExpr;

/**
 * `value` by type: text as BigQuery would print it: INT64 decimal digits with sign, FLOAT64 JavaScript's shortest form
 * or NaN, Infinity, -Infinity, BOOL true or false, STRING decoded, BYTES latin-1, DATE 2026-01-31, TIME and DATETIME
 * ISO with T, TIMESTAMP integer microseconds since the epoch as decimal digits, NUMERIC decimal text, JSON text.
 * RANGE `[start, end)` of such values, UNBOUNDED for an open end. null is SQL NULL of that type.
 */
export interface ResolvedLiteral {
  readonly kind: 'literal';
  readonly type: SqlType;
  readonly value: string | null;
  /** The digits of a FLOAT64 as they are in the query, where they may be more than the double has. */
  readonly written?: string;
  readonly span: Span;
}

export interface ResolvedParameter {
  readonly kind: 'parameter';
  readonly name: string;
  readonly type: SqlType;
  readonly span: Span;
}

export interface ColumnRef {
  readonly kind: 'column';
  readonly column: Column;
  readonly type: SqlType;
  readonly span: Span;
}

/** A field of a struct; NULL where the struct is NULL. On JSON: `member` access with the written name. */
export interface FieldRef {
  readonly kind: 'field';
  readonly input: Expr;
  readonly index: number;
  readonly type: SqlType;
  readonly span: Span;
}

/**
 * A scalar function or operator by canonical name: built-ins in upper case with their namespace (`SUBSTR`, `NET.HOST`),
 * operators with a dollar: `$add $subtract $multiply $divide $negate $equal $not_equal $less $less_or_equal $greater
 * $greater_or_equal $and $or $not $like $between $in $in_unnest $is_null $is_true $is_false $is_distinct_from
 * $concat $bit_and $bit_or $bit_xor $bit_not $shift_left $shift_right $extract $at $safe_at $json_member $json_element
 * $interval`. `$and`, `$or`: two operands or more. `$interval`: INTERVAL n DAY, args [n] and the part. A second name
 * of a function (SUBSTRING, POWER, CEILING, STDDEV) is its first (SUBSTR, POW, CEIL, STDDEV_SAMP).
 * `$in`: operand, then items. `$in_unnest`: operand, array. `$at` / `$safe_at`: array, zero-based INT64 index.
 * Negated forms are wrapped in `$not`. `$extract`: args [value] or [value, zone], `part` says which.
 */
export interface FunctionCall {
  readonly kind: 'call';
  readonly function: ScalarName;
  /** SAFE. prefix: NULL instead of an error. */
  readonly safe: boolean;
  readonly args: readonly Expr[];
  /** Named arguments that are not positional in the signature, by upper-case name. */
  readonly named: Readonly<Record<string, Expr>>;
  /** The date part of EXTRACT, the *_TRUNC, *_DIFF, LAST_DAY functions: `DAY`, `WEEK`, `WEEK_MONDAY`, `ISOWEEK`, ... */
  readonly part: string | null;
  /** TIMESTAMP_ADD(x, INTERVAL n DAY) is args [x, n] with part DAY: no INTERVAL value is made. */
  readonly type: SqlType;
  readonly span: Span;
}

export interface ResolvedCast {
  readonly kind: 'cast';
  readonly input: Expr;
  readonly safe: boolean;
  /** CAST ... FORMAT, AT TIME ZONE. */
  readonly format: Expr | null;
  readonly timeZone: Expr | null;
  /** Absent where the type has none. */
  readonly parameters?: TypeParameters;
  readonly type: SqlType;
  readonly span: Span;
}

/** CASE, with or without operand. IF, IFNULL, COALESCE, NULLIF stay calls. */
export interface ResolvedCase {
  readonly kind: 'case';
  readonly operand: Expr | null;
  readonly whens: readonly { readonly when: Expr; readonly then: Expr }[];
  readonly else: Expr | null;
  readonly type: SqlType;
  readonly span: Span;
}

export interface MakeArray {
  readonly kind: 'make_array';
  readonly elements: readonly Expr[];
  readonly type: SqlType;
  readonly span: Span;
}

export interface MakeStruct {
  readonly kind: 'make_struct';
  readonly fields: readonly Expr[];
  readonly type: SqlType;
  readonly span: Span;
}

/** `in`: `operand` IN (query). Array: ARRAY(query). NOT is written as `$not` around it. */
export interface SubqueryExpr {
  readonly kind: 'subquery';
  readonly mode: 'scalar' | 'array' | 'exists' | 'in';
  readonly operand: Expr | null;
  readonly query: ResolvedQuery;
  readonly type: SqlType;
  readonly span: Span;
}
