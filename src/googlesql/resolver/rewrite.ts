/** Expressions rebuilt with parts replaced, in subqueries too. */
import type { AggregateCall, Expr, Relation, ResolvedQuery, SortKey, WindowCall } from '../resolved';

/** What to put in an expression's place; undefined: look inside it. */
export type Replace = (expr: Expr) => Expr | undefined;

export function rewriteExpr(expr: Expr, replace: Replace): Expr {
  const replaced = replace(expr);
  if (replaced !== undefined) return replaced;
  const all = <E extends readonly Expr[]>(exprs: E): Expr[] => exprs.map((e) => rewriteExpr(e, replace));
  const maybe = (e: Expr | null): Expr | null => (e === null ? null : rewriteExpr(e, replace));
  switch (expr.kind) {
    case 'literal':
    case 'parameter':
    case 'column':
      return expr;
    case 'field':
      return { ...expr, input: rewriteExpr(expr.input, replace) };
    case 'call': {
      const named: Record<string, Expr> = {};
      for (const [name, value] of Object.entries(expr.named)) named[name] = rewriteExpr(value, replace);
      return { ...expr, args: all(expr.args), named };
    }
    case 'cast':
      return {
        ...expr,
        input: rewriteExpr(expr.input, replace),
        format: maybe(expr.format),
        timeZone: maybe(expr.timeZone),
      };
    case 'case':
      return {
        ...expr,
        operand: maybe(expr.operand),
        whens: expr.whens.map(({ when, then }) => ({
          when: rewriteExpr(when, replace),
          then: rewriteExpr(then, replace),
        })),
        else: maybe(expr.else),
      };
    case 'make_array':
      return { ...expr, elements: all(expr.elements) };
    case 'make_struct':
      return { ...expr, fields: all(expr.fields) };
    case 'subquery':
      return { ...expr, operand: maybe(expr.operand), query: rewriteQuery(expr.query, replace) };
  }
}

/** CTEs never see rows around them, so only the query's own relation is rebuilt. */
function rewriteQuery(query: ResolvedQuery, replace: Replace): ResolvedQuery {
  return { ...query, relation: rewriteRelation(query.relation, replace) };
}

export function rewriteRelation(relation: Relation, replace: Replace): Relation {
  const inner = (r: Relation): Relation => rewriteRelation(r, replace);
  const expr = (e: Expr): Expr => rewriteExpr(e, replace);
  switch (relation.kind) {
    case 'single_row':
    case 'table':
    case 'cte':
      return relation;
    case 'query':
      return { ...relation, query: rewriteQuery(relation.query, replace) };
    case 'unnest':
      return {
        ...relation,
        input: relation.input === null ? null : inner(relation.input),
        array: expr(relation.array),
        on: relation.on === null ? null : expr(relation.on),
      };
    case 'join':
      return {
        ...relation,
        left: inner(relation.left),
        right: inner(relation.right),
        on: relation.on === null ? null : expr(relation.on),
      };
    case 'filter':
      return { ...relation, input: inner(relation.input), condition: expr(relation.condition) };
    case 'compute':
      return {
        ...relation,
        input: inner(relation.input),
        columns: relation.columns.map((c) => ({ ...c, expr: expr(c.expr) })),
      };
    case 'aggregate':
      return {
        ...relation,
        input: inner(relation.input),
        keys: relation.keys.map((c) => ({ ...c, expr: expr(c.expr) })),
        aggregates: relation.aggregates.map((a) => ({ ...a, call: rewriteCall(a.call, replace) })),
      };
    case 'window':
      return {
        ...relation,
        input: inner(relation.input),
        functions: relation.functions.map((f) => ({ ...f, call: rewriteWindow(f.call, replace) })),
      };
    case 'sort':
      return { ...relation, input: inner(relation.input), keys: relation.keys.map((k) => rewriteKey(k, replace)) };
    case 'limit':
      return { ...relation, input: inner(relation.input) };
    case 'set':
      return { ...relation, inputs: relation.inputs.map((query) => rewriteQuery(query, replace)) };
  }
}

export function rewriteKey(key: SortKey, replace: Replace): SortKey {
  return { ...key, expr: rewriteExpr(key.expr, replace) };
}

export function rewriteCall(call: AggregateCall, replace: Replace): AggregateCall {
  return {
    ...call,
    args: call.args.map((arg) => rewriteExpr(arg, replace)),
    having: call.having === null ? null : { ...call.having, expr: rewriteExpr(call.having.expr, replace) },
    orderBy: call.orderBy.map((key) => rewriteKey(key, replace)),
  };
}

export function rewriteWindow(window: WindowCall, replace: Replace): WindowCall {
  return {
    call: rewriteCall(window.call, replace),
    partitionBy: window.partitionBy.map((e) => rewriteExpr(e, replace)),
    orderBy: window.orderBy.map((key) => rewriteKey(key, replace)),
    frame: window.frame,
  };
}
