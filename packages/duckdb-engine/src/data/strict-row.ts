import {
  dateText,
  datetimeText,
  timeText,
  timestampMicros,
  type RestField,
  type ScalarName,
} from '@logquay/googlesql/types';
import type { LeftOutReason } from '../contract/contract';
import { longNumber, parseLine } from './json-line';
import { MOST_ROW_VALUES, TOO_WIDE, valuesOfRow } from './row-values';

/** Why a line is no row of its table. Names fields, never a value. */
export class Unfit extends Error {
  override readonly name = 'Unfit';

  constructor(
    message: string,
    readonly reason: LeftOutReason = 'does_not_fit',
  ) {
    super(message);
  }
}

export type JsonObject = Readonly<Record<string, unknown>>;

/** What was met while rows were fitted to a schema. */
export interface Fitting {
  /** A value that does not fit becomes NULL, and is counted, rather than its row be left out. */
  readonly lenient: boolean;
  /** Fields that the schema does not know. */
  ignored: number;
  /** Values that became NULL. */
  nulled: number;
  /** Values in the lists of the row (`MOST_ROW_VALUES`). */
  values: number;
}

/** @throws Unfit where the line is no JSON object */
export function parsedRow(line: string): JsonObject {
  let row: unknown;
  try {
    row = parseLine(line);
  } catch {
    throw new Unfit('not valid JSON', 'not_json');
  }
  if (!isObject(row)) throw new Unfit('not a JSON object', 'not_json');
  return row;
}

/**
 * The row in the form that `printLine` prints for DuckDB's reader: fields in the schema's spelling, records that should be
 * lists as lists of one, null arrays as empty ones, numbers and timestamps in one form. Fields that the schema does not
 * know are left out.
 *
 * @throws Unfit where a value does not fit
 */
export function fittedRow(fields: readonly RestField[], row: JsonObject, fitting: Fitting): Record<string, unknown> {
  fitting.values = valuesOfRow(fields, row);
  if (fitting.values > MOST_ROW_VALUES) throw new Unfit(TOO_WIDE, 'too_wide');
  return fittedRecord(fields, row, '', fitting);
}

function fittedRecord(
  fields: readonly RestField[],
  record: JsonObject,
  path: string,
  fitting: Fitting,
): Record<string, unknown> {
  const fitted: Record<string, unknown> = {};
  let known = 0;
  for (const field of fields) {
    const present = Object.hasOwn(record, field.name);
    if (present) known++;
    const value = present ? record[field.name] : undefined;
    const at = `${path}${field.name}`;
    if (field.mode === 'REPEATED') fitted[field.name] = fittedList(field, value, at, fitting);
    else if (value !== undefined && value !== null) fitted[field.name] = fittedItem(field, value, at, fitting);
    else if (field.mode === 'REQUIRED') {
      throw new Unfit(`${at} is required`, at === 'timestamp' ? 'no_timestamp' : 'does_not_fit');
    }
  }
  fitting.ignored += Object.keys(record).length - known;
  return fitted;
}

function fittedList(field: RestField, value: unknown, path: string, fitting: Fitting): unknown[] {
  if (value === undefined || value === null) return [];
  // Log shippers send records as plain objects where the tables have lists.
  const items: unknown[] | null = Array.isArray(value) ? value : field.type === 'RECORD' ? [value] : null;
  if (items === null) {
    unfit(`${path} is not a list`, fitting);
    return [];
  }
  const fitted = items.map((item, i) => {
    if (item === null) return unfit(`${path}[${i}] is null`, fitting);
    return fittedItem(field, item, `${path}[${i}]`, fitting);
  });
  return fitting.lenient ? fitted.filter((item) => item !== null) : fitted;
}

function fittedItem(field: RestField, value: unknown, path: string, fitting: Fitting): unknown {
  if (field.type === 'RECORD') {
    if (!isObject(value)) return unfit(`${path} is not a record`, fitting);
    return fittedRecord(field.fields, value, `${path}.`, fitting);
  }
  const fitted = strictValue(field.type, value);
  return fitted === undefined ? unfit(`${path} is not a ${field.type}`, fitting) : fitted;
}

function unfit(message: string, fitting: Fitting): null {
  if (!fitting.lenient) throw new Unfit(message);
  fitting.nulled++;
  return null;
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

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
