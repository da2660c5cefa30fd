/** Aggregate calls, window functions and the keys that rows are sorted by. */
import type { AggregateCall, Expr, ResolvedBound, ResolvedFrame, SortKey, WindowCall } from '../resolved';
import { functionOf } from '../functions/catalogue';
import { exprSql, maskedSql } from './expressions';
import { aggregateFailsItself, canFail } from '../totality';
import { unguarded, type Rows } from './session';
import type { PrintSession } from './session';

/**
 * The call over the rows of a group. Where the call itself may fail, rows that the guard leaves out give it NULL, though
 * no such row is ever in a group.
 */
export function aggregateSql(session: PrintSession, call: AggregateCall, rows: Rows): string {
  const head = call.distinct ? 'DISTINCT ' : '';
  const nulls = call.nulls === null ? '' : ` ${call.nulls.toUpperCase()} NULLS`;
  const having =
    call.having === null ? '' : ` HAVING ${call.having.kind.toUpperCase()} ${exprSql(session, call.having.expr, rows)}`;
  if (call.function === '$count_star') return `COUNT(*${having})`;
  const keys = call.orderBy.map((key) => valueSql(session, call, key.expr, rows) + directionSql(key));
  const order = keys.length === 0 ? '' : ` ORDER BY ${keys.join(', ')}`;
  const limit = call.limit === null ? '' : ` LIMIT ${constantSql(session, call.limit, rows)}`;
  const args = argumentsSql(session, call, rows).join(', ');
  session.count(call.function.length);
  return `${call.safe ? 'SAFE.' : ''}${call.function}(${head}${args}${nulls}${having}${order}${limit})`;
}

function argumentsSql(session: PrintSession, call: AggregateCall, rows: Rows): string[] {
  const constant = functionOf(call).constant?.at;
  return call.args.map((arg, i) =>
    constant === i ? constantSql(session, arg, rows) : valueSql(session, call, arg, rows),
  );
}

/** An argument, or what it is sorted by: alike for both, as DISTINCT sorts by nothing but its argument. */
function valueSql(session: PrintSession, call: AggregateCall, expr: Expr, rows: Rows): string {
  if (!aggregateFailsItself(call) || canFail(expr)) return exprSql(session, expr, rows);
  return maskedSql(session, exprSql(session, expr, unguarded(rows)), rows);
}

/** What GoogleSQL takes as a literal or parameter only: the same for all rows, so there is nothing to guard. */
export function constantSql(session: PrintSession, expr: Expr, rows: Rows): string {
  const constant = expr.kind === 'cast' && expr.input.kind === 'parameter' ? expr.input : expr;
  return exprSql(session, constant, unguarded(rows));
}

function sortKeysSql(session: PrintSession, keys: readonly SortKey[], rows: Rows): string {
  return keys.map((key) => exprSql(session, key.expr, rows) + directionSql(key)).join(', ');
}

/** GoogleSQL puts NULLs first ascending and last descending: what says the same is left out. */
export function directionSql({ descending, nullsFirst }: SortKey): string {
  const nulls = nullsFirst === !descending ? '' : nullsFirst ? ' NULLS FIRST' : ' NULLS LAST';
  return (descending ? ' DESC' : '') + nulls;
}

export function windowSql(session: PrintSession, { call, ...window }: WindowCall, rows: Rows): string {
  const { partitionBy, orderBy, frame } = window;
  const parts: string[] = [];
  if (partitionBy.length > 0)
    parts.push(`PARTITION BY ${partitionBy.map((expr) => exprSql(session, expr, rows)).join(', ')}`);
  if (orderBy.length > 0) parts.push(`ORDER BY ${sortKeysSql(session, orderBy, rows)}`);
  if (frame !== null) parts.push(frameSql(session, frame, rows));
  return `${aggregateSql(session, call, rows)} OVER (${parts.join(' ')})`;
}

function frameSql(session: PrintSession, { unit, from, to }: ResolvedFrame, rows: Rows): string {
  const bound = ({ kind, offset }: ResolvedBound): string =>
    (offset === null ? '' : `${constantSql(session, offset, rows)} `) + kind.replace('_', ' ').toUpperCase();
  return `${unit.toUpperCase()} BETWEEN ${bound(from)} AND ${bound(to)}`;
}
