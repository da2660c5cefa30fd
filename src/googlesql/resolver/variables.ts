/** Values that an expression names: WITH(a AS ..., ...) as a subquery of one row, in which each is a column. */
import type { Column, Expr, Relation } from '../resolved';
import { queryOf } from '../resolved-nodes';
import type { Span, WithExpression } from '../syntax';
import type { Context } from './context';
import { resolveExpr } from './expression';
import { NameList, type Scope } from './scope';
import { invalid, type Session } from './session';

export function resolveWithExpression(context: Context, { variables, result, span }: WithExpression): Expr {
  const { session } = context;
  const names = new Set<string>();
  let { scope } = context;
  let relation: Relation = { kind: 'single_row' };
  for (const { name, expression } of variables) {
    const key = name.name.toLowerCase();
    if (names.has(key)) throw invalid(`Duplicate variable ${name.name} in WITH expression.`, name.span);
    names.add(key);
    const expr = resolveExpr({ ...context, scope }, expression);
    const column = session.column(name.name, expr.type);
    relation = { kind: 'compute', input: relation, columns: [{ column, expr }] };
    scope = named(scope, [{ name: name.name, column }]);
  }
  return ofOneRow(session, relation, resolveExpr({ ...context, scope }, result), span);
}

/** A scope in which columns have names before everything around it. */
export function named(parent: Scope | null, columns: readonly { name: string; column: Column }[]): Scope {
  return { list: NameList.table(null, columns), overrides: null, parent };
}

/** What `use` makes of a value that it reads more than once, which is evaluated once. */
export function withValue(session: Session, value: Expr, span: Span, use: (value: Expr) => Expr): Expr {
  if (value.kind === 'column' || value.kind === 'literal' || value.kind === 'parameter') return use(value);
  const column = session.column(null, value.type);
  const relation: Relation = { kind: 'compute', input: { kind: 'single_row' }, columns: [{ column, expr: value }] };
  return ofOneRow(session, relation, use(session.ref(column, value.span)), span);
}

function ofOneRow(session: Session, input: Relation, expr: Expr, span: Span): Expr {
  const column = session.column(null, expr.type);
  const relation: Relation = { kind: 'compute', input, columns: [{ column, expr }] };
  const query = queryOf(relation, column);
  return { kind: 'subquery', mode: 'scalar', operand: null, query, type: expr.type, span };
}
