/**
 * LIKE ANY and LIKE ALL, with NOT or without: OR and AND over a list of patterns; over rows of patterns, whether TRUE or FALSE is
 * IN what the comparisons give, which takes NULLs and no rows at all as the language wants it.
 */
import type { Expr, OutputColumn, Relation } from '../resolved';
import type { QuantifiedLike } from '../syntax';
import type { SqlType } from '../types';
import type { Context } from './context';
import { resolveExpr } from './expression';
import { applyOperator, combine, negated as not } from './operators';
import { resolveQueryAt } from './queries';
import { invalid } from './session';

const BOOL: SqlType = { kind: 'BOOL' };

export function resolveQuantifiedLike(context: Context, node: QuantifiedLike): Expr {
  const { negated, all, items, operatorSpan, span } = node;
  const operand = resolveExpr(context, node.operand);
  const compared = (pattern: Expr): Expr => {
    // A pattern may be NULL here.
    const like = { ...applyOperator(context, '$like', [operand, pattern], operatorSpan, 'LIKE'), span };
    return negated ? not(like) : like;
  };
  if (node.array !== null || node.query !== null) return overRows(context, node, compared);
  const tests = items.map((item) => compared(resolveExpr(context, item)));
  const [first] = tests;
  if (first === undefined) throw new Error('A list of patterns has one.');
  if (tests.length === 1) return first;
  return combine(context, { operator: all ? 'and' : 'or', operatorSpan, span }, tests);
}

function overRows(context: Context, node: QuantifiedLike, compared: (pattern: Expr) => Expr): Expr {
  const { session } = context;
  const { span, all } = node;
  const { relation: input, pattern } = patterns(context, node);
  const expr = compared(pattern);
  const column = session.column(null, BOOL);
  const relation: Relation = { kind: 'compute', input, columns: [{ column, expr }] };
  const output: OutputColumn[] = [{ name: null, column }];
  const query = { ctes: [], relation, output, valueTable: false, ordered: false };
  const sought: Expr = { kind: 'literal', type: BOOL, value: String(!all), span };
  const found: Expr = { kind: 'subquery', mode: 'in', operand: sought, query, type: BOOL, span };
  return all ? not(found) : found;
}

/** The patterns as rows. */
function patterns(context: Context, { array, query, span }: QuantifiedLike): { relation: Relation; pattern: Expr } {
  const { session } = context;
  if (array !== null) {
    const list = resolveExpr(context, array);
    if (list.type.kind !== 'ARRAY') throw invalid('The patterns of LIKE UNNEST are an array.', array.span);
    const element = session.column(null, list.type.element);
    const unnest = { kind: 'unnest', input: null, array: list, element, offset: null, outer: false, on: null } as const;
    return { relation: unnest, pattern: session.ref(element, array.span) };
  }
  if (query === null) throw new Error('Patterns are a list, an array or a query.');
  const resolved = resolveQueryAt(context, query);
  const [only, second] = resolved.output;
  if (only === undefined || second !== undefined) throw invalid('A subquery of patterns has one column.', query.span);
  return { relation: { kind: 'query', query: resolved }, pattern: session.ref(only.column, span) };
}
