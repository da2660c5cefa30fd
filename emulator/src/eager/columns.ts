import type { Expr, Relation } from '../../../src/googlesql/resolved';
import { inputsOf, operandsOf, relationExpressions, relationsBelow } from '../../../src/googlesql/resolved-walk';

/** Ids of the columns that an operator above the relation may read. */
export function columnsOf(relation: Relation): ReadonlySet<number> {
  const inputs = (): number[] => inputsOf(relation).flatMap((input) => [...columnsOf(input)]);
  return new Set(
    relation.kind === 'aggregate' || relation.kind === 'set' ? added(relation) : [...inputs(), ...added(relation)],
  );
}

/** Ids of the columns that an operator makes itself. */
function added(relation: Relation): number[] {
  switch (relation.kind) {
    case 'table':
    case 'cte':
    case 'compute':
      return relation.columns.map(({ column }) => column.id);
    case 'unnest':
      return [relation.element.id, ...(relation.offset === null ? [] : [relation.offset.id])];
    case 'aggregate':
      return [...relation.keys, ...relation.aggregates].map(({ column }) => column.id);
    case 'window':
      return relation.functions.map(({ column }) => column.id);
    case 'set':
      return relation.columns.map(({ id }) => id);
    default:
      return [];
  }
}

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
      for (const id of added(relation)) own.add(id);
      pending.push(...relationExpressions(relation));
    }
  }
  return { columns: new Set([...read].filter((id) => !own.has(id))), scansCte };
}
