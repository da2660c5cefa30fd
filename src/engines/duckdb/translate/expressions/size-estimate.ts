/**
 * How large a value may get, before anything runs. DuckDB computes an expression for 2,048 rows at a time and neither
 * looks at an interrupt nor at its memory limit in between, so what makes much of little (`x || x` ten times over, a
 * generated array, an array of arrays' products) has to be seen here: it is then either bounded while it runs or printed as
 * relations, which can be interrupted.
 */
import { hasOneRowAtMost } from '../../../../googlesql/cardinality';
import type { AggregateCall, Expr, FunctionCall, Relation, ResolvedQuery } from '../../../../googlesql/resolved';
import { operandsOf, relationsBelow } from '../../../../googlesql/resolved-walk';
import { isClosed } from '../relations/ctes';

/** Up to here an estimate is that of a table's value with a little done to it: no look at its real size. */
export const MODEST = 6;
/** Up to here a value is as good as one that a table holds. */
export const SMALL = 200;
/** An aggregate's or a generated array or text: of any size that its own bound allows. */
const UNBOUNDED = 1_000;

/** What a function may make of its arguments, in estimates of them; every other function gives back less than it is given. */
const GROWTH: Readonly<Record<string, number>> = {
  REPLACE: 8,
  REGEXP_REPLACE: 8,
  TO_HEX: 2,
  TO_BASE64: 2,
  TO_JSON_STRING: 2,
  TO_JSON: 2,
  FORMAT: 2,
  NORMALIZE: 4,
  NORMALIZE_AND_CASEFOLD: 4,
};
const MAKERS = /^(?:GENERATE_.*ARRAY|REPEAT|LPAD|RPAD|ARRAY_TO_STRING)$/;
const OF_ONE_ROW: ReadonlySet<string> = new Set([
  'MIN',
  'MAX',
  'ANY_VALUE',
  'MAX_BY',
  'MIN_BY',
  'FIRST_VALUE',
  'LAST_VALUE',
  'NTH_VALUE',
  'LAG',
  'LEAD',
]);

const REPLACING: ReadonlySet<string> = new Set(['REPLACE', 'REGEXP_REPLACE']);

/** What a call may make of its arguments. Literals tell more: what is replaced by less does not grow. */
function growthOf({ function: name, args }: FunctionCall): number {
  const growth = GROWTH[name] ?? 1;
  if (!REPLACING.has(name)) return growth;
  const [from, to] = [args[1], args[2]].map((a) => (a?.kind === 'literal' ? (a.value ?? '') : null));
  if (to === null || to === undefined) return growth;
  // Each match gives back a group of it as often as the replacement says; an empty one stands between any two characters.
  if (name === 'REGEXP_REPLACE') return Math.min(growth, (to.match(/\\\d/g)?.length ?? 0) + 1 + to.length);
  return from === null || from === undefined || from === ''
    ? growth
    : Math.max(1, Buffer.byteLength(to) / Buffer.byteLength(from));
}

/** The estimates of a query's expressions: about how many values of tables and literals each is made of. */
export class SizeEstimates {
  readonly #columns = new Map<number, number>();
  readonly #known = new WeakMap<Expr, number>();
  readonly #single = new WeakSet<Expr>();
  /** What is walked through is inside of an expression's subquery that reads the rows around it. */
  #correlated = 0;

  constructor(query: ResolvedQuery) {
    this.#query(query);
  }

  of(expr: Expr): number {
    const known = this.#known.get(expr);
    if (known !== undefined) return known;
    const estimate = Math.min(this.#compute(expr), 1e9);
    this.#known.set(expr, estimate);
    return estimate;
  }

  /** A column is another by a new name. */
  rename(from: number, to: number): void {
    this.#columns.set(to, this.#ofColumn(from));
  }

  /** A column is what an expression gives. */
  define(column: number, expr: Expr): void {
    this.#columns.set(column, this.of(expr));
  }

  /** Whether the expression is computed for one row alone: above an aggregate of all rows, or of no table. */
  isSingle(expr: Expr): boolean {
    return this.#single.has(expr);
  }

  #ofCall(expr: FunctionCall): number {
    const [text, ...rest] = expr.args;
    // What literals put in is in the growth.
    const literal = REPLACING.has(expr.function) && rest.every((a) => a.kind === 'literal');
    const grows = literal && text !== undefined ? [text] : operandsOf(expr);
    return this.#sum(grows) * growthOf(expr);
  }

  #sum(exprs: readonly Expr[]): number {
    return exprs.reduce((sum, expr) => sum + this.of(expr), 0);
  }

  #compute(expr: Expr): number {
    switch (expr.kind) {
      case 'literal':
        return 1 + (expr.value?.length ?? 0) / 1024;
      case 'parameter':
        // A list holds up to 64 KiB.
        return expr.type.kind === 'ARRAY' ? 128 : 1;
      case 'column':
        return this.#ofColumn(expr.column.id);
      case 'field':
        return this.of(expr.input);
      case 'call':
        if (MAKERS.test(expr.function)) return UNBOUNDED + this.#sum(expr.args);
        return this.#ofCall(expr);
      case 'cast':
        return this.of(expr.input) + (expr.format === null ? 0 : this.of(expr.format));
      case 'case':
        return Math.max(0, ...operandsOf(expr).map((operand) => this.of(operand)));
      case 'make_array':
      case 'make_struct':
        return this.#sum(operandsOf(expr));
      case 'subquery': {
        if (expr.operand !== null) this.of(expr.operand);
        const correlated = isClosed(expr.query) ? 0 : 1;
        this.#correlated += correlated;
        this.#query(expr.query);
        this.#correlated -= correlated;
        if (expr.mode === 'exists' || expr.mode === 'in') return 1;
        const value = expr.query.output[0];
        const one = value === undefined ? 1 : this.#ofColumn(value.column.id);
        return expr.mode === 'scalar' ? one : one * this.#levels(expr.query.relation);
      }
    }
  }

  /** How much longer than one array of the row a relation over such arrays gets. */
  #levels(relation: Relation): number {
    switch (relation.kind) {
      case 'single_row':
        return 1;
      case 'unnest':
        return relation.input === null ? 1 : this.#levels(relation.input) * 8;
      case 'filter':
      case 'compute':
      case 'sort':
      case 'limit':
      case 'window':
        return this.#levels(relation.input);
      case 'query':
        return this.#levels(relation.query.relation);
      default:
        return UNBOUNDED;
    }
  }

  #query(query: ResolvedQuery): void {
    relationsBelow(query).forEach((relation) => this.#relation(relation));
  }

  #ofColumn(id: number): number {
    return this.#columns.get(id) ?? UNBOUNDED;
  }

  /** Estimates the columns that a relation defines; those of what it reads are known. */
  #relation(relation: Relation): void {
    switch (relation.kind) {
      case 'table':
        return relation.columns.forEach((c) => this.#columns.set(c.column.id, 1));
      case 'cte':
        return relation.columns.forEach((c) => this.#columns.set(c.column.id, this.#ofColumn(c.source.id)));
      case 'unnest':
        this.#columns.set(relation.element.id, this.#element(relation.array));
        if (relation.offset !== null) this.#columns.set(relation.offset.id, 1);
        return;
      case 'compute':
        if (this.#correlated === 0 && hasOneRowAtMost(relation.input))
          relation.columns.forEach((c) => this.#markSingle(c.expr));
        return relation.columns.forEach((c) => this.#columns.set(c.column.id, this.#scalar(c.expr)));
      case 'aggregate':
        relation.keys.forEach((k) => this.#columns.set(k.column.id, this.#scalar(k.expr)));
        return relation.aggregates.forEach(({ column, call }) => this.#columns.set(column.id, this.#ofAggregate(call)));
      case 'window':
        return relation.functions.forEach(({ column, call: { call } }) =>
          this.#columns.set(column.id, this.#ofAggregate(call)),
        );
      case 'set':
        return relation.columns.forEach(({ id }, i) =>
          this.#columns.set(
            id,
            Math.max(...relation.inputs.map(({ output }) => this.#ofColumn(output[i]?.column.id ?? -1))),
          ),
        );
      case 'single_row':
      case 'query':
      case 'join':
      case 'filter':
      case 'sort':
      case 'limit':
        return;
    }
  }

  /** Marks `expr` and its operands. */
  #markSingle(expr: Expr): void {
    this.#single.add(expr);
    operandsOf(expr).forEach((operand) => this.#markSingle(operand));
  }

  #ofAggregate({ function: name, args, type }: AggregateCall): number {
    if (isSmall(type.kind)) return 1;
    return OF_ONE_ROW.has(name) && args[0] !== undefined ? this.of(args[0]) : UNBOUNDED;
  }

  #element(array: Expr): number {
    const element = array.type.kind === 'ARRAY' ? array.type.element.kind : 'ARRAY';
    return isSmall(element) ? 1 : this.of(array);
  }

  #scalar(expr: Expr): number {
    return isSmall(expr.type.kind) ? 1 : this.of(expr);
  }
}

/** Types whose values are all of one size. */
function isSmall(kind: string): boolean {
  return !['STRING', 'BYTES', 'JSON', 'ARRAY', 'STRUCT', 'GEOGRAPHY'].includes(kind);
}
