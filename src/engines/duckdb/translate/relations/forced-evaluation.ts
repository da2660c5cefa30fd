/**
 * What can fail is evaluated whether or not something beside it has rows (docs/decisions/fence.md).
 *
 * DuckDB evaluates one input of a join first, the one that it believes to be smaller from how many rows a table has and
 * which values are in it, and when that has no rows it does not look at the other. So whether the other one's error comes would
 * depend on rows of other projects. Inputs that can fail are CTEs of their own, which DuckDB always evaluates.
 */
import type { Column, Cte, Expr, Filter, Relation, ResolvedQuery } from '../../../../googlesql/resolved';
import { mapOperands, mapRelation, replacing, visitQuery } from '../../../../googlesql/resolved-walk';
import { aggregateFailsItself, failsItself } from '../../../../googlesql/totality';
import { columnsRead } from '../../../../googlesql/columns-read';
import type { Fence } from '../../../contract';
import { isClosed, outerColumns } from './ctes';
import { conjuncts } from './subquery-lists';
import { visibleColumns } from './visible-columns';

export interface Forced {
  readonly query: ResolvedQuery;
  /** Whether a CTE is an input that is always evaluated. */
  readonly isForced: (cte: Cte) => boolean;
}

/** @returns the query with such inputs as CTEs */
export function forceEvaluation(query: ResolvedQuery, fence: Fence): Forced {
  const forcing = new Forcing(query, fence);
  const rewritten = forcing.query(query);
  const { forced } = forcing;
  const ids = new Set(forced.map(({ id }) => id));
  return { query: { ...rewritten, ctes: [...rewritten.ctes, ...forced] }, isForced: ({ id }) => ids.has(id) };
}

class Forcing {
  /** CTEs that have been added. */
  readonly forced: Cte[] = [];
  readonly #ctes = new Map<Cte, Cte>();
  readonly #failing = new WeakMap<Relation, boolean>();
  readonly #hidden = new WeakSet<Expr>();
  #lastId = 0;

  constructor(
    query: ResolvedQuery,
    private readonly fence: Fence,
  ) {
    visitQuery(query, {
      relation: (relation) => {
        if (relation.kind === 'cte') this.#lastId = Math.max(this.#lastId, relation.cte.id);
      },
    });
    for (const { id } of query.ctes) this.#lastId = Math.max(this.#lastId, id);
  }

  readonly query = (query: ResolvedQuery): ResolvedQuery => ({
    ...query,
    ctes: query.ctes.map(this.#cte),
    relation: this.#relation(query.relation),
  });

  readonly #cte = (cte: Cte): Cte => {
    let known = this.#ctes.get(cte);
    if (known === undefined) this.#ctes.set(cte, (known = { ...cte, query: this.query(cte.query) }));
    return known;
  };

  readonly #relation = (written: Relation): Relation => {
    if (written.kind === 'cte') return { ...written, cte: this.#cte(written.cte) };
    const relation = mapRelation(written, { expr: this.#expr, relation: this.#relation, query: this.query });
    if (relation.kind === 'set' && relation.operator !== 'union') {
      const inputs = relation.inputs.map((input) => ({ ...input, relation: this.#forced(input.relation) }));
      return { ...relation, inputs };
    }
    if (relation.kind === 'filter') return this.#filter(relation);
    if (relation.kind !== 'join') return relation;
    const [left, right, on] = this.#withOperands(relation.left, relation.right, relation.on);
    return { ...relation, left: this.#forced(left), right: this.#forced(right), on };
  };

  readonly #expr = (written: Expr): Expr => {
    const expr = mapOperands(written, { expr: this.#expr, query: this.query });
    if (expr.kind !== 'subquery') return expr;
    const query = { ...expr.query, relation: this.#closedParts(expr.query.relation) };
    return { ...expr, query: this.#fails(query.relation) && readsTables(query) ? this.#apart(query) : query };
  };

  /**
   * DuckDB joins the rows of a filter with those of a subquery in its condition. So what can fail of the filter's own columns, beside
   * the subquery and as the operand of an IN, comes before. What depends on a row around it cannot: there DuckDB marks rows, which
   * looks at each, rather than leave those out that the subquery does not have.
   */
  #filter(relation: Filter): Relation {
    const conditions = conjuncts(relation.condition);
    const joined = conditions.filter(hasSubqueryOverTables);
    if (joined.length === 0) return relation;
    const own = new Set(visibleColumns(relation.input).map(({ id }) => id));
    const isOwn = (expr: Expr): boolean => [...columnsAround(expr)].every((id) => own.has(id));
    const first = conditions.filter((condition) => !joined.includes(condition) && isOwn(condition));
    let input = filtered(relation.input, first);
    const computed = joined.map((condition) => {
      const operand = condition.kind === 'subquery' ? condition.operand : null;
      if (operand === null || !this.#exprFails(operand)) return condition;
      if (!isOwn(operand)) return marking(condition);
      const column = { id: this.#newColumn(), name: 'operand', type: operand.type };
      input = { kind: 'compute', input, columns: [{ column, expr: operand }] };
      return { ...condition, operand: { kind: 'column' as const, column, type: operand.type, span: operand.span } };
    });
    const others = conditions.filter((condition) => !first.includes(condition) && !joined.includes(condition));
    const forced = this.#forced(input);
    if (forced !== input) return filtered(forced, [...others, ...computed]);
    const isMarked = computed.some((condition, i) => condition !== joined[i]);
    const canFail = isMarked || [input, ...others.map(conditionOf)].some((part) => this.#fails(part));
    return canFail ? filtered(relation.input, [...first, ...others, ...joined.map(marking)]) : relation;
  }

  /**
   * A subquery that can fail, whose equalities with columns of the row around it are not seen as such. DuckDB else evaluates it on
   * all rows that it reads, not on those alone that belong to a row around it, and that depends on how these rows lie.
   */
  #apart(query: ResolvedQuery): ResolvedQuery {
    const outer = outerColumns(query);
    return replacing((part) => {
      if (this.#hidden.has(part)) return part;
      if (part.kind !== 'column' || !outer.has(part.column.id) || ['ARRAY', 'STRUCT'].includes(part.type.kind))
        return undefined;
      const hidden = callOf('COALESCE', [part, part], part);
      this.#hidden.add(hidden);
      return hidden;
    }).query(query);
  }

  /** The parts of a subquery's relation that read nothing of the row around it. */
  #closedParts(relation: Relation): Relation {
    const forced = this.#forced(relation);
    if (forced !== relation) return forced;
    const inside = { expr: (expr: Expr) => expr, relation: (input: Relation) => this.#closedParts(input) };
    const query = (inner: ResolvedQuery): ResolvedQuery => ({ ...inner, relation: this.#closedParts(inner.relation) });
    if (relation.kind !== 'filter') return mapRelation(relation, { ...inside, query });
    const own = new Set(visibleColumns(relation.input).map(({ id }) => id));
    const all = conjuncts(relation.condition);
    const closed = all.filter((condition) => [...columnsAround(condition)].every((id) => own.has(id)));
    // A filter that reads nothing else has been looked at as a whole.
    if (closed.length === all.length) return filtered(this.#closedParts(relation.input), all);
    const input = this.#closedParts(filtered(relation.input, closed));
    return filtered(
      input,
      all.filter((condition) => !closed.includes(condition)),
    );
  }

  /** Operands of a join's equalities that can fail become columns of the input that they read. */
  #withOperands(left: Relation, right: Relation, on: Expr | null): [Relation, Relation, Expr | null] {
    if (on === null) return [left, right, on];
    const sides = [left, right];
    const columns = sides.map((side) => new Set(visibleColumns(side).map(({ id }) => id)));
    const computed = (expr: Expr): Expr => {
      const reads = [...columnsAround(expr)];
      const side = columns.findIndex((own) => reads.length > 0 && reads.every((id) => own.has(id)));
      if (side === -1 || !this.#exprFails(expr)) return expr;
      const column = { id: this.#newColumn(), name: 'operand', type: expr.type };
      sides[side] = { kind: 'compute', input: sides[side]!, columns: [{ column, expr }] };
      return { kind: 'column', column, type: expr.type, span: expr.span };
    };
    const conditions = conjuncts(on).map((condition) =>
      condition.kind === 'call' && condition.function === '$equal'
        ? { ...condition, args: condition.args.map(computed) }
        : computed(condition),
    );
    return [sides[0]!, sides[1]!, together(conditions, on)];
  }

  #newColumn(): number {
    return FIRST_COLUMN + this.#lastId++;
  }

  #forced(relation: Relation): Relation {
    if (!this.#fails(relation)) return relation;
    if (relation.kind === 'cte' && this.forced.includes(relation.cte)) return relation;
    const columns = visibleColumns(relation);
    const query = queryOf(relation, columns);
    if (!readsTables(query) || !isClosed(query)) return relation;
    const cte: Cte = { id: ++this.#lastId, name: 'forced', query };
    this.forced.push(cte);
    return { kind: 'cte', cte, columns: columns.map((column) => ({ column, source: column })) };
  }

  /** Whether anything in a relation may fail on some row, the CTEs that it reads included. */
  #fails(relation: Relation): boolean {
    let known = this.#failing.get(relation);
    if (known !== undefined) return known;
    known = false;
    visitQuery(queryOf(relation), {
      relation: (one) => {
        if (one.kind === 'cte') known ||= this.#fails(one.cte.query.relation);
        if (one.kind === 'aggregate') known ||= one.aggregates.some(({ call }) => aggregateFailsItself(call));
        if (one.kind === 'window') known ||= one.functions.some(({ call }) => aggregateFailsItself(call.call));
      },
      expr: (expr) => {
        known ||= this.#failsOnRows(expr);
      },
    });
    this.#failing.set(relation, known);
    return known;
  }

  #exprFails(expr: Expr): boolean {
    return this.#fails(conditionOf(expr));
  }

  /** What the stored query computes of parameters alone fails for every row, or for none. */
  #failsOnRows(expr: Expr): boolean {
    if (!failsItself(expr)) return false;
    const { consumer } = this.fence;
    const isConsumers = consumer === null || (expr.span.start >= consumer.start && expr.span.start < consumer.end);
    return isConsumers || columnsRead([expr]).size > 0;
  }
}

function queryOf(relation: Relation, columns: readonly Column[] = []): ResolvedQuery {
  const output = columns.map((column) => ({ name: null, column }));
  return { ctes: [], relation, output, valueTable: false, ordered: false };
}

/** A relation that evaluates an expression, to look at that as one looks at relations. */
function conditionOf(condition: Expr): Relation {
  return { kind: 'filter', input: { kind: 'single_row' }, condition };
}

/** Columns that are added here have ids that no resolved query has. */
const FIRST_COLUMN = 1_000_000_000;

function filtered(input: Relation, conditions: readonly Expr[]): Relation {
  const condition = together(conditions, conditions[0] ?? null);
  return condition === null ? input : { kind: 'filter', input, condition };
}

function together(conditions: readonly Expr[], like: Expr | null): Expr | null {
  if (like === null || conditions.length === 0) return null;
  if (conditions.length === 1) return conditions[0]!;
  return callOf('$and', conditions, like);
}

/** @param like has its type and place */
function callOf(name: string, args: readonly Expr[], { type, span }: Expr): Expr {
  return { kind: 'call', function: name, safe: false, args, named: {}, part: null, type, span };
}

/** The columns of rows around an expression that it reads: its subqueries' own are not among them. */
function columnsAround(expr: Expr): ReadonlySet<number> {
  return outerColumns(queryOf(conditionOf(expr)));
}

/** DuckDB leaves rows out by a join where a subquery, or its negation, is a whole condition. */
function marking(condition: Expr): Expr {
  return callOf('$is_true', [condition], condition);
}

function hasSubqueryOverTables(condition: Expr): boolean {
  let has = false;
  visitQuery(queryOf(conditionOf(condition)), {
    expr: (part) => {
      has ||= part.kind === 'subquery' && readsTables(part.query);
    },
  });
  return has;
}

/** Constant rows are evaluated where they are read. */
function readsTables(query: ResolvedQuery): boolean {
  let reads = false;
  visitQuery(query, {
    relation: ({ kind }) => {
      reads ||= kind === 'table' || kind === 'cte';
    },
  });
  return reads;
}
