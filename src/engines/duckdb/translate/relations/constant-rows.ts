/**
 * A join with one constant row (`FROM logs, params`, params being a SELECT without FROM) is no join: its columns are
 * computed beside the other side's. What they hold then folds, and a time bound made of them reaches the scan.
 */
import type { ComputedColumn, JoinRelation, Relation } from '../../../../googlesql/resolved';
import { columnRef } from '../../../../googlesql/resolved-nodes';
import { Context } from '../context';
import { printExpr } from '../expressions/expressions';

/** `join` without its constant row; null where neither side is one. */
export function withoutConstantRow(ctx: Context, join: JoinRelation): Relation | null {
  if (join.type !== 'inner') return null;
  for (const [side, other] of [
    [join.right, join.left],
    [join.left, join.right],
  ] as const) {
    const steps = constantRow(side);
    if (steps === null || !steps.every((columns) => columns.every((c) => isFoldable(ctx, c)))) continue;
    const computed = steps.reduce<Relation>((input, columns) => ({ kind: 'compute', input, columns }), other);
    return join.on === null ? computed : { kind: 'filter', input: computed, condition: join.on };
  }
  return null;
}

/** The columns of a relation that is exactly one row without reading anything, in the steps they are computed in. */
function constantRow(relation: Relation): readonly (readonly ComputedColumn[])[] | null {
  switch (relation.kind) {
    case 'single_row':
      return [];
    case 'compute': {
      const before = constantRow(relation.input);
      return before === null ? null : [...before, relation.columns];
    }
    case 'query':
      return constantRow(relation.query.relation);
    case 'cte': {
      const before = constantRow(relation.cte.query.relation);
      if (before === null) return null;
      const renamed = relation.columns.map(({ column, source }) => ({
        column,
        expr: columnRef(source),
      }));
      return [...before, renamed];
    }
    default:
      return null;
  }
}

/** Whether DuckDB computes the column once: it is neither volatile nor able to fail, and reads no other rows. */
function isFoldable(ctx: Context, { expr }: ComputedColumn): boolean {
  // Printed on the side: what is not kept must not leave its parameters behind.
  const aside = new Context(ctx.printScan, ctx.worthKeeping, ctx.ctesAreTables, ctx.estimates, new Set(), ctx.budget);
  return !/\b(?:error|random|uuid)\(|\bSELECT\b/.test(printExpr(aside, expr));
}
