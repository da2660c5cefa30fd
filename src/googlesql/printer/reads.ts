/** Which columns expressions read, those that their subqueries read among them. */
import type { Expr, ResolvedQuery } from '../resolved';
import { operandsOf, relationExpressions, relationsBelow } from '../resolved-walk';

const ofQueries = new WeakMap<ResolvedQuery, ReadonlySet<number>>();

/** Ids of the columns; of a subquery its own columns too, which nobody else has. */
export function columnsRead(exprs: Iterable<Expr | null>): Set<number> {
  const read = new Set<number>();
  const pending = [...exprs];
  for (let expr = pending.pop(); expr !== undefined; expr = pending.pop()) {
    if (expr === null) continue;
    if (expr.kind === 'column') read.add(expr.column.id);
    if (expr.kind === 'subquery') for (const id of ofQuery(expr.query)) read.add(id);
    pending.push(...operandsOf(expr));
  }
  return read;
}

function ofQuery(query: ResolvedQuery): ReadonlySet<number> {
  const known = ofQueries.get(query);
  if (known !== undefined) return known;
  const read = columnsRead(relationsBelow(query).flatMap(relationExpressions));
  // A subquery may hand on a column of the rows around it.
  for (const { column } of query.output) read.add(column.id);
  ofQueries.set(query, read);
  return read;
}

/** Ids of the columns of CTEs that some scan of the query reads. */
export function readOfCtes(query: ResolvedQuery): Set<number> {
  const read = new Set<number>();
  const queries = [query];
  for (let next = queries.pop(); next !== undefined; next = queries.pop()) {
    for (const relation of relationsBelow(next)) {
      if (relation.kind === 'cte') for (const { source } of relation.columns) read.add(source.id);
      queries.push(...relationExpressions(relation).flatMap(subqueriesOf));
    }
  }
  return read;
}

function subqueriesOf(expr: Expr): ResolvedQuery[] {
  const found: ResolvedQuery[] = [];
  const pending = [expr];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    if (next.kind === 'subquery') found.push(next.query);
    pending.push(...operandsOf(next));
  }
  return found;
}
