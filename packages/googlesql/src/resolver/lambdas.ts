/** Array functions that take a lambda, as subqueries over the elements of the array. */
import type { Expr, Relation, Column } from '../resolved';
import { called, queryOf } from '../resolved-nodes';
import type { Call, Lambda, Span, WithExpression } from '../tree';
import type { SqlType } from '../types';
import { shortType } from './access';
import type { Context } from './context';
import { converted } from './convert';
import { resolveExpr } from './expression';
import { NameList, type Scope } from './scope';
import { invalid, type Session } from './session';

/** Upper-case names of the functions that take a lambda. */
const LAMBDA_FUNCTIONS: ReadonlySet<string> = new Set(['ARRAY_FILTER', 'ARRAY_TRANSFORM', 'ARRAY_INCLUDES']);
const INT64: SqlType = { kind: 'INT64' };
const BOOL: SqlType = { kind: 'BOOL' };

/** The call of such a function; null for any other, and for ARRAY_INCLUDES of a value. */
export function resolveLambdaCall(context: Context, call: Call): Expr | null {
  const name = call.path.length === 1 ? (call.path[0]?.name.toUpperCase() ?? '') : '';
  const [array, lambda, ...others] = call.arguments;
  if (!LAMBDA_FUNCTIONS.has(name)) return null;
  if (name === 'ARRAY_INCLUDES' && lambda?.expression.kind !== 'lambda') return null;
  if (lambda?.expression.kind !== 'lambda')
    throw invalid(
      `No matching signature for function ${name}. Supported signature: ${name}(ARRAY, e -> ...).`,
      call.span,
    );
  if (array === undefined || others.length > 0)
    throw invalid(`Number of arguments does not match for function ${name}.`, call.span);
  const value = resolveExpr(context, array.expression);
  const { type } = value;
  if (type.kind !== 'ARRAY')
    throw invalid(`The first argument of ${name} is an array, not ${shortType(type)}.`, array.span);
  const function_ = lambda.expression;
  return withValue(context.session, value, call.span, (list) =>
    overElements(context, name, list, type.element, function_),
  );
}

function overElements(context: Context, name: string, list: Expr, elementType: SqlType, lambda: Lambda): Expr {
  const { session } = context;
  const { span } = lambda;
  const [first, second, third] = lambda.parameters;
  if (first === undefined || third !== undefined || (second !== undefined && name === 'ARRAY_INCLUDES'))
    throw invalid(`The lambda of ${name} has another number of parameters.`, span);
  const element = session.column(first.name, elementType);
  const offset = session.column(second?.name ?? null, INT64);
  const columns = [{ name: first.name, column: element }];
  if (second !== undefined) columns.push({ name: second.name, column: offset });
  const inner: Context = {
    ...context,
    scope: named(context.scope, columns),
    aggregates: 'not allowed in a lambda',
    windows: 'Analytic function not allowed in a lambda.',
  };
  const body = resolveExpr(inner, lambda.body);
  const unnest: Relation = { kind: 'unnest', input: null, array: list, element, offset, outer: false, on: null };
  const condition = (): Expr => converted(session, body, BOOL, `The lambda of ${name}`);
  if (name === 'ARRAY_INCLUDES') {
    const relation: Relation = { kind: 'filter', input: unnest, condition: condition() };
    const query = queryOf(relation, element);
    return orNull(list, { kind: 'subquery', mode: 'exists', operand: null, query, type: BOOL, span });
  }
  const result = name === 'ARRAY_FILTER' ? element : session.column(null, body.type);
  const rows: Relation =
    name === 'ARRAY_FILTER'
      ? { kind: 'filter', input: unnest, condition: condition() }
      : { kind: 'compute', input: unnest, columns: [{ column: result, expr: body }] };
  if (result.type.kind === 'ARRAY') throw invalid('Arrays of arrays are not supported.', span);
  const keys = [{ expr: session.ref(offset, span), descending: false, nullsFirst: true }];
  const relation: Relation = { kind: 'sort', input: rows, keys };
  const query = { ctes: [], relation, output: [{ name: null, column: result }], valueTable: false, ordered: true };
  const type: SqlType = { kind: 'ARRAY', element: result.type };
  return orNull(list, { kind: 'subquery', mode: 'array', operand: null, query, type, span });
}

/** NULL of a NULL array. */
function orNull(list: Expr, then: Expr): Expr {
  const { span, type } = then;
  const isNull: Expr = called('$is_null', [list], BOOL, span);
  const nothing: Expr = { kind: 'literal', type, value: null, span };
  return { kind: 'case', operand: null, whens: [{ when: isNull, then: nothing }], else: then, type, span };
}

// ------------------------------------------------------------------------------------------
// Values that an expression names: WITH(a AS ..., ...) as a subquery of one row, in which each is a column.

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
function withValue(session: Session, value: Expr, span: Span, use: (value: Expr) => Expr): Expr {
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
