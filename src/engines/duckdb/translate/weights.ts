/**
 * How large a value may get, before anything runs. DuckDB computes an expression for 2,048 rows at a time and neither
 * looks at an interrupt nor at its memory limit in between, so what makes much of little (`x || x` ten times over, a
 * generated array, an array of arrays' products) has to be seen here: it is then either bounded while it runs or printed as
 * relations, which can be interrupted.
 */
import type { Expr, FunctionCall, Relation, ResolvedQuery } from '../../../googlesql/resolved';
import { isClosed } from './ctes';

/** Up to here a value is as good as one that a table holds. */
export const LIGHT = 200;
/** An aggregate's or a generated array or text: of any size that its own bound allows. */
const HEAVY = 1_000;

/** What a function may make of its arguments, in weights of them; every other function gives back less than it is given. */
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

/** The weights of a query's expressions: about how many values of tables and literals each is made of. */
export class Weights {
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
    const weight = Math.min(this.#compute(expr), 1e9);
    this.#known.set(expr, weight);
    return weight;
  }

  /** Whether the expression is computed for one row alone: above an aggregate of all rows, or of no table. */
  isSingle(expr: Expr): boolean {
    return this.#single.has(expr);
  }

  #ofCall(expr: FunctionCall): number {
    const [text, ...rest] = expr.args;
    // What literals put in is in the growth.
    const literal = REPLACING.has(expr.function) && rest.every((a) => a.kind === 'literal');
    const grows = literal && text !== undefined ? [text] : [...expr.args, ...Object.values(expr.named)];
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
        return 1;
      case 'column':
        return this.#columns.get(expr.column.id) ?? HEAVY;
      case 'field':
        return this.of(expr.input);
      case 'call':
        if (MAKERS.test(expr.function)) return HEAVY + this.#sum(expr.args);
        return this.#ofCall(expr);
      case 'cast':
        return this.of(expr.input);
      case 'case':
        return Math.max(
          0,
          ...expr.whens.map(({ when, then }) => Math.max(this.of(when), this.of(then))),
          ...[expr.operand, expr.else].map((e) => (e === null ? 0 : this.of(e))),
        );
      case 'make_array':
        return this.#sum(expr.elements);
      case 'make_struct':
        return this.#sum(expr.fields);
      case 'subquery': {
        if (expr.operand !== null) this.of(expr.operand);
        const correlated = isClosed(expr.query) ? 0 : 1;
        this.#correlated += correlated;
        this.#query(expr.query);
        this.#correlated -= correlated;
        if (expr.mode === 'exists' || expr.mode === 'in') return 1;
        const value = expr.query.output[0];
        const one = value === undefined ? 1 : (this.#columns.get(value.column.id) ?? HEAVY);
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
        return HEAVY;
    }
  }

  #query(query: ResolvedQuery): void {
    query.ctes.forEach((cte) => this.#query(cte.query));
    this.#relation(query.relation);
  }

  #column(id: number, weight: number): void {
    this.#columns.set(id, weight);
  }

  #relation(relation: Relation): void {
    switch (relation.kind) {
      case 'single_row':
        return;
      case 'table':
        return relation.columns.forEach((c) => this.#column(c.column.id, 1));
      case 'cte':
        return relation.columns.forEach((c) => this.#column(c.column.id, this.#columns.get(c.source.id) ?? HEAVY));
      case 'query':
        return this.#query(relation.query);
      case 'unnest':
        if (relation.input !== null) this.#relation(relation.input);
        this.#column(relation.element.id, this.#element(relation.array));
        if (relation.offset !== null) this.#column(relation.offset.id, 1);
        return;
      case 'join':
        this.#relation(relation.left);
        return this.#relation(relation.right);
      case 'compute':
        this.#relation(relation.input);
        if (this.#correlated === 0 && hasOneRow(relation.input)) relation.columns.forEach((c) => this.#alone(c.expr));
        return relation.columns.forEach((c) => this.#column(c.column.id, this.#scalar(c.expr)));
      case 'aggregate':
        this.#relation(relation.input);
        relation.keys.forEach((k) => this.#column(k.column.id, this.#scalar(k.expr)));
        return relation.aggregates.forEach(({ column, call }) =>
          this.#column(column.id, this.#ofAggregate(call.function, call.args, column.type.kind)),
        );
      case 'window':
        this.#relation(relation.input);
        return relation.functions.forEach(({ column, call: { call } }) =>
          this.#column(column.id, this.#ofAggregate(call.function, call.args, column.type.kind)),
        );
      case 'filter':
      case 'sort':
      case 'limit':
        return this.#relation(relation.input);
      case 'set':
        relation.inputs.forEach((q) => this.#query(q));
        return relation.columns.forEach((column, i) =>
          this.#column(
            column.id,
            Math.max(...relation.inputs.map((q) => this.#columns.get(q.output[i]?.column.id ?? -1) ?? HEAVY)),
          ),
        );
    }
  }

  /** Marks `expr` and what it is made of. */
  #alone(expr: Expr): void {
    this.#single.add(expr);
    switch (expr.kind) {
      case 'field':
      case 'cast':
        return this.#alone(expr.input);
      case 'call':
        return [...expr.args, ...Object.values(expr.named)].forEach((a) => this.#alone(a));
      case 'case':
        [expr.operand, expr.else].forEach((e) => e !== null && this.#alone(e));
        return expr.whens.flatMap(({ when, then }) => [when, then]).forEach((e) => this.#alone(e));
      case 'make_array':
        return expr.elements.forEach((e) => this.#alone(e));
      case 'make_struct':
        return expr.fields.forEach((e) => this.#alone(e));
      case 'literal':
      case 'parameter':
      case 'column':
      case 'subquery':
        return;
    }
  }

  #ofAggregate(name: string, args: readonly Expr[], kind: string): number {
    if (isSmall(kind)) return 1;
    return OF_ONE_ROW.has(name) && args[0] !== undefined ? this.of(args[0]) : HEAVY;
  }

  #element(array: Expr): number {
    const element = array.type.kind === 'ARRAY' ? array.type.element.kind : 'ARRAY';
    return isSmall(element) ? 1 : this.of(array);
  }

  #scalar(expr: Expr): number {
    return isSmall(expr.type.kind) ? 1 : this.of(expr);
  }
}

/** Whether a relation has one row at most, whatever the tables hold. */
export function hasOneRow(relation: Relation): boolean {
  let known = ofOneRow.get(relation);
  if (known === undefined) ofOneRow.set(relation, (known = givesOneRow(relation)));
  return known;
}

/** A CTE is asked at every place that reads it. */
const ofOneRow = new WeakMap<Relation, boolean>();

function givesOneRow(relation: Relation): boolean {
  switch (relation.kind) {
    case 'single_row':
      return true;
    case 'aggregate':
      return relation.keys.length === 0 && relation.groupingSets === null;
    case 'compute':
    case 'filter':
    case 'sort':
    case 'window':
      return hasOneRow(relation.input);
    case 'limit':
      return (relation.count.kind === 'literal' && relation.count.value === '1') || hasOneRow(relation.input);
    case 'query':
      return hasOneRow(relation.query.relation);
    case 'cte':
      return hasOneRow(relation.cte.query.relation);
    case 'join':
      return relation.type === 'inner' && hasOneRow(relation.left) && hasOneRow(relation.right);
    default:
      return false;
  }
}

/** Types whose values are all of one size. */
function isSmall(kind: string): boolean {
  return !['STRING', 'BYTES', 'JSON', 'ARRAY', 'STRUCT', 'GEOGRAPHY'].includes(kind);
}
