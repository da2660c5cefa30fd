/**
 * The syntax tree of a GoogleSQL query, exactly as written: no name is resolved here.
 * Spans are half-open UTF-16 offsets into the text that was parsed.
 */

export interface Span {
  readonly start: number;
  readonly end: number;
}

interface Node {
  readonly span: Span;
}

export interface Identifier extends Node {
  /** The name after undoing backticks and escapes; its case is kept. */
  readonly name: string;
  readonly quoted: boolean;
}

// ---------------------------------------------------------------------------------------- queries

export interface Query extends Node {
  readonly kind: 'query';
  readonly with: WithClause | null;
  readonly body: QueryBody;
  readonly orderBy: readonly OrderItem[];
  readonly limit: LimitClause | null;
  /** Applied to what is before them, from left to right. */
  readonly pipes: readonly PipeOperator[];
}

export interface WithClause extends Node {
  readonly recursive: boolean;
  readonly entries: readonly WithEntry[];
}

export interface WithEntry extends Node {
  readonly name: Identifier;
  readonly query: Query;
}

/** A query in parentheses is a `Query` as a body. */
export type QueryBody = Select | SetOperation | Query | FromQuery;

/** A query that begins with FROM: every row with all its columns. */
export interface FromQuery extends Node {
  readonly kind: 'from_query';
  readonly from: FromItem;
}

/** `a UNION ALL b UNION ALL c` is one node: GoogleSQL allows no mix of operators without parentheses. */
export interface SetOperation extends Node {
  readonly kind: 'set_operation';
  readonly operator: 'union' | 'intersect' | 'except';
  readonly distinct: boolean;
  /** null: columns are matched by position. */
  readonly matching: ColumnMatching | null;
  readonly inputs: readonly QueryBody[];
}

/** BY NAME and CORRESPONDING: columns matched by name. */
export interface ColumnMatching extends Node {
  /**
   * Which columns the result has: those of all inputs (`inner`), of the first (`left`), of any (`full`). null: BY NAME
   * wants the same names on all sides.
   */
  readonly mode: 'inner' | 'left' | 'full' | null;
  /** BY NAME ON (a, b), CORRESPONDING BY (a, b). */
  readonly columns: readonly Identifier[] | null;
}

export interface Select extends Node {
  readonly kind: 'select';
  readonly distinct: boolean;
  /** SELECT AS STRUCT, SELECT AS VALUE. */
  readonly as: 'struct' | 'value' | null;
  readonly items: readonly SelectItem[];
  readonly from: FromItem | null;
  readonly where: Expression | null;
  readonly groupBy: GroupBy | null;
  readonly having: Expression | null;
  readonly qualify: Expression | null;
  readonly windows: readonly NamedWindow[];
}

export type SelectItem = SelectExpression | SelectStar;

export interface SelectExpression extends Node {
  readonly kind: 'select_expression';
  readonly expression: Expression;
  readonly alias: Identifier | null;
}

/** `*`, `x.*`, `(expression).*` with EXCEPT and REPLACE. */
export interface SelectStar extends Node {
  readonly kind: 'select_star';
  readonly of: Expression | null;
  readonly except: readonly Identifier[];
  readonly replace: readonly { readonly expression: Expression; readonly alias: Identifier }[];
}

export interface OrderItem extends Node {
  readonly expression: Expression;
  /** The name behind COLLATE; null: not written. */
  readonly collation: Literal | null;
  readonly descending: boolean;
  /** null: not written; GoogleSQL then sorts NULLs first ascending and last descending. */
  readonly nulls: 'first' | 'last' | null;
}

export interface LimitClause extends Node {
  readonly count: Expression;
  readonly offset: Expression | null;
}

export interface GroupBy extends Node {
  /** GROUP BY ALL. */
  readonly all: boolean;
  readonly items: readonly GroupingItem[];
}

export type GroupingItem =
  | { readonly kind: 'expression'; readonly expression: Expression }
  | { readonly kind: 'rollup' | 'cube'; readonly sets: readonly (readonly Expression[])[]; readonly span: Span }
  | { readonly kind: 'grouping_sets'; readonly items: readonly GroupingItem[]; readonly span: Span }
  /** A parenthesised list inside ROLLUP, CUBE or GROUPING SETS; `()` is empty. */
  | { readonly kind: 'list'; readonly expressions: readonly Expression[]; readonly span: Span };

export interface NamedWindow extends Node {
  readonly name: Identifier;
  readonly window: WindowSpecification;
}

// ------------------------------------------------------------------------------------------ pipes

/** What follows `|>`. Its span begins at the operator's first word. */
export type PipeOperator =
  | PipeSelect
  | PipeExtend
  | PipeSet
  | PipeDrop
  | PipeRename
  | PipeAs
  | PipeWhere
  | PipeAggregate
  | PipeDistinct
  | PipeJoin
  | PipeOrderBy
  | PipeLimit
  | PipeSetOperation
  | PipePivot
  | PipeUnpivot
  | PipeWith;

export interface PipeSelect extends Node {
  readonly kind: 'pipe_select';
  readonly distinct: boolean;
  readonly as: Select['as'];
  readonly items: readonly SelectItem[];
  readonly windows: readonly NamedWindow[];
}

/** EXTEND; and WINDOW, each of whose items holds a window function. */
export interface PipeExtend extends Node {
  readonly kind: 'pipe_extend';
  readonly operator: 'EXTEND' | 'WINDOW';
  readonly items: readonly SelectItem[];
  readonly windows: readonly NamedWindow[];
}

export interface PipeSet extends Node {
  readonly kind: 'pipe_set';
  readonly items: readonly { readonly column: Identifier; readonly expression: Expression }[];
}

export interface PipeDrop extends Node {
  readonly kind: 'pipe_drop';
  readonly columns: readonly Identifier[];
}

export interface PipeRename extends Node {
  readonly kind: 'pipe_rename';
  readonly items: readonly { readonly from: Identifier; readonly to: Identifier }[];
}

export interface PipeAs extends Node {
  readonly kind: 'pipe_as';
  readonly alias: Identifier;
}

export interface PipeWhere extends Node {
  readonly kind: 'pipe_where';
  readonly condition: Expression;
}

export interface PipeAggregate extends Node {
  readonly kind: 'pipe_aggregate';
  readonly items: readonly SelectItem[];
  /** Of each item. */
  readonly orders: readonly (OrderSuffix | null)[];
  readonly groupBy: PipeGroupBy | null;
}

export interface PipeGroupBy extends Node {
  /** GROUP AND ORDER BY. */
  readonly ordered: boolean;
  readonly items: readonly GroupingItem[];
  /** Of each item; ROLLUP and its like have neither. */
  readonly suffixes: readonly { readonly alias: Identifier | null; readonly order: OrderSuffix | null }[];
}

/** ASC or DESC with NULLS FIRST or LAST behind an item of AGGREGATE or its GROUP BY. */
export type OrderSuffix = Pick<OrderItem, 'descending' | 'nulls'>;

export interface PipeDistinct extends Node {
  readonly kind: 'pipe_distinct';
}

export interface PipeJoin extends Node, JoinSide {
  readonly kind: 'pipe_join';
}

export interface PipeOrderBy extends Node {
  readonly kind: 'pipe_order_by';
  readonly items: readonly OrderItem[];
}

export interface PipeLimit extends Node {
  readonly kind: 'pipe_limit';
  readonly limit: LimitClause;
}

export interface PipeSetOperation extends Node {
  readonly kind: 'pipe_set_operation';
  readonly operator: SetOperation['operator'];
  readonly distinct: boolean;
  readonly matching: ColumnMatching | null;
  /** What follows the operator: the first input is what is before it. */
  readonly inputs: readonly Query[];
}

export interface PipePivot extends Node, PivotClause {
  readonly kind: 'pipe_pivot';
}

export interface PipeUnpivot extends Node, UnpivotClause {
  readonly kind: 'pipe_unpivot';
}

/** Its entries are visible to the operators after it. */
export interface PipeWith extends Node {
  readonly kind: 'pipe_with';
  readonly with: WithClause;
}

// ------------------------------------------------------------------------------------------- FROM

export type FromItem =
  | TablePath
  | UnnestItem
  | SubqueryItem
  | Join
  | ParenthesisedJoin
  | Pivot
  | Unpivot
  | TableFunction;

/** A dotted path in FROM: a table, or an array of an alias in scope when it has two or more parts. */
export interface TablePath extends Node {
  readonly kind: 'table_path';
  readonly path: readonly Identifier[];
  readonly alias: Identifier | null;
  /** WITH OFFSET, legal on an array path only. */
  readonly offset: OffsetClause | null;
}

export interface UnnestItem extends Node {
  readonly kind: 'unnest';
  readonly array: Expression;
  readonly alias: Identifier | null;
  readonly offset: OffsetClause | null;
}

export interface OffsetClause extends Node {
  /** null: the column is called `offset`. */
  readonly alias: Identifier | null;
}

export interface SubqueryItem extends Node {
  readonly kind: 'subquery_item';
  readonly query: Query;
  readonly alias: Identifier | null;
}

export interface Join extends Node, JoinSide {
  readonly kind: 'join';
  readonly left: FromItem;
}

/** What a join joins to its left side. */
export interface JoinSide {
  readonly type: 'comma' | 'cross' | 'inner' | 'left' | 'right' | 'full';
  readonly right: FromItem;
  readonly on: Expression | null;
  readonly using: readonly Identifier[];
}

export interface ParenthesisedJoin extends Node {
  readonly kind: 'parenthesised_join';
  readonly item: FromItem;
}

export interface Pivot extends Node, PivotClause {
  readonly kind: 'pivot';
  readonly input: FromItem;
}

export interface PivotClause {
  readonly aggregates: readonly { readonly expression: Expression; readonly alias: Identifier | null }[];
  readonly for: Expression;
  readonly in: readonly { readonly expression: Expression; readonly alias: Identifier | null }[];
  readonly alias: Identifier | null;
}

export interface Unpivot extends Node, UnpivotClause {
  readonly kind: 'unpivot';
  readonly input: FromItem;
}

export interface UnpivotClause {
  readonly includeNulls: boolean;
  /** One name, or several for multi-column UNPIVOT. */
  readonly values: readonly Identifier[];
  readonly name: Identifier;
  readonly in: readonly { readonly columns: readonly (readonly Identifier[])[]; readonly label: Expression | null }[];
  readonly alias: Identifier | null;
}

/** Read so that a refusal can name it; no table function is allowed anywhere. */
export interface TableFunction extends Node {
  readonly kind: 'table_function';
  readonly path: readonly Identifier[];
  readonly alias: Identifier | null;
}

// ------------------------------------------------------------------------------------ expressions

export type Expression =
  | Literal
  | Parameter
  | PathExpression
  | FieldAccess
  | Subscript
  | Call
  | Extract
  | Cast
  | Case
  | Unary
  | Binary
  | Between
  | InList
  | InUnnest
  | InSubquery
  | QuantifiedLike
  | IsTest
  | ArrayConstructor
  | StructConstructor
  | Interval
  | ScalarSubquery
  | ArraySubquery
  | Exists
  | Lambda
  | WithExpression;

/**
 * `value`: the decoded text; for BYTES the bytes as latin-1 text; for numbers the digits as written
 * (hex kept, without a sign). DATE, DATETIME, TIME, TIMESTAMP, NUMERIC, BIGNUMERIC, JSON: `DATE 'text'`; RANGE: `RANGE<DATE> 'text'`.
 */
export interface Literal extends Node {
  readonly kind: 'literal';
  readonly type:
    | 'STRING'
    | 'BYTES'
    | 'INT64'
    | 'FLOAT64'
    | 'BOOL'
    | 'NULL'
    | 'NUMERIC'
    | 'BIGNUMERIC'
    | 'DATE'
    | 'DATETIME'
    | 'TIME'
    | 'TIMESTAMP'
    | 'JSON'
    | 'RANGE';
  readonly value: string;
  /** What a RANGE is of. */
  readonly element?: TypeName;
}

/** `@name`, `@@name` (system), `?` (positional, name empty). */
export interface Parameter extends Node {
  readonly kind: 'parameter';
  readonly form: 'named' | 'system' | 'positional';
  readonly name: string;
}

/** `a`, `a.b.c`: which part is an alias, a column or a field is for the resolver. */
export interface PathExpression extends Node {
  readonly kind: 'path';
  readonly parts: readonly Identifier[];
}

/** `.name` after anything that is not a path: `f(x).name`, `a[0].name`. */
export interface FieldAccess extends Node {
  readonly kind: 'field';
  readonly input: Expression;
  readonly name: Identifier;
}

export interface Subscript extends Node {
  readonly kind: 'subscript';
  readonly input: Expression;
  readonly index: Expression;
  readonly mode: 'plain' | 'offset' | 'ordinal' | 'safe_offset' | 'safe_ordinal';
}

export interface Call extends Node {
  readonly kind: 'call';
  /** `['SAFE','SUBSTR']`, `['NET','HOST']`, `['COUNT']`; case as written. */
  readonly path: readonly Identifier[];
  readonly arguments: readonly Argument[];
  /** COUNT(*). */
  readonly star: boolean;
  readonly distinct: boolean;
  readonly nulls: 'ignore' | 'respect' | null;
  readonly having: { readonly kind: 'max' | 'min'; readonly expression: Expression } | null;
  readonly orderBy: readonly OrderItem[];
  readonly limit: LimitClause | null;
  readonly over: WindowSpecification | null;
}

export interface Argument extends Node {
  /** `name => expression`. */
  readonly name: Identifier | null;
  readonly expression: Expression;
}

export interface WindowSpecification extends Node {
  /** OVER name, or the base window of OVER (name ...). */
  readonly base: Identifier | null;
  readonly partitionBy: readonly Expression[];
  readonly orderBy: readonly OrderItem[];
  readonly frame: WindowFrame | null;
}

export interface WindowFrame extends Node {
  readonly unit: 'rows' | 'range';
  readonly from: FrameBound;
  /** null: no BETWEEN; the end is CURRENT ROW. */
  readonly to: FrameBound | null;
}

export interface FrameBound extends Node {
  readonly kind: 'unbounded_preceding' | 'preceding' | 'current_row' | 'following' | 'unbounded_following';
  readonly offset: Expression | null;
}

export interface DatePart extends Node {
  /** Upper case: DAY, WEEK, ISOWEEK, ... */
  readonly name: string;
  /** WEEK(MONDAY): the day, upper case. */
  readonly weekday: string | null;
}

export interface Extract extends Node {
  readonly kind: 'extract';
  readonly part: DatePart;
  readonly from: Expression;
  readonly timeZone: Expression | null;
}

export interface Cast extends Node {
  readonly kind: 'cast';
  readonly safe: boolean;
  readonly expression: Expression;
  readonly type: TypeName;
  readonly format: Expression | null;
  readonly timeZone: Expression | null;
}

/** A written type; parameters such as STRING(10) are kept as text. */
export type TypeName =
  | { readonly kind: 'simple'; readonly name: string; readonly parameters: readonly string[]; readonly span: Span }
  | { readonly kind: 'array' | 'range'; readonly element: TypeName; readonly span: Span }
  | {
      readonly kind: 'struct';
      readonly fields: readonly { readonly name: Identifier | null; readonly type: TypeName }[];
      readonly span: Span;
    };

export interface Case extends Node {
  readonly kind: 'case';
  readonly operand: Expression | null;
  readonly whens: readonly { readonly when: Expression; readonly then: Expression }[];
  readonly else: Expression | null;
}

export interface Unary extends Node {
  readonly kind: 'unary';
  readonly operator: 'not' | '-' | '+' | '~';
  readonly operand: Expression;
}

export type BinaryOperator =
  | 'or'
  | 'and'
  | '='
  | '!='
  | '<'
  | '<='
  | '>'
  | '>='
  | 'like'
  | 'not like'
  | '|'
  | '^'
  | '&'
  | '<<'
  | '>>'
  | '+'
  | '-'
  | '*'
  | '/'
  | '||';

export interface Binary extends Node {
  readonly kind: 'binary';
  readonly operator: BinaryOperator;
  readonly left: Expression;
  readonly right: Expression;
  /** Where the operator stands: errors of types point there. */
  readonly operatorSpan: Span;
}

export interface Between extends Node {
  readonly kind: 'between';
  readonly negated: boolean;
  readonly operand: Expression;
  readonly low: Expression;
  readonly high: Expression;
}

export interface InList extends Node {
  readonly kind: 'in_list';
  readonly negated: boolean;
  readonly operand: Expression;
  readonly items: readonly Expression[];
}

export interface InUnnest extends Node {
  readonly kind: 'in_unnest';
  readonly negated: boolean;
  readonly operand: Expression;
  readonly array: Expression;
}

export interface InSubquery extends Node {
  readonly kind: 'in_subquery';
  readonly negated: boolean;
  readonly operand: Expression;
  readonly query: Query;
}

/** `x LIKE ANY (a, b)`; SOME is ANY. Its patterns are a list, an array or a query. */
export interface QuantifiedLike extends Node {
  readonly kind: 'quantified_like';
  readonly negated: boolean;
  readonly all: boolean;
  readonly operand: Expression;
  readonly items: readonly Expression[];
  readonly array: Expression | null;
  readonly query: Query | null;
  readonly operatorSpan: Span;
}

export interface IsTest extends Node {
  readonly kind: 'is';
  readonly negated: boolean;
  readonly operand: Expression;
  readonly test: 'null' | 'true' | 'false' | 'unknown' | 'distinct';
  /** IS [NOT] DISTINCT FROM. */
  readonly other: Expression | null;
}

export interface ArrayConstructor extends Node {
  readonly kind: 'array';
  readonly elementType: TypeName | null;
  readonly elements: readonly Expression[];
}

/** STRUCT(...), STRUCT<...>(...) and the tuple `(a, b)`. */
export interface StructConstructor extends Node {
  readonly kind: 'struct';
  readonly type: TypeName | null;
  readonly fields: readonly { readonly expression: Expression; readonly alias: Identifier | null }[];
}

/** INTERVAL 5 DAY; INTERVAL '1-2' YEAR TO MONTH. Parts upper case. */
export interface Interval extends Node {
  readonly kind: 'interval';
  readonly value: Expression;
  readonly from: string;
  readonly to: string | null;
}

export interface ScalarSubquery extends Node {
  readonly kind: 'scalar_subquery';
  readonly query: Query;
}

export interface ArraySubquery extends Node {
  readonly kind: 'array_subquery';
  readonly query: Query;
}

export interface Exists extends Node {
  readonly kind: 'exists';
  readonly query: Query;
}

/** `e -> e + 1`, `(e, i) -> ...`: an argument of an array function. */
export interface Lambda extends Node {
  readonly kind: 'lambda';
  readonly parameters: readonly Identifier[];
  readonly body: Expression;
}

/** `WITH(a AS 1, b AS a + 1, a + b)`: each variable is visible to those after it and to the result. */
export interface WithExpression extends Node {
  readonly kind: 'with_expression';
  readonly variables: readonly { readonly name: Identifier; readonly expression: Expression }[];
  readonly result: Expression;
}
