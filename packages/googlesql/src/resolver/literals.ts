/** Literals of the syntax tree as typed values. */
import { QueryError } from '../errors';
import { decimalText, floatText, integerText } from '../literals/number';
import { temporalValue, rangeValue } from '../literals/temporal';
import type { ResolvedLiteral } from '../resolved';
import type { Literal } from '../tree';
import { typeOfName } from '../type-names';
import { invalid, type Session } from './session';

/** The value of a literal. Throws QueryError where its text is no value of its type. */
export function resolveLiteral(session: Session, literal: Literal, negative = false): ResolvedLiteral {
  const { type, span } = literal;
  if (type === 'NULL') return session.nullLiteral(span);
  if (type === 'RANGE') return resolveRange(session, literal);
  const value = valueOf(literal, negative);
  if (value === null) throw invalid(`Invalid ${type} literal.`, span);
  const written = type === 'FLOAT64' ? { written: negative ? `-${literal.value}` : literal.value } : {};
  const resolved: ResolvedLiteral = { kind: 'literal', type: { kind: type }, value, ...written, span };
  return WRITTEN.has(type) ? session.markExplicit(resolved) : resolved;
}

function resolveRange(session: Session, { element, value, span }: Literal): ResolvedLiteral {
  if (element === undefined) throw new Error('a RANGE literal without a type');
  const type = typeOfName({ kind: 'range', element, span });
  const canonical = type.kind === 'RANGE' ? rangeValue(type.element.kind, value) : null;
  if (canonical === null) {
    const form = 'A range is written [START, END), START before END, each a value or UNBOUNDED.';
    throw new QueryError('invalidQuery', 'Invalid RANGE literal.', span, { hint: form });
  }
  return session.markExplicit({ kind: 'literal', type, value: canonical, span });
}

/** Literals that name their type: `DATE '2026-01-31'`. */
const WRITTEN: ReadonlySet<Literal['type']> = new Set<Literal['type']>([
  'DATE',
  'TIME',
  'DATETIME',
  'TIMESTAMP',
  'NUMERIC',
  'BIGNUMERIC',
  'JSON',
]);

function valueOf({ type, value }: Pick<Literal, 'type' | 'value'>, negative: boolean): string | null {
  switch (type) {
    case 'INT64':
      return integerText(value, negative);
    case 'FLOAT64':
      return floatText(negative ? `-${value}` : value);
    case 'NUMERIC':
    case 'BIGNUMERIC':
      return decimalText(value, type, true);
    case 'DATE':
    case 'TIME':
    case 'DATETIME':
    case 'TIMESTAMP':
      return temporalValue(type, value);
    case 'BOOL':
      return value.toLowerCase();
    case 'JSON':
      return jsonText(value);
    case 'STRING':
    case 'BYTES':
    case 'NULL':
    case 'RANGE':
      return value;
  }
}

function finite(_: string, value: unknown): unknown {
  if (typeof value === 'number' && !Number.isFinite(value)) throw new RangeError('A number is beyond FLOAT64.');
  return value;
}

function jsonText(text: string): string | null {
  try {
    // A number beyond FLOAT64 is infinite to JSON.parse, and no JSON to GoogleSQL.
    JSON.parse(text, finite);
    return text;
  } catch {
    return null;
  }
}
