/** Which columns expressions and queries read. */
import type { Expr, ResolvedQuery } from './resolved';
import { operandsOf, queriesOf, relationExpressions, relationsBelow, visitQuery } from './resolved-walk';

/**
 * Adds the ids of the columns that expressions read, their subqueries included; of a subquery its own columns too, which
 * nothing else has.
 */
export function columnsRead(exprs: Iterable<Expr | null>, into = new Set<number>()): Set<number> {
  const pending = [...exprs];
  for (let expr = pending.pop(); expr !== undefined; expr = pending.pop()) {
    if (expr === null) continue;
    if (expr.kind === 'column') into.add(expr.column.id);
    if (expr.kind === 'subquery') for (const id of columnsOfQuery(expr.query)) into.add(id);
    pending.push(...operandsOf(expr));
  }
  return into;
}

const ofQueries = new WeakMap<ResolvedQuery, ReadonlySet<number>>();

/** The ids of all columns that a query reads or hands on: its own and, where it is correlated, those of rows around it. */
export function columnsOfQuery(query: ResolvedQuery): ReadonlySet<number> {
  const known = ofQueries.get(query);
  if (known !== undefined) return known;
  const relations = relationsBelow(query);
  const read = columnsRead(relations.flatMap(relationExpressions));
  // What a query selects may be a column of the rows around it.
  for (const { output } of [query, ...relations.flatMap(queriesOf)])
    for (const { column } of output) read.add(column.id);
  ofQueries.set(query, read);
  return read;
}

/** Ids of the columns of CTEs that some scan of the query reads. */
export function columnsOfCtesRead(query: ResolvedQuery): ReadonlySet<number> {
  const read = new Set<number>();
  visitQuery(query, {
    relation: (relation) => {
      if (relation.kind === 'cte') for (const { source } of relation.columns) read.add(source.id);
    },
  });
  return read;
}
