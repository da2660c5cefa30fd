/** What JSON values a leaf of each type takes, after the rules of BigQuery's JSON loader. */
import { dateText, datetimeText, timeText } from '../../../googlesql/literals/civil';
import { timestampMicros } from '../../../googlesql/literals/temporal';
import type { ScalarName } from '../../../googlesql/types';
import { longNumber } from './json-line';

/** A JSON value that DuckDB's reader takes exactly, or undefined where the value does not fit. Never called with null. */
export function strictValue(type: ScalarName | 'RANGE', value: unknown): unknown {
  switch (type) {
    case 'STRING':
    case 'GEOGRAPHY':
      return scalarText(value);
    case 'INT64':
      return integer(value);
    case 'FLOAT64':
      return float(value);
    case 'NUMERIC':
    case 'BIGNUMERIC':
      return decimal(value, type === 'NUMERIC' ? 29 : 20);
    case 'BOOL':
      return boolean(value);
    case 'BYTES':
      return typeof value === 'string' && BASE64.test(value) ? value : undefined;
    case 'DATE':
      return (typeof value === 'string' ? dateText(value) : null) ?? undefined;
    case 'TIME':
      return (typeof value === 'string' ? timeText(microseconds(value)) : null) ?? undefined;
    case 'DATETIME':
      return (typeof value === 'string' ? datetimeText(microseconds(value)) : null) ?? undefined;
    case 'TIMESTAMP':
      return timestamp(value);
    case 'JSON':
      return isDeeper(value, MOST_LEVELS) ? undefined : value;
    case 'INTERVAL':
    case 'RANGE':
      return undefined;
  }
}

/** Levels of a JSON value, as in BigQuery: what prints or reads a deeper one may not come back. */
const MOST_LEVELS = 500;

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((inner) => isDeeper(inner, levels - 1));
}

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;

/** Numbers and booleans are kept as their JSON text: loggers disagree about what is a number. */
function scalarText(value: unknown): string | undefined {
  const long = longNumber(value);
  if (long !== null) return long;
  if (typeof value === 'string') return value;
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined;
}

/** As digits in a string, which the reader takes for a BIGINT without a double in between. */
function integer(value: unknown): string | undefined {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? String(value) : undefined;
  const text = longNumber(value) ?? value;
  if (typeof text !== 'string' || !/^-?\d+$/.test(text)) return undefined;
  return isInt64(text) ? String(BigInt(text)) : undefined;
}

/** Whether an integer of these digits is an INT64. */
export function isInt64(digits: string): boolean {
  return BigInt.asIntN(64, BigInt(digits)) === BigInt(digits);
}

function float(value: unknown): number | string | undefined {
  if (typeof value === 'number') return value;
  const text = longNumber(value) ?? value;
  if (typeof text !== 'string') return undefined;
  if (NUMBER.test(text)) return Number.isFinite(Number(text)) ? Number(text) : undefined;
  const special = /^([+-]?)(?:(inf|infinity)|nan)$/i.exec(text);
  if (special === null) return undefined;
  return special[2] === undefined ? 'NaN' : special[1] === '-' ? '-Infinity' : 'Infinity';
}

/** As text, with at most `digits` before the point; more fraction digits than the type has are rounded by the engine. */
function decimal(value: unknown, digits: number): string | undefined {
  const text = typeof value === 'number' ? String(value) : (longNumber(value) ?? value);
  if (typeof text !== 'string' || !NUMBER.test(text)) return undefined;
  return Math.abs(Number(text)) < 10 ** digits ? text : undefined;
}

function boolean(value: unknown): boolean | undefined {
  if (typeof value === 'boolean') return value;
  if (typeof value !== 'string') return undefined;
  const text = value.toLowerCase();
  return text === 'true' ? true : text === 'false' ? false : undefined;
}

/** As nearly all logs write it: a day that is in the calendar, a time of day, six digits of the second, and UTC. */
const USUAL_TIMESTAMP =
  /^(?!0000)\d{4}-(?:(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])|(?:0[13-9]|1[0-2])-(?:29|30)|(?:0[13578]|1[02])-31)T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.(\d{1,6})\d*)?Z$/;

/** Text as GoogleSQL reads it, without a zone in UTC; or a number since the epoch, its unit told by its size. */
function timestamp(value: unknown): string | undefined {
  const usual = typeof value === 'string' ? USUAL_TIMESTAMP.exec(value) : null;
  // Nothing has to be computed.
  if (usual !== null) return `${usual[0].slice(0, 19)}.${(usual[1] ?? '').padEnd(6, '0')}Z`;
  const number = typeof value === 'number' ? String(value) : longNumber(value);
  const micros =
    number !== null
      ? epochMicros(number)
      : typeof value === 'string'
        ? (timestampMicros(microseconds(value)) ?? epochMicros(value))
        : null;
  if (micros === null) return undefined;
  const millis = micros / 1000n - (micros % 1000n < 0n ? 1n : 0n);
  return `${new Date(Number(millis)).toISOString().slice(0, -1)}${String(micros - millis * 1000n).padStart(3, '0')}Z`;
}

/** Units of a number since the epoch, by its size: up to the year 9999 each, nanoseconds as far as an INT64 goes; and microseconds of one. */
const UNITS = [
  [253_402_300_800, 1e6],
  [253_402_300_800e3, 1e3],
  [253_402_300_800e6, 1],
  [2 ** 63, 1e-3],
] as const;

/** Microseconds of a number since the epoch, whose digits are exact: what is less is cut off. */
function epochMicros(text: string): bigint | null {
  if (!NUMBER.test(text)) return null;
  const unit = UNITS.find(([end]) => Math.abs(Number(text)) < end)?.[1];
  if (unit === undefined) return null;
  // 18 digits behind the point, more than any unit leaves.
  const [whole = '', fraction = ''] = (/e/i.test(text) ? Number(text).toFixed(18) : text)
    .replace(/^[+-]/, '')
    .split('.');
  const size = BigInt(`${whole}${fraction.slice(0, 18).padEnd(18, '0')}`) * BigInt(unit * 1e3);
  const one = 10n ** 21n;
  return text.startsWith('-') ? -((size + one - 1n) / one) : size / one;
}

/** More than six digits of a second are cut off, as DuckDB's reader cuts them. */
function microseconds(text: string): string {
  return text.replace(/(\.\d{6})\d+/, '$1');
}
