import {
  type Expr,
  definesOf,
  operandsOf,
  relationExpressions,
  relationsBelow,
} from '../../../packages/googlesql/src/face/index';

/** What an expression reads of the rows around it, its subqueries' own columns left out, and whether it scans a CTE. */
export function readsOf(expr: Expr): { readonly columns: ReadonlySet<number>; readonly scansCte: boolean } {
  const read = new Set<number>();
  const own = new Set<number>();
  let scansCte = false;
  const pending = [expr];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    if (next.kind === 'column') read.add(next.column.id);
    pending.push(...operandsOf(next));
    if (next.kind !== 'subquery') continue;
    for (const { column } of next.query.output) read.add(column.id);
    for (const relation of relationsBelow(next.query)) {
      scansCte ||= relation.kind === 'cte';
      for (const { column } of definesOf(relation)) own.add(column.id);
      pending.push(...relationExpressions(relation));
    }
  }
  return { columns: new Set([...read].filter((id) => !own.has(id))), scansCte };
}
