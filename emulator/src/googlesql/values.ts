import { civilText, dateText, floorDivide, parseCivil, parseDate, parseInstant, parseTime, timeText } from './civil';
import { bytesOf, decimalText, integerOf, parseDecimal, SCALE } from './decimal';
import type { Message } from './protocol';
import { type ScalarName } from './types';

/** One value as the engine's protocol has it (`ValueProto`); NULL is the empty message. */
export type Cell = Message;

export const NULL: Cell = {};

export function isNull(cell: Cell): boolean {
  for (const _field in cell) return false;
  return true;
}

const MICROS = 1_000_000n;

/** Thrown for a text that is no value of its type. */
export class NotAValue extends Error {
  constructor(
    readonly type: ScalarName,
    readonly text: string,
  ) {
    super(`Could not parse '${text.slice(0, 100)}' as ${type}`);
    this.name = 'NotAValue';
  }
}

/** A value of a scalar type from the text that BigQuery's API writes it as. Throws `NotAValue`. */
export function scalarCell(kind: ScalarName, text: string): Cell {
  const orThrow = <T>(value: T | null): T => {
    if (value === null) throw new NotAValue(kind, text);
    return value;
  };
  switch (kind) {
    case 'STRING':
      return { string_value: text };
    case 'INT64': {
      if (!/^\s*[+-]?\d+\s*$/.test(text)) throw new NotAValue(kind, text);
      const value = BigInt(text.trim().replace('+', ''));
      if (BigInt.asIntN(64, value) !== value) throw new NotAValue(kind, text);
      return { int64_value: value.toString() };
    }
    case 'FLOAT64':
      return { double_value: orThrow(parseFloat64(text)) };
    case 'BOOL':
      if (!/^(true|false)$/i.test(text)) throw new NotAValue(kind, text);
      return { bool_value: text.toLowerCase() === 'true' };
    case 'BYTES':
      return { bytes_value: Buffer.from(text, 'base64') };
    case 'DATE':
      return { date_value: orThrow(parseDate(text)) };
    case 'TIME':
      return { time_value: packTime(orThrow(parseTime(text))) };
    case 'DATETIME':
      return { datetime_value: packCivil(orThrow(parseCivil(text))) };
    case 'TIMESTAMP':
      return timestampCell(orThrow(parseInstant(text)));
    case 'NUMERIC':
      return { numeric_value: bytesOf(orThrow(parseDecimal(text, SCALE.NUMERIC))) };
    case 'BIGNUMERIC':
      return { bignumeric_value: bytesOf(orThrow(parseDecimal(text, SCALE.BIGNUMERIC))) };
    case 'JSON':
      return { json_value: text };
    case 'INTERVAL':
    case 'GEOGRAPHY':
      throw new NotAValue(kind, text);
  }
}

/** Microseconds since the epoch as a cell. */
export function timestampCell(micros: bigint): Cell {
  const [seconds, rest] = floorDivide(micros, MICROS);
  return { timestamp_value: { seconds: seconds.toString(), nanos: Number(rest) * 1000 } };
}

/** Microseconds since the epoch of a TIMESTAMP cell. */
export function timestampMicros(cell: Cell): bigint {
  const value = cell['timestamp_value'] as Message;
  return BigInt(String(value['seconds'] ?? 0)) * MICROS + BigInt(Math.floor(Number(value['nanos'] ?? 0) / 1000));
}

/** The text of a value that is not NULL and of a scalar type, as BigQuery's API writes it; a TIMESTAMP as ISO 8601. */
export function scalarText(kind: ScalarName, cell: Cell): string {
  switch (kind) {
    case 'STRING':
      return String(cell['string_value']);
    case 'INT64':
      return String(cell['int64_value']);
    case 'FLOAT64':
      return floatText(Number(cell['double_value']));
    case 'BOOL':
      return String(cell['bool_value']);
    case 'BYTES':
      return (cell['bytes_value'] as Buffer).toString('base64');
    case 'DATE':
      return dateText(Number(cell['date_value']));
    case 'TIME':
      return unpackTime(BigInt(String(cell['time_value'])));
    case 'DATETIME':
      return civilText(unpackCivil(cell['datetime_value'] as Message));
    case 'TIMESTAMP':
      return `${civilText(timestampMicros(cell))}Z`;
    case 'NUMERIC':
      return decimalText(integerOf(cell['numeric_value'] as Buffer), SCALE.NUMERIC);
    case 'BIGNUMERIC':
      return decimalText(integerOf(cell['bignumeric_value'] as Buffer), SCALE.BIGNUMERIC);
    case 'JSON':
      return String(cell['json_value']);
    case 'INTERVAL':
      return intervalText(cell['interval_value'] as Buffer);
    case 'GEOGRAPHY':
      return '';
  }
}

/** The elements of an ARRAY cell; a NULL array has no elements. */
export function elements(cell: Cell): readonly Cell[] {
  return ((cell['array_value'] as Message | undefined)?.['element'] ?? []) as Cell[];
}

/** The fields of a STRUCT cell, in the order of its type. */
export function fields(cell: Cell): readonly Cell[] {
  return ((cell['struct_value'] as Message | undefined)?.['field'] ?? []) as Cell[];
}

/** Both ends of a RANGE cell, `[2024-01-01, UNBOUNDED)`, each by `textOf`. */
export function rangeText(cell: Cell, textOf: (end: Cell) => string): string {
  const range = cell['range_value'] as Message;
  const end = (side: string) => {
    const value = (range[side] ?? NULL) as Cell;
    return isNull(value) ? 'UNBOUNDED' : textOf(value);
  };
  return `[${end('start')}, ${end('end')})`;
}

/** Doubles as BigQuery writes them: at least one digit after the point, exponents from 1E7 and below 1E-3. */
export function floatText(value: number): string {
  if (!Number.isFinite(value)) return String(value);
  const size = Math.abs(value);
  if (value === 0 || (size >= 1e-3 && size < 1e7)) {
    const plain = String(value);
    return Object.is(value, -0) ? '-0.0' : plain.includes('.') ? plain : `${plain}.0`;
  }
  const [mantissa = '', exponent = ''] = value.toExponential().split('e');
  return `${mantissa.includes('.') ? mantissa : `${mantissa}.0`}E${exponent.replace('+', '')}`;
}

function parseFloat64(text: string): number | null {
  const trimmed = text.trim();
  if (/^[+-]?inf(inity)?$/i.test(trimmed)) return trimmed.startsWith('-') ? -Infinity : Infinity;
  if (/^nan$/i.test(trimmed)) return NaN;
  return /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(trimmed) ? Number(trimmed) : null;
}

/** Hours, minutes and seconds in 5, 6 and 6 bits above 30 bits of nanoseconds. */
function packTime(micros: bigint): string {
  const [seconds, rest] = floorDivide(micros, MICROS);
  return ((packClock(seconds) << 30n) | (rest * 1000n)).toString();
}

function packClock(seconds: bigint): bigint {
  return ((seconds / 3600n) << 12n) | (((seconds / 60n) % 60n) << 6n) | (seconds % 60n);
}

function unpackTime(packed: bigint): string {
  const clock = Number(packed >> 30n);
  return timeText(clock >> 12, (clock >> 6) & 63, clock & 63, Math.floor(Number(packed & 0x3fffffffn) / 1000));
}

/** Year, month (4 bits), day (5 bits) above the clock's 17 bits. */
function packCivil(micros: bigint): Message {
  const [days, inDay] = floorDivide(micros, 86_400n * MICROS);
  const [seconds, rest] = floorDivide(inDay, MICROS);
  const date = new Date(Number(days) * 86_400_000);
  const day =
    (BigInt(date.getUTCFullYear()) << 9n) | (BigInt(date.getUTCMonth() + 1) << 5n) | BigInt(date.getUTCDate());
  return {
    bit_field_datetime_seconds: ((day << 17n) | packClock(seconds)).toString(),
    nanos: Number(rest) * 1000,
  };
}

function unpackCivil(value: Message): bigint {
  const bits = BigInt(String(value['bit_field_datetime_seconds'] ?? 0));
  const part = (shift: bigint, width: bigint) => Number((bits >> shift) & ((1n << width) - 1n));
  const date = new Date(0);
  date.setUTCFullYear(Number(bits >> 26n), part(22n, 4n) - 1, part(17n, 5n));
  const seconds = BigInt(date.getTime() / 1000) + BigInt(part(12n, 5n) * 3600 + part(6n, 6n) * 60 + part(0n, 6n));
  return seconds * MICROS + BigInt(Math.floor(Number(value['nanos'] ?? 0) / 1000));
}

/** Micros (8 bytes), days (4), then months above 13 bits of which the low 10 are nanoseconds (which BigQuery does not have). */
function intervalText(bytes: Buffer): string {
  const micros = bytes.readBigInt64LE(0);
  const days = bytes.readInt32LE(8);
  const packed = bytes.readUInt32LE(12);
  const size = (packed & 0x7fffffff) >>> 13;
  const months = packed >>> 31 === 1 ? -size : size;
  const years = `${months < 0 ? '-' : ''}${Math.floor(Math.abs(months) / 12)}-${Math.abs(months) % 12}`;
  const absolute = micros < 0n ? -micros : micros;
  const [seconds, rest] = floorDivide(absolute, MICROS);
  const clock = `${seconds / 3600n}:${(seconds / 60n) % 60n}:${seconds % 60n}`;
  const digits = rest.toString().padStart(6, '0');
  const fraction = rest === 0n ? '' : `.${digits.endsWith('000') ? digits.slice(0, 3) : digits}`;
  return `${years} ${days} ${micros < 0n ? '-' : ''}${clock}${fraction}`;
}
