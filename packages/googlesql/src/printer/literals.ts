/** Literals of the resolved tree as GoogleSQL writes them. */
import { rangeEnds } from '../literals/temporal';
import type { ResolvedLiteral } from '../resolved';
import type { RangeElement } from '../types';
import { type Names, typeSql } from './names';

export function literalSql(names: Names, { type, value }: ResolvedLiteral): string {
  if (value === null) return `CAST(NULL AS ${typeSql(names, type)})`;
  switch (type.kind) {
    case 'BOOL':
      return value.toUpperCase();
    case 'INT64':
      return signed(value);
    case 'FLOAT64':
      return floatSql(value);
    case 'STRING':
      return quotedText(value);
    case 'BYTES':
      return `b${quotedBytes(value)}`;
    case 'TIMESTAMP':
    case 'DATETIME':
      return `${type.kind} '${temporalText(type.kind, value)}'`;
    case 'RANGE': {
      const [start, end] = rangeEnds(value).map((bound) =>
        bound === null ? 'UNBOUNDED' : temporalText(type.element.kind, bound),
      );
      return `${typeSql(names, type)} '[${start}, ${end})'`;
    }
    case 'INTERVAL':
      return `INTERVAL '${value}' YEAR TO SECOND`;
    case 'DATE':
    case 'TIME':
    case 'NUMERIC':
    case 'BIGNUMERIC':
    case 'JSON':
      return `${type.kind} ${quotedText(value)}`;
    case 'GEOGRAPHY':
    case 'ARRAY':
    case 'STRUCT':
      throw new Error(`no literal of type ${type.kind}`);
  }
}

function temporalText(kind: RangeElement, value: string): string {
  return kind === 'TIMESTAMP' ? timestampText(BigInt(value)) : value.replace('T', ' ');
}

/** A minus would be read as an operator where something stands before it. */
function signed(digits: string): string {
  return digits.startsWith('-') ? `(${digits})` : digits;
}

function floatSql(value: string): string {
  if (value === 'NaN') return `CAST('nan' AS FLOAT64)`;
  if (value === 'Infinity') return `CAST('inf' AS FLOAT64)`;
  if (value === '-Infinity') return `CAST('-inf' AS FLOAT64)`;
  return signed(/^-?\d+$/.test(value) ? `${value}.0` : value);
}

/** In single quotes. What would end the literal, or a line, is an escape. */
function quotedText(text: string): string {
  const escaped = text.replace(/[\\'\u0000-\u001f\u007f\u2028\u2029]/g, (character) =>
    character === '\\' || character === "'"
      ? `\\${character}`
      : `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  return `'${escaped}'`;
}

function quotedBytes(latin1: string): string {
  const escaped = latin1.replace(/[^ -&(-[\]-~]/g, (byte) => `\\x${byte.charCodeAt(0).toString(16).padStart(2, '0')}`);
  return `'${escaped}'`;
}

const SECOND = 1_000_000n;

/** `2026-01-31 12:34:56.000001+00`. */
function timestampText(micros: bigint): string {
  const fraction = ((micros % SECOND) + SECOND) % SECOND;
  const seconds = (micros - fraction) / SECOND;
  const [date, time] = new Date(Number(seconds) * 1000).toISOString().split(/[TZ.]/);
  return `${date} ${time}.${fraction.toString().padStart(6, '0')}+00`;
}
