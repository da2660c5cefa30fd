/** The parts of a resolved tree's nodes: one place that knows every expression and every relation in it. */
import type { AggregateCall, Expr, Relation, ResolvedQuery, SortKey, WindowCall } from './resolved';

const some = (...exprs: readonly (Expr | null)[]): Expr[] => exprs.filter((expr) => expr !== null);
const keyExprs = (keys: readonly SortKey[]): Expr[] => keys.map(({ expr }) => expr);

/** The expressions directly below one; the query of a subquery is not among them. */
export function operandsOf(expr: Expr): readonly Expr[] {
  switch (expr.kind) {
    case 'literal':
    case 'parameter':
    case 'column':
      return [];
    case 'field':
      return [expr.input];
    case 'call':
      return [...expr.args, ...Object.values(expr.named)];
    case 'cast':
      return some(expr.input, expr.format, expr.timeZone);
    case 'case':
      return some(expr.operand, ...expr.whens.flatMap(({ when, then }) => [when, then]), expr.else);
    case 'make_array':
      return expr.elements;
    case 'make_struct':
      return expr.fields;
    case 'subquery':
      return some(expr.operand);
  }
}

/** The expressions of an aggregate call, its LIMIT included. */
export function callExpressions(call: AggregateCall): readonly Expr[] {
  return some(...call.args, call.having?.expr ?? null, ...keyExprs(call.orderBy), call.limit);
}

/** The expressions of a window function, the offsets of its frame included. */
export function windowExpressions({ call, partitionBy, orderBy, frame }: WindowCall): readonly Expr[] {
  const offsets = some(frame?.from.offset ?? null, frame?.to.offset ?? null);
  return [...callExpressions(call), ...partitionBy, ...keyExprs(orderBy), ...offsets];
}

/** The expressions that an operator evaluates itself. */
export function relationExpressions(relation: Relation): readonly Expr[] {
  switch (relation.kind) {
    case 'single_row':
    case 'table':
    case 'cte':
    case 'query':
    case 'set':
      return [];
    case 'unnest':
      return some(relation.array, relation.on);
    case 'join':
      return some(relation.on);
    case 'filter':
      return [relation.condition];
    case 'compute':
      return relation.columns.map(({ expr }) => expr);
    case 'aggregate':
      return [
        ...relation.keys.map(({ expr }) => expr),
        ...relation.aggregates.flatMap(({ call }) => callExpressions(call)),
      ];
    case 'window':
      return relation.functions.flatMap(({ call }) => windowExpressions(call));
    case 'sort':
      return keyExprs(relation.keys);
    case 'limit':
      return some(relation.count, relation.offset);
  }
}

/** The relations directly below one; the query of a CTE scan is not among them. */
export function inputsOf(relation: Relation): readonly Relation[] {
  switch (relation.kind) {
    case 'single_row':
    case 'table':
    case 'cte':
      return [];
    case 'query':
      return [relation.query.relation];
    case 'unnest':
      return relation.input === null ? [] : [relation.input];
    case 'join':
      return [relation.left, relation.right];
    case 'set':
      return relation.inputs.map(({ relation: input }) => input);
    case 'filter':
    case 'compute':
    case 'aggregate':
    case 'window':
    case 'sort':
    case 'limit':
      return [relation.input];
  }
}

/**
 * Every relation of a query, those of its CTEs included, not those of subqueries in expressions. It does not recurse:
 * no tree is too high for it.
 */
export function relationsBelow(query: ResolvedQuery): readonly Relation[] {
  const found: Relation[] = [];
  const queries = [query];
  const pending: Relation[] = [];
  for (;;) {
    const relation = pending.pop();
    if (relation !== undefined) {
      found.push(relation);
      pending.push(...inputsOf(relation));
      if (relation.kind === 'query') queries.push(...ctesOf(relation.query));
      if (relation.kind === 'set') queries.push(...relation.inputs.flatMap(ctesOf));
      continue;
    }
    const next = queries.pop();
    if (next === undefined) return found;
    queries.push(...ctesOf(next));
    pending.push(next.relation);
  }
}

const ctesOf = ({ ctes }: ResolvedQuery): ResolvedQuery[] => ctes.map(({ query }) => query);

export interface Visitor {
  readonly relation?: (relation: Relation) => void;
  readonly expr?: (expr: Expr) => void;
}

/**
 * Visits every relation and every expression of a query, its CTEs and the subqueries of its expressions included. A CTE is
 * visited where it is defined, not at each reference.
 */
export function visitQuery(query: ResolvedQuery, visitor: Visitor): void {
  for (const relation of relationsBelow(query)) {
    visitor.relation?.(relation);
    for (const expr of relationExpressions(relation)) visitExpr(expr, visitor);
  }
}

/** Visits an expression and all that it is made of. */
export function visitExpr(expr: Expr, visitor: Visitor): void {
  visitor.expr?.(expr);
  for (const operand of operandsOf(expr)) visitExpr(operand, visitor);
  if (expr.kind === 'subquery') visitQuery(expr.query, visitor);
}
