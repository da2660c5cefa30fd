/**
 * Which columns hold values just as a table stores them. In those, arrays inside records are never NULL and no array holds
 * a NULL, so that writing them out needs no look inside.
 */
import type { Expr, Relation, ResolvedQuery } from '../../../../googlesql/resolved';
import { relationsBelow } from '../../../../googlesql/resolved-walk';

/** The ids of the columns of `query` that are taken from tables unchanged, whole or in part. */
export function storedColumns(query: ResolvedQuery): ReadonlySet<number> {
  const stored = new Set<number>();
  for (const relation of relationsBelow(query)) {
    for (const [id, from] of sourcesOf(relation)) {
      if (from.every((source) => (typeof source === 'number' ? stored.has(source) : isStored(source, stored))))
        stored.add(id);
    }
  }
  return stored;
}

/** The columns that a relation defines, each with what its values are taken from: columns or an expression. */
function sourcesOf(relation: Relation): (readonly [id: number, from: readonly (number | Expr)[]])[] {
  switch (relation.kind) {
    case 'table':
      return relation.columns.map(({ column }) => [column.id, []]);
    case 'cte':
      return relation.columns.map(({ column, source }) => [column.id, [source.id]]);
    case 'unnest':
      return [[relation.element.id, [relation.array]]];
    case 'compute':
      return relation.columns.map(({ column, expr }) => [column.id, [expr]]);
    case 'aggregate':
      return relation.keys.map(({ column, expr }) => [column.id, [expr]]);
    case 'set':
      return relation.columns.map(({ id }, i) => [id, relation.inputs.map(({ output }) => output[i]?.column.id ?? -1)]);
    default:
      return [];
  }
}

function isStored(expr: Expr, stored: ReadonlySet<number>): boolean {
  if (expr.kind === 'column') return stored.has(expr.column.id);
  if (expr.kind === 'call') return expr.function === '$with_lists' && expr.args.every((arg) => isStored(arg, stored));
  return expr.kind === 'field' && isStored(expr.input, stored);
}
