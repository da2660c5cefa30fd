/** LIMIT and OFFSET: an integer literal or a parameter. */
import type { Expr } from '../resolved';
import type { Expression } from '../syntax';
import type { Context } from './context';
import { converted } from './convert';
import { resolveExpr } from './expression';
import { invalid } from './session';

export function resolveLimitCount(context: Context, expression: Expression, what: string): Expr {
  const count = converted(context.session, resolveExpr(context, expression), { kind: 'INT64' }, what);
  const constant = count.kind === 'cast' ? count.input : count;
  if (constant.kind !== 'literal' && constant.kind !== 'parameter')
    throw invalid(`${what} takes an integer literal or a query parameter.`, expression.span);
  if (constant.kind === 'literal' && (constant.value === null || constant.value.startsWith('-')))
    throw invalid(`${what} takes an integer that is not negative.`, expression.span);
  return count;
}
