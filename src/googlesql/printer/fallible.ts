/** Which expressions and queries may raise a run-time error in any of their parts. */
import type { AggregateCall, Expr, Relation, ResolvedQuery } from '../resolved';
import { callExpressions, operandsOf, relationExpressions, relationsBelow } from '../resolved-walk';
import type { Span } from '../syntax';
import { ownFailure } from '../totality';

const known = new WeakMap<Expr | ResolvedQuery, boolean>();

function remembered<T extends Expr | ResolvedQuery>(node: T, decide: (node: T) => boolean): boolean {
  const found = known.get(node);
  if (found !== undefined) return found;
  const fallible = decide(node);
  known.set(node, fallible);
  return fallible;
}

export function exprIsFallible(expr: Expr): boolean {
  return remembered(
    expr,
    (node: Expr) =>
      ownFailure(node) ||
      operandsOf(node).some(exprIsFallible) ||
      (node.kind === 'subquery' && queryIsFallible(node.query)),
  );
}

export function queryIsFallible(query: ResolvedQuery): boolean {
  return remembered(query, (node: ResolvedQuery) => relationsBelow(node).some(relationIsFallible));
}

/** Whether the query of a subquery may fail, or the operation on its result. */
export function subqueryIsFallible(expr: Expr): boolean {
  return expr.kind === 'subquery' && queryIsFallible(expr.query);
}

/** Where what may fail stands first in the text; null: nothing may. */
export function firstFallible(query: ResolvedQuery): Span | null {
  const spans = relationsBelow(query).flatMap((relation) => [
    ...relationExpressions(relation).flatMap(fallibleSpans),
    ...callsOf(relation).flatMap((call) => (callMayFail(call) ? [call.span] : [])),
  ]);
  return spans.sort((a, b) => a.start - b.start)[0] ?? null;
}

function fallibleSpans(expr: Expr): Span[] {
  if (!exprIsFallible(expr)) return [];
  if (ownFailure(expr)) return [expr.span];
  const inner = expr.kind === 'subquery' ? firstFallible(expr.query) : null;
  return [...operandsOf(expr).flatMap(fallibleSpans), ...(inner === null ? [] : [inner])];
}

function callsOf(relation: Relation): AggregateCall[] {
  if (relation.kind === 'aggregate') return relation.aggregates.map(({ call }) => call);
  return relation.kind === 'window' ? relation.functions.map(({ call }) => call.call) : [];
}

function relationIsFallible(relation: Relation): boolean {
  if (relationExpressions(relation).some(exprIsFallible)) return true;
  return callsOf(relation).some(callMayFail);
}

/** Aggregates and window functions that have a value for whatever rows they are given, memory aside. */
const TOTAL_AGGREGATES: ReadonlySet<string> = new Set([
  'ANY_VALUE',
  'APPROX_COUNT_DISTINCT',
  'APPROX_QUANTILES',
  'APPROX_TOP_COUNT',
  'ARRAY_AGG',
  'ARRAY_CONCAT_AGG',
  'BIT_AND',
  'BIT_OR',
  'BIT_XOR',
  'COUNT',
  'COUNTIF',
  'COUNT_STAR',
  'CUME_DIST',
  'DENSE_RANK',
  'FIRST_VALUE',
  'GROUPING',
  'HLL_COUNT.INIT',
  'LAG',
  'LAST_VALUE',
  'LEAD',
  'LOGICAL_AND',
  'LOGICAL_OR',
  'MAX',
  'MAX_BY',
  'MIN',
  'MIN_BY',
  'NTH_VALUE',
  'NTILE',
  'PERCENT_RANK',
  'RANK',
  'ROW_NUMBER',
  'STRING_AGG',
]);

/** Whether the call itself may fail, on an overflow for one. */
export function callMayFail(call: AggregateCall): boolean {
  return !TOTAL_AGGREGATES.has(call.function) && callExpressions(call).length > 0;
}
