/** ORDER BY of a query: positions in the select list, or expressions. */
import type { Column, Expr, SortKey } from '../resolved';
import type { OrderItem, Expression } from '../tree';
import { checkedSortKey, isIntervalLiteral } from './aggregates';
import { collatedKey } from './comparable';
import type { Context } from './context';
import { converted } from './convert';
import { resolveExpr } from './expression';
import { invalid } from './session';

/**
 * @param columns what a position counts in
 * @param final what becomes of a whole item as it is resolved
 */
export function resolveOrderBy(
  context: Context,
  items: readonly OrderItem[],
  columns: readonly Column[],
  final: (expr: Expr) => Expr = (expr) => expr,
): SortKey[] {
  return items.map((item) => {
    const expr = collatedKey(final(orderExpr(context, item, columns)), item.collation);
    return checkedSortKey(expr, item.descending, item.nulls);
  });
}

const NAMED_LITERALS = new Set(['DATE', 'TIME', 'DATETIME', 'TIMESTAMP', 'NUMERIC', 'BIGNUMERIC']);

function orderExpr(context: Context, { expression }: OrderItem, columns: readonly Column[]): Expr {
  const expr = resolveExpr(context, expression);
  if (isIntervalLiteral(expression)) throw invalid('Cannot ORDER BY literal values.', expression.span);
  if (expression.kind !== 'literal' && !(expression.kind === 'unary' && expr.kind === 'literal')) return expr;
  // `DATE '2026-09-30'` is a value like any other, the same in every row.
  if (expression.kind === 'literal' && NAMED_LITERALS.has(expression.type)) return expr;
  if (expr.type.kind !== 'INT64' || expr.kind !== 'literal' || expr.value === null)
    throw invalid('Cannot ORDER BY literal values.', expression.span);
  const position = Number(expr.value);
  const column = columns[position - 1];
  if (column === undefined)
    throw invalid(`ORDER BY is out of SELECT column number range: ${expr.value}.`, expression.span);
  return context.session.ref(column, expression.span);
}

export function resolveLimitCount(context: Context, expression: Expression, what: string): Expr {
  const count = converted(context.session, resolveExpr(context, expression), { kind: 'INT64' }, what);
  const constant = count.kind === 'cast' ? count.input : count;
  if (constant.kind !== 'literal' && constant.kind !== 'parameter')
    throw invalid(`${what} takes an integer literal or a query parameter.`, expression.span);
  if (constant.kind === 'literal' && (constant.value === null || constant.value.startsWith('-')))
    throw invalid(`${what} takes an integer that is not negative.`, expression.span);
  return count;
}
