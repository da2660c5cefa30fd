/** Queries inside expressions; they see the rows around them. */
import { supertype } from '../coercion';
import type { Column, Expr, ResolvedQuery, SubqueryExpr } from '../resolved';
import type { ArraySubquery, Exists, InSubquery, ScalarSubquery, Span } from '../tree';
import type { SqlType } from '../types';
import { shortType } from './access';
import { supportsEquality } from './comparable';
import type { Context } from './context';
import { convert } from './convert';
import { resolveExpr } from './expression';
import { negated } from './operators';
import { castOutputs, resolveQueryAt } from './queries';
import { invalid } from './session';

function subquery(
  mode: SubqueryExpr['mode'],
  operand: Expr | null,
  query: ResolvedQuery,
  type: SqlType,
  span: Span,
): SubqueryExpr {
  return { kind: 'subquery', mode, operand, query, type, span };
}

function onlyColumn(query: ResolvedQuery, what: string, span: Span): Column {
  const [first, second] = query.output;
  if (first === undefined || second !== undefined)
    throw invalid(
      `${what} cannot have more than one column unless using SELECT AS STRUCT to build STRUCT values.`,
      span,
    );
  return first.column;
}

export function resolveScalarSubquery(context: Context, { query, span }: ScalarSubquery): Expr {
  const resolved = resolveQueryAt(context, query);
  return subquery('scalar', null, resolved, onlyColumn(resolved, 'Scalar subquery', span).type, span);
}

export function resolveArraySubquery(context: Context, { query, span }: ArraySubquery): Expr {
  const resolved = resolveQueryAt(context, query);
  const { type } = onlyColumn(resolved, 'ARRAY subquery', span);
  if (type.kind === 'ARRAY')
    throw invalid(
      `Cannot use array subquery with column of type ${shortType(type)} because nested arrays are not supported.`,
      span,
    );
  return subquery('array', null, resolved, { kind: 'ARRAY', element: type }, span);
}

export function resolveExists(context: Context, { query, span }: Exists): Expr {
  return subquery('exists', null, resolveQueryAt(context, query), { kind: 'BOOL' }, span);
}

export function resolveInSubquery(context: Context, { operand, query, negated: not, span }: InSubquery): Expr {
  const { session } = context;
  const value = resolveExpr(context, operand);
  const resolved = resolveQueryAt(context, query);
  const { type: columnType } = onlyColumn(resolved, 'A subquery after IN', span);
  const type = supertype([session.operand(value), { type: columnType, form: 'value' }]);
  if (type === null || !supportsEquality(type))
    throw invalid(
      `Cannot execute IN subquery with uncomparable types ${shortType(value.type)} and ${shortType(columnType)}.`,
      span,
    );
  const tested = subquery(
    'in',
    convert(session, value, type),
    castOutputs(session, resolved, [type]),
    { kind: 'BOOL' },
    span,
  );
  return not ? negated(tested) : tested;
}
