/** Aggregate and window calls: each becomes a column that its SELECT computes. */
import type { SqlFunction } from '../functions/catalogue';
import type { AggregateName } from '../functions/function-table';
import type { AggregateCall, Expr, SortKey } from '../resolved';
import { operandsOf } from '../resolved-walk';
import type { Call, Expression, OrderItem } from '../tree';
import type { SqlType } from '../types';
import { shortType } from './access';
import { argumentsOf, chooseOverload } from './calls';
import { collatedKey, supportsGrouping, supportsOrdering } from './comparable';
import type { Context } from './context';
import { convert } from './convert';
import { resolveExpr } from './expression';
import { signedNumber } from './operators';
import { resolveLimitCount } from './order';
import { sameExpr } from './grouping';
import { invalid } from './session';
import { NESTED_WINDOW, resolveWindow } from './windows';

/** Of an aggregate in the argument of another one, or of a name that stands for it. */
export const NESTED = 'Aggregations of aggregations are not allowed.';

/** `fn` null: GROUPING. */
export function resolveAggregate(context: Context, call: Call, fn: SqlFunction | null, safe: boolean): Expr {
  const { session } = context;
  const name = fn?.name ?? 'GROUPING';
  if (call.over !== null) {
    if (fn?.over === undefined || fn.over === 'no')
      throw invalid(`Function ${name} does not support an OVER clause.`, call.span);
    return resolveWindowCall(context, call, fn, safe);
  }
  if (fn?.mode === 'analytic')
    throw invalid(`Analytic function ${name} cannot be called without an OVER clause.`, call.span);
  const { aggregates } = context;
  if (aggregates === NESTED) throw invalid(NESTED, call.span);
  if (typeof aggregates === 'string') throw invalid(`Aggregate function ${name} ${aggregates}.`, call.span);
  const inner: Context = {
    ...context,
    scope: aggregates.scope,
    aggregates: NESTED,
    windows: 'Analytic functions cannot be arguments to aggregate functions.',
  };
  const resolved = fn === null ? grouping(inner, call) : aggregateCall(inner, call, fn, safe);
  const column = session.column(null, resolved.type);
  aggregates.calls.push({ column, call: resolved });
  return session.ref(column, call.span);
}

function resolveWindowCall(context: Context, call: Call, fn: SqlFunction, safe: boolean): Expr {
  const { session, windows } = context;
  if (typeof windows === 'string') throw invalid(windows, call.span);
  const inner: Context = {
    ...context,
    scope: windows.scope,
    windows: NESTED_WINDOW,
  };
  if (call.orderBy.length > 0)
    throw invalid('ORDER BY in arguments is not supported on analytic functions.', call.span);
  if (call.limit !== null) throw invalid('LIMIT in arguments is not supported on analytic functions.', call.span);
  if (call.having !== null) throw invalid('HAVING modifier is not supported on analytic functions.', call.span);
  const resolved = aggregateCall(inner, call, fn, safe);
  const window = resolveWindow(inner, call, fn, windows.named);
  const column = session.column(null, resolved.type);
  windows.calls.push({ column, call: { call: resolved, ...window } });
  return session.ref(column, call.span);
}

function grouping(context: Context, call: Call): AggregateCall {
  const [argument] = call.arguments;
  if (call.arguments.length !== 1 || argument === undefined) throw invalid('GROUPING takes one argument.', call.span);
  if (call.having !== null)
    throw invalid('Aggregate function GROUPING does not support HAVING in arguments.', call.span);
  return bare('GROUPING', [resolveExpr(context, argument.expression)], { kind: 'INT64' }, call);
}

function bare(name: AggregateName, args: readonly Expr[], type: SqlType, call: Call): AggregateCall {
  return {
    kind: 'aggregate_call',
    function: name,
    safe: false,
    args,
    distinct: false,
    nulls: null,
    having: null,
    orderBy: [],
    limit: null,
    type,
    span: call.span,
  };
}

function aggregateCall(context: Context, call: Call, fn: SqlFunction, safe: boolean): AggregateCall {
  if (call.star) {
    if (fn.name !== 'COUNT') throw invalid('* can only be the argument of COUNT.', call.span);
    if (call.distinct) throw invalid('DISTINCT cannot be used with COUNT(*).', call.span);
    checkModifiers(call, fn);
    return { ...bare('$count_star', [], { kind: 'INT64' }, call), having: extreme(context, call) };
  }
  checkModifiers(call, fn);
  const given = argumentsOf(context, call.arguments, fn);
  const { match, values } = chooseOverload(context, fn, given, call.span);
  const args: Expr[] = [];
  for (const [i, value] of values.entries())
    if (value !== null) args.push(convert(context.session, value, match.types[i] ?? value.type));
  checkArguments(context, call, fn, args);
  const orderBy = call.orderBy.map((item) => sortKey(context, item));
  if (call.distinct)
    for (const key of orderBy)
      if (!args.some((arg) => sameExpr(arg, key.expr)))
        throw invalid(`${fn.name} with DISTINCT is ordered by its argument only.`, key.expr.span);
  return {
    kind: 'aggregate_call',
    function: fn.name as AggregateName,
    safe,
    args,
    distinct: call.distinct,
    nulls: call.nulls,
    having: extreme(context, call),
    orderBy,
    limit: call.limit === null ? null : resolveLimitCount(context, call.limit.count, 'LIMIT'),
    type: match.result,
    span: call.span,
  };
}

/** HAVING MAX and HAVING MIN among the arguments. */
function extreme(context: Context, { having }: Call): AggregateCall['having'] {
  if (having === null) return null;
  const expr = resolveExpr(context, having.expression);
  if (expr.type.kind === 'ARRAY' || !supportsOrdering(expr.type))
    throw invalid(`HAVING modifier does not support expressions of type ${shortType(expr.type)}.`, expr.span);
  return { kind: having.kind, expr };
}

/** `INTERVAL '1-2' YEAR TO MONTH` is a literal, `INTERVAL 5 DAY` an expression. */
export function isIntervalLiteral(expression: Expression): boolean {
  return expression.kind === 'interval' && expression.to !== null;
}

/** Literals without the name of their type. */
const BARE_LITERALS: ReadonlySet<string> = new Set(['INT64', 'FLOAT64', 'STRING', 'BYTES', 'BOOL', 'NULL']);

/** The type of a literal, of a number with a sign too. */
function literalType(expression: Expression): string | null {
  if (expression.kind === 'literal') return expression.type;
  if (expression.kind !== 'unary' || !['-', '+'].includes(expression.operator)) return null;
  return signedNumber(expression)?.type ?? null;
}

function checkModifiers(call: Call, fn: SqlFunction): void {
  const refuse = (what: string): never => {
    throw invalid(`Function ${fn.name} does not support ${what}.`, call.span);
  };
  if (call.distinct && (fn.mode === 'analytic' || fn.distinct === false))
    throw invalid(`DISTINCT is not allowed for function ${fn.name}.`, call.span);
  for (const { expression } of call.orderBy) {
    const type = literalType(expression);
    if (type === 'INT64')
      throw invalid('Aggregate functions do not allow ORDER BY by index in arguments.', expression.span);
    if (isIntervalLiteral(expression) || (type !== null && BARE_LITERALS.has(type)))
      throw invalid('Cannot ORDER BY literal values.', expression.span);
  }
  if (call.nulls !== null && fn.nulls !== true) refuse(`${call.nulls.toUpperCase()} NULLS`);
  if (call.orderBy.length > 0 && fn.orderBy !== true) refuse('ORDER BY among its arguments');
  if (call.limit !== null && fn.limit !== true) refuse('LIMIT among its arguments');
  if (call.distinct && call.arguments.length === 0) refuse('DISTINCT without an argument');
}

function checkArguments({ session }: Context, call: Call, fn: SqlFunction, args: readonly Expr[]): void {
  const [first] = args;
  if (first !== undefined) {
    const type = first.type;
    if (fn.of === 'ordered' && !supportsOrdering(type))
      throw invalid(`${fn.name} is not defined for arguments of type ${shortType(type)}.`, first.span);
    if ((call.distinct || fn.of === 'grouped') && !supportsGrouping(type))
      throw invalid(
        `Aggregate functions with DISTINCT cannot be used with arguments of type ${shortType(type)}.`,
        first.span,
      );
    if (fn.name === 'ARRAY_AGG' && type.kind === 'ARRAY')
      throw invalid(
        'The argument to ARRAY_AGG must not be an array type: arrays of arrays are not supported.',
        first.span,
      );
  }
  const fallback = fn.name === 'LAG' || fn.name === 'LEAD' ? args[2] : undefined;
  if (fallback !== undefined && !isFixed(fallback))
    throw invalid(`The third argument (the default expression) to ${fn.name} must be constant.`, fallback.span);
  const { at = -1, least, most } = fn.constant ?? {};
  const arg = args[at];
  if (arg === undefined) return;
  const constant = arg.kind === 'cast' ? arg.input : arg;
  const refuse = (what: string): never => {
    throw invalid(`Argument ${at + 1} to ${fn.name} must ${what}.`, arg.span);
  };
  if (constant.kind !== 'parameter' && !session.isConstant(constant)) refuse('be a literal or query parameter');
  if (constant.kind !== 'literal') return;
  if (constant.value === null) refuse('not be NULL');
  if (least !== undefined && Number(constant.value) < least) refuse(`be at least ${least}`);
  if (most !== undefined && Number(constant.value) > most) refuse(`be at most ${most}`);
}

/** Whether an expression is the same in every row. */
function isFixed(expr: Expr): boolean {
  return expr.kind !== 'column' && expr.kind !== 'subquery' && operandsOf(expr).every(isFixed);
}

/** An ORDER BY item of an aggregate or a window; a number is a value there, not a position. */
export function sortKey(context: Context, { expression, collation, descending, nulls }: OrderItem): SortKey {
  const expr = resolveExpr(context, expression);
  return checkedSortKey(collatedKey(expr, collation), descending, nulls);
}

/** NULLs come first ascending and last descending where the query does not say. */
export function checkedSortKey(expr: Expr, descending: boolean, nulls: 'first' | 'last' | null): SortKey {
  if (!supportsOrdering(expr.type))
    throw invalid(`ORDER BY does not support expressions of type ${shortType(expr.type)}.`, expr.span);
  return { expr, descending, nullsFirst: nulls === null ? !descending : nulls === 'first' };
}
