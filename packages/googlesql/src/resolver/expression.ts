/** Expressions: from the syntax tree to typed trees over columns. */
import { step } from '../steps';
import { supertype } from '../coercion';
import { decimalText } from '../literals/number';
import type { Expr, ResolvedCase, ResolvedLiteral } from '../resolved';
import type { Case, Cast, Expression, Parameter, Extract } from '../tree';
import { sameType, typeOfName, typeParametersOf, typeText } from '../type-names';
import type { SqlType } from '../types';
import { resolveField, resolvePath, resolveSubscript, shortType } from './access';
import { resolveCall } from './calls';
import { resolveArray, resolveInterval, resolveStruct } from './constructors';
import type { Context } from './context';
import { convert, converted, explicitCast } from './convert';
import { resolveWithExpression } from './lambdas';
import { resolveLiteral } from './literals';
import {
  resolveQuantifiedLike,
  resolveBetween,
  resolveBinary,
  resolveInList,
  resolveInUnnest,
  resolveIs,
  resolveUnary,
  signedNumber,
} from './operators';
import { invalid } from './session';
import { resolveArraySubquery, resolveExists, resolveInSubquery, resolveScalarSubquery } from './subqueries';
import { findFunction } from '../functions/catalogue';
import { matchFunction } from '../functions/match';
import { called } from '../resolved-nodes';
import { EXTRACT_PARTS, partName } from './date-parts';

/** The typed tree of an expression. Throws QueryError. */
export function resolveExpr(context: Context, expression: Expression): Expr {
  step();
  const { session } = context;
  if (session.survey === null) return resolveKind(context, expression);
  return session.survey.recover(
    () => resolveKind(context, expression),
    () => session.unknownExpr(expression.span),
  );
}

function resolveKind(context: Context, expression: Expression): Expr {
  switch (expression.kind) {
    case 'literal':
      return resolveLiteral(context.session, expression);
    case 'parameter':
      return resolveParameter(context, expression);
    case 'path':
      return resolvePath(context, expression);
    case 'field':
      return resolveField(context, expression);
    case 'subscript':
      return resolveSubscript(context, expression);
    case 'call':
      return resolveCall(context, expression);
    case 'extract':
      return resolveExtract(context, expression);
    case 'cast':
      return resolveCast(context, expression);
    case 'case':
      return resolveCase(context, expression);
    case 'unary':
      return resolveUnary(context, expression);
    case 'binary':
      return resolveBinary(context, expression);
    case 'between':
      return resolveBetween(context, expression);
    case 'in_list':
      return resolveInList(context, expression);
    case 'in_unnest':
      return resolveInUnnest(context, expression);
    case 'in_subquery':
      return resolveInSubquery(context, expression);
    case 'quantified_like':
      return resolveQuantifiedLike(context, expression);
    case 'is':
      return resolveIs(context, expression);
    case 'array':
      return resolveArray(context, expression);
    case 'struct':
      return resolveStruct(context, expression);
    case 'interval':
      return resolveInterval(context, expression);
    case 'scalar_subquery':
      return resolveScalarSubquery(context, expression);
    case 'array_subquery':
      return resolveArraySubquery(context, expression);
    case 'exists':
      return resolveExists(context, expression);
    case 'lambda':
      throw invalid(
        'A lambda is an argument of ARRAY_FILTER, ARRAY_TRANSFORM and ARRAY_INCLUDES only.',
        expression.span,
      );
    case 'with_expression':
      return resolveWithExpression(context, expression);
  }
}

/** A condition: BOOL or an error that names `what`. */
export function resolveCondition(context: Context, expression: Expression, what: string): Expr {
  const { session } = context;
  return session.recover(
    () => converted(session, resolveExpr(context, expression), { kind: 'BOOL' }, what),
    () => session.unknownExpr(expression.span),
  );
}

/** The name a column gets from its expression: the last name of a path or field access. */
export function inferredName(expression: Expression): string | null {
  if (expression.kind === 'path') return expression.parts.at(-1)?.name ?? null;
  return expression.kind === 'field' ? expression.name.name : null;
}

function resolveParameter({ session }: Context, { form, name, span }: Parameter): Expr {
  if (form === 'positional') throw invalid('Positional parameters are not supported.', span);
  const type = form === 'named' ? session.parameters.get(name.toLowerCase()) : undefined;
  if (type === undefined)
    throw invalid(form === 'system' ? `Unrecognized name: @@${name}.` : `Query parameter '${name}' not found.`, span);
  return { kind: 'parameter', name: name.toLowerCase(), type, span };
}

function resolveCast(context: Context, cast: Cast): Expr {
  const { session } = context;
  const type = typeOfName(cast.type);
  const digits = cast.format === null && cast.timeZone === null ? digitsAsWritten(cast, type) : null;
  if (digits !== null) return digits;
  const input = resolveExpr(context, cast.expression);
  const text = (expression: Expression | null, what: string): Expr | null =>
    expression === null ? null : converted(session, resolveExpr(context, expression), { kind: 'STRING' }, what);
  return explicitCast(session, input, type, {
    safe: cast.safe,
    format: text(cast.format, 'The FORMAT of a cast'),
    timeZone: text(cast.timeZone, 'The time zone of a cast'),
    parameters: typeParametersOf(cast.type),
    span: cast.span,
  });
}

/** A FLOAT64 literal as a decimal number: of its digits, not of the double that they make. */
function digitsAsWritten({ expression, type: name, span }: Cast, type: SqlType): ResolvedLiteral | null {
  if (type.kind !== 'NUMERIC' && type.kind !== 'BIGNUMERIC') return null;
  if (typeParametersOf(name) !== null) return null;
  const negative = expression.kind === 'unary' && expression.operator === '-';
  const literal = negative ? signedNumber(expression) : expression;
  if (literal?.kind !== 'literal' || literal.type !== 'FLOAT64') return null;
  const value = decimalText(`${negative ? '-' : ''}${literal.value}`, type.kind, false);
  return value === null ? null : { kind: 'literal', type, value, span };
}

function resolveCase(context: Context, { operand, whens, else: otherwise, span }: Case): ResolvedCase {
  const { session } = context;
  const conditions = whens.map(({ when }) => resolveExpr(context, when));
  const results = whens.map(({ then }) => resolveExpr(context, then));
  const last =
    otherwise === null ? session.nullLiteral({ start: span.end, end: span.end }) : resolveExpr(context, otherwise);
  const type = commonType(context, [...results, last], 'Results of CASE', span);
  const value = operand === null ? null : resolveExpr(context, operand);
  const compared: SqlType =
    value === null ? { kind: 'BOOL' } : commonType(context, [value, ...conditions], 'Operands of CASE', span);
  const when = (expr: Expr): Expr =>
    value === null ? converted(session, expr, compared, 'A WHEN condition') : convert(session, expr, compared);
  return {
    kind: 'case',
    operand: value === null ? null : convert(session, value, compared),
    whens: conditions.map((condition, i) => ({
      when: when(condition),
      then: convert(session, results[i] ?? last, type),
    })),
    else: otherwise === null ? null : convert(session, last, type),
    type,
    span,
  };
}

/** The type that all of `exprs` can have; an error that names `what` without such a type. */
export function commonType(
  { session }: Context,
  exprs: readonly Expr[],
  what: string,
  span: { start: number; end: number },
): SqlType {
  const type = supertype(exprs.map((expr) => session.operand(expr)));
  if (type !== null) return type;
  const distinct: SqlType[] = [];
  for (const expr of exprs)
    if (!session.isUntyped(expr) && !distinct.some((known) => sameType(known, expr.type))) distinct.push(expr.type);
  throw invalid(`${what} of types {${distinct.map(typeText).join(', ')}} do not have a common supertype.`, span);
}

/** Parts that are values of a type of their own; all others are INT64. */
const WHOLE: Readonly<Record<string, SqlType>> = {
  DATE: { kind: 'DATE' },
  TIME: { kind: 'TIME' },
  DATETIME: { kind: 'DATETIME' },
};

function resolveExtract(context: Context, { part: written, from, timeZone, span }: Extract): Expr {
  const { session } = context;
  const part = partName(written);
  const value = resolveExpr(context, from);
  const operand = session.operand(value);
  if (operand.form === 'literal' && value.type.kind === 'STRING')
    throw invalid('EXTRACT does not support literal STRING arguments: write the type in front, as in DATE.', from.span);
  const fn = findFunction('$extract');
  const match = fn === undefined ? null : matchFunction(fn, [operand], new Map());
  const matched = match?.types[0];
  // NULL is read as the type that has the part.
  const type = operand.form === 'null' && Object.hasOwn(WHOLE, part) ? ({ kind: 'TIMESTAMP' } as const) : matched;
  if (!type)
    throw invalid(
      `No matching signature for function EXTRACT for argument types: DATE_TIME_PART FROM ${shortType(value.type)}.`,
      from.span,
    );
  if (EXTRACT_PARTS[type.kind]?.has(part) !== true)
    throw invalid(`EXTRACT from ${type.kind} does not support the ${part} date part.`, written.span);
  const args = [convert(session, value, type)];
  if (timeZone !== null) {
    if (type.kind !== 'TIMESTAMP')
      throw invalid(`EXTRACT from ${type.kind} does not support AT TIME ZONE.`, timeZone.span);
    args.push(converted(session, resolveExpr(context, timeZone), { kind: 'STRING' }, 'A time zone'));
  }
  const result = WHOLE[part] ?? { kind: 'INT64' };
  return called('$extract', args, result, span, part);
}
