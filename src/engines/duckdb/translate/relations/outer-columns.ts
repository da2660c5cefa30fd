/** Columns of the rows around a subquery in its aggregates and window functions. */
import type { Aggregate, Column, Relation, Windowed } from '../../../../googlesql/resolved';
import { mapRelation, replacing, visitQuery } from '../../../../googlesql/resolved-walk';
import type { Context } from '../context';
import { outerColumns } from './ctes';
import { visibleColumns } from './visible-columns';

/**
 * DuckDB takes an aggregate whose arguments are all columns of the rows around the subquery for one of the query around it, and
 * window functions may read none. GoogleSQL's are of the subquery that they are written in: such columns become its input's.
 *
 * @returns null where there are none
 */
export function withOuterColumnsComputed(ctx: Context, relation: Aggregate | Windowed): Relation | null {
  if (ctx.subqueries === 0) return null;
  const outer = columnsAround(ctx, relation);
  if (outer.size === 0) return null;
  const renamed = new Map<number, Column>();
  for (const [id, column] of outer) {
    const own = { ...column, id: ctx.newColumn() };
    renamed.set(id, own);
    ctx.estimates.rename(id, own.id);
  }
  const columns = [...outer].map(([id, column]) => ({
    column: renamed.get(id)!,
    expr: { kind: 'column', column, type: column.type, span: NOWHERE } as const,
  }));
  const input: Relation = { kind: 'compute', input: relation.input, columns };
  const mapping = replacing((expr) => {
    const column = expr.kind === 'column' ? renamed.get(expr.column.id) : undefined;
    return column && { ...expr, column };
  });
  return mapRelation(relation, { ...mapping, relation: () => input });
}

const NOWHERE = { start: 0, end: 0 };

/** By their ids. What is bound inside a lambda is no column. */
function columnsAround(ctx: Context, relation: Aggregate | Windowed): ReadonlyMap<number, Column> {
  const alone = { ...relation, input: { kind: 'single_row' } as const };
  const query = { ctes: [], relation: alone, output: [], valueTable: false, ordered: false };
  const own = new Set(visibleColumns(relation.input).map(({ id }) => id));
  const ids = [...outerColumns(query)].filter((id) => !own.has(id) && !ctx.bound.has(id));
  const columns = new Map<number, Column>();
  if (ids.length === 0) return columns;
  visitQuery(query, {
    expr: (expr) => {
      if (expr.kind === 'column' && ids.includes(expr.column.id)) columns.set(expr.column.id, expr.column);
    },
  });
  return columns;
}
