/**
 * Which columns hold values just as a table stores them. In those, arrays inside records are never NULL and no array holds
 * a NULL, so that writing them out needs no look inside.
 */
import type { Expr, ResolvedQuery } from '../../../../googlesql/resolved';
import { relationsBelow, definesOf } from '../../../../googlesql/resolved-walk';

/** The ids of the columns of `query` that are taken from tables unchanged, whole or in part. */
export function storedColumns(query: ResolvedQuery): ReadonlySet<number> {
  const stored = new Set<number>();
  for (const relation of relationsBelow(query)) {
    for (const { column, from, call } of definesOf(relation))
      if (call === null && from.every((source) => isStored(source, stored))) stored.add(column.id);
  }
  return stored;
}

function isStored(expr: Expr, stored: ReadonlySet<number>): boolean {
  if (expr.kind === 'column') return stored.has(expr.column.id);
  if (expr.kind === 'call') return expr.function === '$with_lists' && expr.args.every((arg) => isStored(arg, stored));
  return expr.kind === 'field' && isStored(expr.input, stored);
}
