/** The one walk over resolved trees: everything in a relation or an expression, subqueries and their own CTEs included. */
import type { AggregateCall, Expr, Relation, ResolvedQuery, WindowCall } from './resolved';

export interface Visitor {
  readonly relation?: (relation: Relation) => void;
  readonly expr?: (expr: Expr) => void;
}

/** Visits a query from the outside in. A CTE is visited where it is defined, not at each reference. */
export function visitQuery(query: ResolvedQuery, visitor: Visitor): void {
  query.ctes.forEach((cte) => visitQuery(cte.query, visitor));
  visitRelation(query.relation, visitor);
}

/** Visits an expression and all expressions in it. */
export function visitExpr(expr: Expr, onExpr: (expr: Expr) => void): void {
  visitInner(expr, { expr: onExpr });
}

export function visitRelation(relation: Relation, visitor: Visitor): void {
  visitor.relation?.(relation);
  const visit = (expr: Expr | null): void => {
    if (expr !== null) visitInner(expr, visitor);
  };
  switch (relation.kind) {
    case 'single_row':
    case 'table':
    case 'cte':
      return;
    case 'query':
      return visitQuery(relation.query, visitor);
    case 'unnest':
      if (relation.input !== null) visitRelation(relation.input, visitor);
      visit(relation.array);
      return visit(relation.on);
    case 'join':
      visitRelation(relation.left, visitor);
      visitRelation(relation.right, visitor);
      return visit(relation.on);
    case 'filter':
      visitRelation(relation.input, visitor);
      return visit(relation.condition);
    case 'compute':
      visitRelation(relation.input, visitor);
      return relation.columns.forEach(({ expr }) => visit(expr));
    case 'aggregate':
      visitRelation(relation.input, visitor);
      relation.keys.forEach(({ expr }) => visit(expr));
      return relation.aggregates.forEach(({ call }) => partsOfAggregate(call).forEach(visit));
    case 'window':
      visitRelation(relation.input, visitor);
      return relation.functions.forEach(({ call }) => partsOfWindow(call).forEach(visit));
    case 'sort':
      visitRelation(relation.input, visitor);
      return relation.keys.forEach(({ expr }) => visit(expr));
    case 'limit':
      visitRelation(relation.input, visitor);
      visit(relation.count);
      return visit(relation.offset);
    case 'set':
      return relation.inputs.forEach((query) => visitQuery(query, visitor));
  }
}

/** The expressions of an aggregate function's call. */
export function partsOfAggregate({ args, having, orderBy, limit }: AggregateCall): readonly (Expr | null)[] {
  return [...args, having?.expr ?? null, ...orderBy.map(({ expr }) => expr), limit];
}

/** The expressions of a window function's call. */
export function partsOfWindow({ call, partitionBy, orderBy, frame }: WindowCall): readonly (Expr | null)[] {
  const keys = orderBy.map(({ expr }) => expr);
  return [...partsOfAggregate(call), ...partitionBy, ...keys, frame?.from.offset ?? null, frame?.to.offset ?? null];
}

function visitInner(expr: Expr, visitor: Visitor): void {
  visitor.expr?.(expr);
  for (const operand of operandsOf(expr)) visitInner(operand, visitor);
  if (expr.kind === 'subquery') visitQuery(expr.query, visitor);
}

/** The operands of an expression; of a subquery its operand alone. */
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
      return [expr.input, expr.format, expr.timeZone].filter((e) => e !== null);
    case 'case': {
      const branches = expr.whens.flatMap(({ when, then }) => [when, then]);
      return [expr.operand, ...branches, expr.else].filter((e) => e !== null);
    }
    case 'make_array':
      return expr.elements;
    case 'make_struct':
      return expr.fields;
    case 'subquery':
      return expr.operand === null ? [] : [expr.operand];
  }
}
