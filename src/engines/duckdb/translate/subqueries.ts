/** Subqueries in expressions: as list functions where they only take arrays of the row apart, else as they are. */
import type { Expr, SubqueryExpr } from '../../../googlesql/resolved';
import { NeedsRelation, columnName, type Context } from './context';
import { printExpr } from './expressions';
import { printAsLists } from './lists';
import { printQuery } from './relations';
import { duckType } from './sql';

export function printSubquery(ctx: Context, expr: SubqueryExpr): string {
  // Its own columns get their weights.
  ctx.weights.of(expr);
  const { single } = ctx;
  ctx.single = false;
  ctx.subqueries++;
  try {
    return printInside(ctx, expr);
  } finally {
    ctx.single = single;
    ctx.subqueries--;
  }
}

function printInside(ctx: Context, expr: SubqueryExpr): string {
  const asLists = printAsLists(ctx, expr);
  if (asLists !== null) return asLists;
  if (ctx.lambdas > 0) throw new NeedsRelation();
  const ids = new Set(expr.query.output.map((o) => o.column.id));
  const column = expr.query.output[0]?.column;
  if (column === undefined) throw new Error('a subquery without a column');
  const query = printQuery(ctx, expr.query, ids, expr.mode === 'array');
  const value = columnName(column.id);
  switch (expr.mode) {
    case 'exists':
      return `EXISTS (${query})`;
    case 'scalar':
      return `(SELECT ${value} FROM (${query}))`;
    case 'array':
      return `coalesce(ARRAY(SELECT ${value} FROM (${query})), CAST([] AS ${duckType(expr.type)}))`;
    case 'in':
      return `(${printExpr(ctx, operandOf(expr))} IN (SELECT ${value} FROM (${query})))`;
  }
}

export function operandOf(expr: SubqueryExpr): Expr {
  if (expr.operand === null) throw new Error('IN without an operand');
  return expr.operand;
}
