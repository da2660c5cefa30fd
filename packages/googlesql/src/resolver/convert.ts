/** Conversions written into the tree: a literal becomes a literal of the new type, everything else a cast. */
import { castable, coerces } from '../coercion';
import { decimalText } from '../literals/number';
import { isTemporal, temporalValue, rangeValue } from '../literals/temporal';
import type { Expr, ResolvedLiteral } from '../resolved';
import type { Span } from '../tree';
import { sameType, typeText } from '../type-names';
import type { RangeType, SqlType, TypeParameters } from '../types';
import { invalid, type Session } from './session';

/** `expr` as a `type`, where an implicit conversion is known to exist. */
export function convert(session: Session, expr: Expr, type: SqlType): Expr {
  if (session.isUntyped(expr)) return retyped(session, expr, type);
  if (sameType(expr.type, type)) return expr;
  if (expr.kind === 'literal' && !session.isExplicit(expr)) return convertLiteral(expr, type);
  if (expr.kind === 'make_struct' && type.kind === 'STRUCT' && !session.isExplicit(expr)) {
    const fields = expr.fields.map((field, i) => convert(session, field, type.fields[i]?.type ?? field.type));
    return { ...expr, fields, type };
  }
  if (expr.kind === 'make_array' && type.kind === 'ARRAY' && session.isConstant(expr)) {
    const { element } = type;
    return { ...expr, elements: expr.elements.map((item) => convert(session, item, element)), type };
  }
  return cast(expr, type, expr.span);
}

/** `expr` as a `type`, or an error where nothing converts it by itself. */
export function converted(session: Session, expr: Expr, type: SqlType, what: string): Expr {
  if (!sameType(expr.type, type) && !coerces(session.operand(expr), type))
    throw invalid(`${what} must be ${typeText(type)}, not ${typeText(expr.type)}.`, expr.span);
  return convert(session, expr, type);
}

/** CAST as the query wrote it. */
export function explicitCast(
  session: Session,
  expr: Expr,
  type: SqlType,
  options: { safe: boolean; format: Expr | null; timeZone: Expr | null; parameters: TypeParameters | null; span: Span },
): Expr {
  const { span, safe, format, timeZone, parameters } = options;
  if (session.isUntyped(expr)) return session.markExplicit(retyped(session, expr, type));
  const possible = castable(expr.type, type) || coerces(session.operand(expr), type);
  if (!possible) throw invalid(`Invalid cast from ${typeText(expr.type)} to ${typeText(type)}.`, span);
  const plain = format === null && timeZone === null && parameters === null;
  if (expr.kind === 'literal' && plain && foldable(expr, type)) {
    const folded = tryLiteral(expr, type);
    if (folded !== null) return session.markExplicit({ ...folded, span });
    if (safe) return session.markExplicit({ kind: 'literal', type, value: null, span });
  }
  const stays = sameType(expr.type, type) && !session.collates;
  if (stays && plain && expr.kind !== 'make_struct' && expr.kind !== 'make_array')
    return session.isConstant(expr) ? session.markExplicit({ ...expr }) : expr;
  return {
    kind: 'cast',
    input: expr,
    safe,
    format,
    timeZone,
    type,
    span,
    ...(parameters === null ? {} : { parameters }),
  };
}

function cast(input: Expr, type: SqlType, span: Span): Expr {
  return { kind: 'cast', input, safe: false, format: null, timeZone: null, type, span };
}

function retyped(session: Session, expr: Expr, type: SqlType): Expr {
  if (expr.kind === 'literal') return { ...expr, type };
  if (expr.kind === 'make_array') {
    if (type.kind !== 'ARRAY') throw invalid(`Could not cast [] to type ${typeText(type)}.`, expr.span);
    const { element } = type;
    return { ...expr, elements: expr.elements.map((item) => convert(session, item, element)), type };
  }
  return sameType(expr.type, type) ? { ...expr } : cast(expr, type, expr.span);
}

function convertLiteral(literal: ResolvedLiteral, type: SqlType): Expr {
  if (literal.value === null) return { ...literal, type };
  if (type.kind === 'STRING') return cast(literal, type, literal.span);
  const converted = tryLiteral(literal, type);
  if (converted === null)
    throw invalid(`Could not cast literal ${describe(literal)} to type ${typeText(type)}.`, literal.span);
  return converted;
}

const FROM_TEXT: ReadonlySet<SqlType['kind']> = new Set<SqlType['kind']>([
  ...(['STRING', 'DATE', 'TIME', 'DATETIME', 'TIMESTAMP', 'RANGE'] as const),
]);

/** Kinds of casts whose result is certain before the query runs, engine and time zone aside. */
function foldable(literal: ResolvedLiteral, type: SqlType): boolean {
  if (literal.value === null) return true;
  if (literal.type.kind === 'STRING') return FROM_TEXT.has(type.kind);
  return literal.type.kind === 'INT64' && (type.kind === 'FLOAT64' || type.kind === 'INT64');
}

/** The literal as another type; null where its value does not fit. */
function tryLiteral(literal: ResolvedLiteral, type: SqlType): ResolvedLiteral | null {
  const { value } = literal;
  if (value === null) return { ...literal, type };
  const toDecimal = type.kind === 'NUMERIC' || type.kind === 'BIGNUMERIC';
  const converted =
    type.kind === 'RANGE'
      ? rangeAs(literal, type)
      : valueAs(literal.type.kind, toDecimal ? (literal.written ?? value) : value, type.kind);
  return converted === null ? null : { ...literal, type, value: converted };
}

function rangeAs({ type, value }: ResolvedLiteral, to: RangeType): string | null {
  if (value === null || sameType(type, to)) return value;
  return type.kind === 'STRING' ? rangeValue(to.element.kind, value) : null;
}

function valueAs(from: SqlType['kind'], value: string, to: SqlType['kind']): string | null {
  if (from === to) return value;
  if (from === 'STRING') return isTemporal(to) ? temporalValue(to, value) : null;
  if (from === 'DATE' && to === 'DATETIME') return `${value}T00:00:00`;
  if (to === 'FLOAT64') return String(Number(value));
  if (to === 'NUMERIC' || to === 'BIGNUMERIC') return decimalText(value, to, false);
  return null;
}

function describe(literal: ResolvedLiteral): string {
  return literal.type.kind === 'STRING' ? JSON.stringify(literal.value) : String(literal.value);
}
