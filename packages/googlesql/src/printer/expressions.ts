/**
 * Expressions. On rows with a guard, the topmost parts that may fail are printed as `IF(guard, part, NULL)`: GoogleSQL
 * evaluates a branch of IF only where the condition takes it.
 */
import type { Expr, FieldRef, MakeArray, MakeStruct, ResolvedCase, ResolvedCast, SubqueryExpr } from '../resolved';
import { canFail, failsItself, queryCanFail } from '../totality';
import { callSql } from './calls';
import { literalSql } from './literals';
import { subquerySql } from './queries';
import { unguarded, type Rows, type PrintSession } from './session';
import { typeSql } from './names';

export function exprSql(session: PrintSession, expr: Expr, rows: Rows): string {
  if (rows.guard === null || !canFail(expr)) return plainSql(session, expr, unguarded(rows));
  // A subquery is evaluated as a whole on the rows around it: what may fail in it makes all of it fallible.
  const topmost = failsItself(expr) || (expr.kind === 'subquery' && queryCanFail(expr.query));
  return topmost ? maskedSql(session, plainSql(session, expr, unguarded(rows)), rows) : plainSql(session, expr, rows);
}

/** NULL on rows that the guard leaves out. */
export function maskedSql(session: PrintSession, sql: string, { guard }: Rows): string {
  if (guard === null) return sql;
  session.count(guard.length);
  return `IF(${guard}, ${sql}, NULL)`;
}

function plainSql(session: PrintSession, expr: Expr, rows: Rows): string {
  const { names } = session;
  const inner = (operand: Expr): string => exprSql(session, operand, rows);
  switch (expr.kind) {
    case 'literal':
      return session.printed(literalSql(names, expr));
    case 'parameter':
      session.parameters.add(expr.name);
      return session.printed(`@${expr.name}`);
    case 'column':
      return session.printed(rows.column(expr.column.id));
    case 'field':
      return fieldSql(session, expr, inner(expr.input));
    case 'call': {
      const named = Object.fromEntries(Object.entries(expr.named).map(([name, value]) => [name, inner(value)]));
      session.count(expr.function.length + SEPARATORS * expr.args.length);
      return callSql(expr, expr.args.map(inner), named);
    }
    case 'cast':
      return castSql(session, expr, inner);
    case 'case':
      return caseSql(expr, inner);
    case 'make_array':
      return arraySql(session, expr, inner);
    case 'make_struct':
      return structSql(session, expr, inner);
    case 'subquery':
      return querySql(session, expr, rows, inner);
  }
}

/** A field that has no name of its own gets one: structs convert field by field, by position. */
function fieldSql(session: PrintSession, { input, index }: FieldRef, printed: string): string {
  const { names } = session;
  if (input.type.kind !== 'STRUCT') throw new Error('a field is one of a struct');
  const { fields } = input.type;
  const name = fields[index]?.name ?? null;
  const same = fields.filter((field) => field.name?.toLowerCase() === name?.toLowerCase());
  const base = input.kind === 'column' || input.kind === 'field' ? printed : `(${printed})`;
  if (name !== null && same.length === 1) return `${base}.${session.printed(names.quoted(name))}`;
  const renamed = { ...input.type, fields: fields.map(({ type }, i) => ({ name: `f${i}`, type })) };
  // The call keeps a result from being named after it.
  return `COALESCE(CAST(${printed} AS ${session.printed(typeSql(names, renamed))}).f${index})`;
}

/** Characters between two arguments, about. */
const SEPARATORS = 4;

type Inner = (expr: Expr) => string;

function castSql(session: PrintSession, cast: ResolvedCast, inner: Inner): string {
  const format = cast.format === null ? '' : ` FORMAT ${inner(cast.format)}`;
  const zone = cast.timeZone === null ? '' : ` AT TIME ZONE ${inner(cast.timeZone)}`;
  const type = session.printed(typeSql(session.names, cast.type, cast.parameters));
  return `${cast.safe ? 'SAFE_CAST' : 'CAST'}(${inner(cast.input)} AS ${type}${format}${zone})`;
}

function caseSql({ operand, whens, else: otherwise }: ResolvedCase, inner: Inner): string {
  const head = operand === null ? 'CASE' : `CASE ${inner(operand)}`;
  const branches = whens.map(({ when, then }) => ` WHEN ${inner(when)} THEN ${inner(then)}`);
  return `${head}${branches.join('')}${otherwise === null ? '' : ` ELSE ${inner(otherwise)}`} END`;
}

function arraySql(session: PrintSession, { elements, type }: MakeArray, inner: Inner): string {
  return `${session.printed(typeSql(session.names, type))}[${elements.map(inner).join(', ')}]`;
}

function structSql(session: PrintSession, { fields, type }: MakeStruct, inner: Inner): string {
  const { names } = session;
  const types = type.kind === 'STRUCT' ? type.fields : [];
  const printed = fields.map(inner);
  if (types.every(({ name }) => name !== null)) {
    const named = printed.map((sql, i) => `${sql} AS ${session.printed(names.quoted(types[i]?.name ?? ''))}`);
    return `STRUCT(${named.join(', ')})`;
  }
  return `${session.printed(typeSql(names, type))}(${printed.join(', ')})`;
}

function querySql(session: PrintSession, expr: SubqueryExpr, rows: Rows, inner: Inner): string {
  const query = subquerySql(session, expr.query, rows);
  switch (expr.mode) {
    case 'scalar':
      return `(${query})`;
    case 'array':
      return `ARRAY(${query})`;
    case 'exists':
      return `EXISTS(${query})`;
    case 'in':
      return `(${expr.operand === null ? '' : inner(expr.operand)} IN (${query}))`;
  }
}
