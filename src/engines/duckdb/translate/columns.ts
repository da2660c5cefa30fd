/** Which columns a relation shows and which ones an expression or a relation reads. */
import type { AggregateCall, Column, Expr, Relation, ResolvedQuery, SortKey } from '../../../googlesql/resolved';
import type { WindowCall } from '../../../googlesql/resolved';

/** The columns that an operator above `relation` may read, in order. */
export function visibleColumns(relation: Relation): readonly Column[] {
  let columns = known.get(relation);
  if (columns === undefined) known.set(relation, (columns = columnsOf(relation)));
  return columns;
}

/** Every relation of a long chain is asked, some more than once. */
const known = new WeakMap<Relation, readonly Column[]>();

function columnsOf(relation: Relation): readonly Column[] {
  switch (relation.kind) {
    case 'single_row':
      return [];
    case 'table':
    case 'cte':
      return relation.columns.map((c) => c.column);
    case 'query':
      return relation.query.output.map((c) => c.column);
    case 'unnest':
      return [
        ...(relation.input === null ? [] : visibleColumns(relation.input)),
        relation.element,
        ...(relation.offset === null ? [] : [relation.offset]),
      ];
    case 'join':
      return [...visibleColumns(relation.left), ...visibleColumns(relation.right)];
    case 'filter':
    case 'sort':
    case 'limit':
      return visibleColumns(relation.input);
    case 'compute':
      return [...visibleColumns(relation.input), ...relation.columns.map((c) => c.column)];
    case 'aggregate':
      return [...relation.keys.map((k) => k.column), ...relation.aggregates.map((a) => a.column)];
    case 'window':
      return [...visibleColumns(relation.input), ...relation.functions.map((f) => f.column)];
    case 'set':
      return relation.columns;
  }
}

/** Adds to `into` the ids of all columns read in `expr`, those read inside its subqueries included. */
export function readsOfExpr(expr: Expr | null, into: Set<number>): Set<number> {
  if (expr === null) return into;
  switch (expr.kind) {
    case 'literal':
    case 'parameter':
      break;
    case 'column':
      into.add(expr.column.id);
      break;
    case 'field':
      readsOfExpr(expr.input, into);
      break;
    case 'call':
      expr.args.forEach((a) => readsOfExpr(a, into));
      Object.values(expr.named).forEach((a) => readsOfExpr(a, into));
      break;
    case 'cast':
      readsOfExpr(expr.input, into);
      readsOfExpr(expr.format, into);
      readsOfExpr(expr.timeZone, into);
      break;
    case 'case':
      readsOfExpr(expr.operand, into);
      for (const { when, then } of expr.whens) {
        readsOfExpr(when, into);
        readsOfExpr(then, into);
      }
      readsOfExpr(expr.else, into);
      break;
    case 'make_array':
      expr.elements.forEach((e) => readsOfExpr(e, into));
      break;
    case 'make_struct':
      expr.fields.forEach((e) => readsOfExpr(e, into));
      break;
    case 'subquery':
      readsOfExpr(expr.operand, into);
      readsOfQuery(expr.query, into);
      break;
  }
  return into;
}

export function readsOfKeys(keys: readonly SortKey[], into: Set<number>): Set<number> {
  keys.forEach((key) => readsOfExpr(key.expr, into));
  return into;
}

export function readsOfAggregate(call: AggregateCall, into: Set<number>): Set<number> {
  call.args.forEach((a) => readsOfExpr(a, into));
  readsOfExpr(call.having?.expr ?? null, into);
  readsOfKeys(call.orderBy, into);
  return readsOfExpr(call.limit, into);
}

export function readsOfWindow({ call, partitionBy, orderBy, frame }: WindowCall, into: Set<number>): Set<number> {
  readsOfAggregate(call, into);
  partitionBy.forEach((p) => readsOfExpr(p, into));
  readsOfKeys(orderBy, into);
  readsOfExpr(frame?.from.offset ?? null, into);
  return readsOfExpr(frame?.to.offset ?? null, into);
}

export function readsOfQuery(query: ResolvedQuery, into: Set<number>): Set<number> {
  query.ctes.forEach((cte) => readsOfQuery(cte.query, into));
  query.output.forEach((o) => into.add(o.column.id));
  return readsOfRelation(query.relation, into);
}

/** All columns read anywhere inside `relation`: its own and, where it is correlated, those of relations around it. */
export function readsOfRelation(relation: Relation, into: Set<number>): Set<number> {
  switch (relation.kind) {
    case 'single_row':
    case 'table':
    case 'cte':
      return into;
    case 'query':
      return readsOfQuery(relation.query, into);
    case 'unnest':
      readsOfExpr(relation.array, into);
      readsOfExpr(relation.on, into);
      return relation.input === null ? into : readsOfRelation(relation.input, into);
    case 'join':
      readsOfExpr(relation.on, into);
      readsOfRelation(relation.left, into);
      return readsOfRelation(relation.right, into);
    case 'filter':
      readsOfExpr(relation.condition, into);
      return readsOfRelation(relation.input, into);
    case 'compute':
      relation.columns.forEach((c) => readsOfExpr(c.expr, into));
      return readsOfRelation(relation.input, into);
    case 'aggregate':
      relation.keys.forEach((k) => readsOfExpr(k.expr, into));
      relation.aggregates.forEach((a) => readsOfAggregate(a.call, into));
      return readsOfRelation(relation.input, into);
    case 'window':
      relation.functions.forEach((f) => readsOfWindow(f.call, into));
      return readsOfRelation(relation.input, into);
    case 'sort':
      readsOfKeys(relation.keys, into);
      return readsOfRelation(relation.input, into);
    case 'limit':
      readsOfExpr(relation.count, into);
      readsOfExpr(relation.offset, into);
      return readsOfRelation(relation.input, into);
    case 'set':
      relation.inputs.forEach((q) => readsOfQuery(q, into));
      return into;
  }
}
