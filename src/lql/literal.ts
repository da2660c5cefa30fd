/** Values and names as BigQuery SQL text, such that no value can end the literal that holds it. */
import { partsOf } from '../time/calendar';
import { excerpt } from './lql-error';
import type { Value } from './rules';

/** What the table's `timestamp` column is; `unknown` where its columns were not given. */
export type TimeColumn = 'TIMESTAMP' | 'DATETIME' | 'other' | 'none' | 'unknown';

const SHORT_ESCAPES: Readonly<Record<string, string>> = {
  '\\': '\\\\',
  "'": "\\'",
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
};

/**
 * A string literal. Backslash and apostrophe are escaped with a backslash (BigQuery knows no doubled apostrophe), and
 * control characters by number, so that the literal stays on one line and shows what it holds.
 */
export function textLiteral(text: string): string {
  return `'${text.replace(/[\\']|\p{Cc}/gu, (c) => SHORT_ESCAPES[c] ?? numericEscape(c))}'`;
}

/** A text as LQL quotes it. */
export function textInQuotes(text: string): string {
  return `"${excerpt(text).replace(/["\\]/g, '\\$&')}"`;
}

/** `\x` reaches 7F only: beyond, GoogleSQL takes it in bytes alone. */
function numericEscape(character: string): string {
  const code = character.charCodeAt(0);
  return code < 0x80 ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u${code.toString(16).padStart(4, '0')}`;
}

export function quoteName(name: string): string {
  return `\`${name.replace(/[\\`]/g, '\\$&')}\``;
}

/** A literal of the operand's own type; a moment in the type of the column that it is compared with. */
export function valueLiteral(value: Value, timeColumn: TimeColumn): string {
  switch (typeof value) {
    case 'string':
      return textLiteral(value);
    case 'boolean':
      return value ? 'TRUE' : 'FALSE';
    case 'bigint':
      return String(value);
    case 'number':
      return floatLiteral(value);
    default:
      return value === null ? 'NULL' : momentLiteral(value.micros, timeColumn);
  }
}

/** The shortest text that reads back as the same number, and as a float. */
function floatLiteral(value: number): string {
  const text = Object.is(value, -0) ? '-0' : String(value);
  return /[.e]/.test(text) ? text : `${text}.0`;
}

function momentLiteral(micros: bigint, timeColumn: TimeColumn): string {
  const { date, clock, fraction } = partsOf(micros);
  const text = `${date} ${clock}${fraction}`;
  return timeColumn === 'DATETIME' ? `DATETIME '${text}'` : `TIMESTAMP '${text}+00:00'`;
}
