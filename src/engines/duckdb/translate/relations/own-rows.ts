/**
 * The rows that a caller may see, as tables of their own (docs/decisions/fence.md).
 *
 * Where rows are joined, DuckDB decides by how many rows and which values *all* projects have what is evaluated, on which rows and
 * whether at all. So behind the fence a query that joins rows and can fail is run in two steps: what cannot fail is computed first, into
 * temporary tables, and what can is computed over these, which hold nothing but what the caller may see.
 */
import { hasOneRowAtMost } from '../../../../googlesql/cardinality';
import { columnsRead } from '../../../../googlesql/columns-read';
import type { Column, Cte, CteScan, Expr, JoinRelation, Relation, ResolvedQuery } from '../../../../googlesql/resolved';
import { mapOperands, mapRelation, replacing, visitQuery, type Mapping } from '../../../../googlesql/resolved-walk';
import { aggregateFailsItself, failsItself } from '../../../../googlesql/totality';
import type { Fence } from '../../../contract';
import { isClosed, outerColumns, outerColumnsOf } from './ctes';
import { conjuncts } from './subquery-lists';
import { visibleColumns } from './visible-columns';

export interface OwnRows {
  /** The query over such tables, which are the last of its CTEs. */
  readonly query: ResolvedQuery;
  /** Whether a CTE is a table that is computed before the statement. */
  readonly isTable: (cte: Cte) => boolean;
}

/** @returns the query as it is where nothing has to be computed before it */
export function withOwnRows(query: ResolvedQuery, fence: Fence): OwnRows {
  const separation = new Separation(query, fence);
  const separated = separation.query(query);
  const ids = new Set(separation.tables.map(({ id }) => id));
  const ctes = [...separated.ctes, ...separation.tables];
  return { query: ids.size === 0 ? query : { ...separated, ctes }, isTable: ({ id }) => ids.has(id) };
}

class Separation {
  readonly tables: Cte[] = [];
  /** CTEs as the query has them then. */
  readonly #ctes = new Map<Cte, Cte>();
  readonly #failing = { everywhere: new WeakMap<Relation, boolean>(), consumer: new WeakMap<Relation, boolean>() };
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

  /** A query as a whole: the statement, or a CTE of the stored query. */
  query(query: ResolvedQuery): ResolvedQuery {
    const needsTables = this.#canFail(query.relation, 'everywhere') && this.#joins(query);
    const relation = needsTables ? this.#over(query.relation, []) : this.#written.relation(query.relation);
    return { ...query, ctes: query.ctes.map((cte) => this.#cte(cte, needsTables)), relation };
  }

  /** A CTE of the stored query is looked at for itself; one of the consumer is a part of the statement. */
  #cte(cte: Cte, isSeparated: boolean): Cte {
    let known = this.#ctes.get(cte);
    if (known === undefined) {
      const { query } = cte;
      const overTables = isSeparated && this.#canFail(query.relation, 'consumer');
      if (this.#isStored(cte)) known = { ...cte, query: this.query(query) };
      else known = { ...cte, query: overTables ? this.#subquery(query) : this.#written.query(query) };
      this.#ctes.set(cte, known);
    }
    return known;
  }

  /** A part of a query as it is, over CTEs as they have become. */
  readonly #written: Mapping = {
    expr: (expr) => mapOperands(expr, this.#written),
    relation: (relation) =>
      relation.kind === 'cte'
        ? { ...relation, cte: this.#cte(relation.cte, false) }
        : mapRelation(relation, this.#written),
    query: (query) => ({
      ...query,
      ctes: query.ctes.map((cte) => this.#cte(cte, false)),
      relation: this.#written.relation(query.relation),
    }),
  };

  /**
   * A relation of a statement over tables.
   *
   * @param conditions that its rows have to hold, and that cannot fail
   */
  #over(relation: Relation, conditions: readonly Expr[]): Relation {
    const whole = filtered(relation, conditions);
    if (this.#isFirst(relation) && isClosed(queryOf(whole))) return this.#table(whole);
    switch (relation.kind) {
      case 'filter': {
        const all = [...conjuncts(relation.condition), ...conditions];
        const below = all.filter((condition) => this.#canGoBelow(condition, relation.input));
        const above = all.filter((condition) => !below.includes(condition)).map(this.#expr);
        return filtered(this.#over(relation.input, below), above);
      }
      case 'join':
        return this.#join(relation, conditions);
      case 'query':
        return { ...relation, query: this.#subquery(relation.query, conditions) };
      case 'cte':
        return filtered({ ...relation, cte: this.#cte(relation.cte, true) }, conditions);
      default: {
        const mapping: Mapping = {
          expr: this.#expr,
          relation: (input) => this.#over(input, []),
          query: (query) => this.#subquery(query),
        };
        return filtered(mapRelation(relation, mapping), conditions);
      }
    }
  }

  /** Whether a relation can be computed before what can fail. A column of the stored query that can is computed where nothing is joined. */
  #isFirst(relation: Relation): boolean {
    if (!readsRows(relation)) return false;
    if (!this.#canFail(relation, 'everywhere')) return true;
    return !this.#canFail(relation, 'consumer') && !this.#joins(queryOf(relation));
  }

  #subquery(query: ResolvedQuery, conditions: readonly Expr[] = []): ResolvedQuery {
    const ctes = query.ctes.map((cte) => this.#cte(cte, true));
    return { ...query, ctes, relation: this.#over(query.relation, conditions) };
  }

  readonly #expr = (expr: Expr): Expr => mapOperands(expr, { expr: this.#expr, query: this.#inner });

  /**
   * A subquery that can fail, whose equalities with columns of the row around it are not seen as such. DuckDB else evaluates it on
   * all rows that it reads, not on those alone that belong to a row around it.
   */
  readonly #inner = (written: ResolvedQuery): ResolvedQuery => {
    if (!readsRows(written.relation)) return written;
    const query = this.#subquery(written);
    if (!this.#canFail(query.relation, 'everywhere')) return query;
    const outer = outerColumns(query);
    return replacing((part) => {
      if (this.#hidden.has(part)) return part;
      if (part.kind !== 'column' || !outer.has(part.column.id) || ['ARRAY', 'STRUCT'].includes(part.type.kind))
        return undefined;
      const hidden = callOf('COALESCE', [part, part], part);
      this.#hidden.add(hidden);
      return hidden;
    }).query(query);
  };

  /** What an outer join adds rows for is not filtered before it. */
  #join(join: JoinRelation, conditions: readonly Expr[]): Relation {
    const keepsRows = {
      left: join.type !== 'right' && join.type !== 'full',
      right: join.type !== 'left' && join.type !== 'full',
    };
    const left = keepsRows.left ? conditions.filter((condition) => this.#canGoBelow(condition, join.left)) : [];
    const right = keepsRows.right ? conditions.filter((condition) => this.#canGoBelow(condition, join.right)) : [];
    const joined: Relation = {
      ...join,
      left: this.#over(join.left, left),
      right: this.#over(join.right, right),
      on: join.on && this.#expr(join.on),
    };
    return filtered(
      joined,
      conditions.filter((condition) => !left.includes(condition) && !right.includes(condition)),
    );
  }

  #canGoBelow(condition: Expr, input: Relation): boolean {
    const asRelation = conditionOf(condition);
    if (this.#canFail(asRelation, 'everywhere') || readsRows(asRelation)) return false;
    const columns = new Set(visibleColumns(input).map(({ id }) => id));
    return [...outerColumnsOf(condition)].every((id) => columns.has(id));
  }

  #table(relation: Relation): CteScan {
    const written = this.#written.relation(relation);
    const query = queryOf(written, visibleColumns(written));
    const cte: Cte = { id: ++this.#lastId, name: 'own rows', span: NOWHERE, query };
    this.tables.push(cte);
    return { kind: 'cte', cte, columns: query.output.map(({ column }) => ({ column, source: column })) };
  }

  #isStored({ span }: Cte): boolean {
    const { consumer } = this.fence;
    return consumer === null || span.start < consumer.start || span.start >= consumer.end;
  }

  /** Whether rows of two relations meet in a query, CTEs of the stored query aside. */
  #joins(query: ResolvedQuery): boolean {
    let joins = false;
    visitQuery(query, {
      relation: (relation) => {
        joins ||= relation.kind === 'set' || (relation.kind === 'join' && !this.#addsConstants(relation));
        if (relation.kind === 'cte' && !this.#isStored(relation.cte)) joins ||= this.#joins(relation.cte.query);
      },
      expr: (expr) => {
        joins ||= expr.kind === 'subquery' && readsRows(expr.query.relation);
      },
    });
    return joins;
  }

  /** Whether a join adds columns of one constant row alone (`withoutConstantRow`). */
  #addsConstants({ type, left, right }: JoinRelation): boolean {
    const isConstant = (side: Relation): boolean =>
      !readsRows(side) && hasOneRowAtMost(side) && !this.#canFail(side, 'everywhere');
    return type === 'inner' && (isConstant(left) || isConstant(right));
  }

  /**
   * Whether anything that a relation evaluates may fail on some row.
   *
   * @param where `consumer`: CTEs of the stored query aside
   */
  #canFail(relation: Relation, where: 'everywhere' | 'consumer'): boolean {
    const known = this.#failing[where].get(relation);
    if (known !== undefined) return known;
    let fails = false;
    visitQuery(queryOf(relation), {
      relation: (one) => {
        if (one.kind === 'cte' && (where === 'everywhere' || !this.#isStored(one.cte)))
          fails ||= this.#canFail(one.cte.query.relation, where);
        if (one.kind === 'aggregate') fails ||= one.aggregates.some(({ call }) => aggregateFailsItself(call));
        if (one.kind === 'window') fails ||= one.functions.some(({ call }) => aggregateFailsItself(call.call));
      },
      expr: (expr) => {
        fails ||= this.#failsOnRows(expr);
      },
    });
    this.#failing[where].set(relation, fails);
    return fails;
  }

  /** What the stored query computes of parameters alone fails for every row, or for none. */
  #failsOnRows(expr: Expr): boolean {
    if (!failsItself(expr)) return false;
    const { consumer } = this.fence;
    const isConsumers = consumer === null || (expr.span.start >= consumer.start && expr.span.start < consumer.end);
    return isConsumers || columnsRead([expr]).size > 0;
  }
}

const NOWHERE = { start: 0, end: 0 };

function queryOf(relation: Relation, columns: readonly Column[] = []): ResolvedQuery {
  const output = columns.map((column) => ({ name: null, column }));
  return { ctes: [], relation, output, valueTable: false, ordered: false };
}

/** A relation that evaluates an expression, to look at that as one looks at relations. */
function conditionOf(condition: Expr): Relation {
  return { kind: 'filter', input: { kind: 'single_row' }, condition };
}

function filtered(input: Relation, conditions: readonly Expr[]): Relation {
  const [first] = conditions;
  if (first === undefined) return input;
  return { kind: 'filter', input, condition: conditions.length === 1 ? first : callOf('$and', conditions, first) };
}

/** @param like has its type and place */
function callOf(name: string, args: readonly Expr[], { type, span }: Expr): Expr {
  return { kind: 'call', function: name, safe: false, args, named: {}, part: null, type, span };
}

/** Whether it reads a table, through CTEs too. */
function readsRows(relation: Relation): boolean {
  let reads = reading.get(relation);
  if (reads !== undefined) return reads;
  reads = false;
  visitQuery(queryOf(relation), {
    relation: (one) => {
      reads ||= one.kind === 'table' || (one.kind === 'cte' && readsRows(one.cte.query.relation));
    },
  });
  reading.set(relation, reads);
  return reads;
}

const reading = new WeakMap<Relation, boolean>();
