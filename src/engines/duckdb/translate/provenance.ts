/**
 * Which columns hold values just as a table keeps them. In those, arrays inside records are never NULL and no array holds
 * a NULL, so that writing them out needs no look inside.
 */
import type { Expr, Relation, ResolvedQuery } from '../../../googlesql/resolved';

/** The ids of the columns of `query` that are taken from tables unchanged, whole or in part. */
export function storedColumns(query: ResolvedQuery): ReadonlySet<number> {
  const stored = new Set<number>();
  ofQuery(query, stored);
  return stored;
}

function isStored(expr: Expr, stored: ReadonlySet<number>): boolean {
  if (expr.kind === 'column') return stored.has(expr.column.id);
  return expr.kind === 'field' && isStored(expr.input, stored);
}

function ofQuery(query: ResolvedQuery, stored: Set<number>): void {
  query.ctes.forEach((cte) => ofQuery(cte.query, stored));
  ofRelation(query.relation, stored);
}

function ofRelation(relation: Relation, stored: Set<number>): void {
  switch (relation.kind) {
    case 'single_row':
      return;
    case 'table':
      return relation.columns.forEach((c) => void stored.add(c.column.id));
    case 'cte':
      return relation.columns.forEach((c) => void (stored.has(c.source.id) && stored.add(c.column.id)));
    case 'query':
      return ofQuery(relation.query, stored);
    case 'unnest':
      if (relation.input !== null) ofRelation(relation.input, stored);
      if (isStored(relation.array, stored)) stored.add(relation.element.id);
      return;
    case 'join':
      ofRelation(relation.left, stored);
      return ofRelation(relation.right, stored);
    case 'compute':
      ofRelation(relation.input, stored);
      return relation.columns.forEach((c) => void (isStored(c.expr, stored) && stored.add(c.column.id)));
    case 'aggregate':
      ofRelation(relation.input, stored);
      return relation.keys.forEach((k) => void (isStored(k.expr, stored) && stored.add(k.column.id)));
    case 'filter':
    case 'window':
    case 'sort':
    case 'limit':
      return ofRelation(relation.input, stored);
    case 'set':
      relation.inputs.forEach((q) => ofQuery(q, stored));
      return relation.columns.forEach(
        (column, i) =>
          void (relation.inputs.every((q) => stored.has(q.output[i]?.column.id ?? -1)) && stored.add(column.id)),
      );
  }
}
