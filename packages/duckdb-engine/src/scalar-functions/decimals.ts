/** Decimals with more digits than DuckDB has room for. */
import { decimalText } from '@logquay/googlesql/types';
import { type ScalarFunction, scalarFunction } from './scalar-function';

/** Digits of NUMERIC behind the point. */
const DIGITS = 9;

/** The quotient of two NUMERIC in all their digits, rounded half away from zero; of a divisor so large that it is in range. */
export const numericQuotient = scalarFunction(['text', 'text'], 'text', (dividend, divisor) => {
  const [a, b] = [digitsOf(dividend), digitsOf(divisor)];
  if (b === 0n) return null;
  const [size, by] = [a < 0n ? -a : a, b < 0n ? -b : b];
  const quotient = (size * 10n ** BigInt(DIGITS) * 2n + by) / (by * 2n);
  const text = String(quotient).padStart(DIGITS + 1, '0');
  return `${a < 0n === b < 0n ? '' : '-'}${text.slice(0, -DIGITS)}.${text.slice(-DIGITS)}`;
});

/** All digits of a decimal that has nine of them behind the point. */
function digitsOf(decimal: string): bigint {
  return BigInt(decimal.replace('.', ''));
}

// ---------------------------------------------------------------- BIGNUMERIC
// A number of units of 10^-38 as 32 bytes, the largest numbers last in order, so that DuckDB compares, sorts and groups the values by
// itself. They are read, cast and compared; nothing computes with them.

const SCALE = 38;
/** The number of units is one of 256 bits. */
const LIMIT = 1n << 255n;
const BYTES = 32;
/** Units of the budget: one call takes some two microseconds. */
const FOR_CALL = 500;

/** @param units in range */
export function bytesOfUnits(units: bigint): Uint8Array {
  return Buffer.from((units + LIMIT).toString(16).padStart(BYTES * 2, '0'), 'hex');
}

function unitsOfBytes(bytes: Uint8Array): bigint {
  return BigInt(`0x${Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('hex')}`) - LIMIT;
}

/** Of the text of a number, more digits than there are rounded; null: that is not a number, or out of range. */
export function unitsOfText(text: string): bigint | null {
  const digits = decimalText(text, 'BIGNUMERIC', false);
  if (digits === null) return null;
  const [whole = '', fraction = ''] = digits.split('.');
  return BigInt(whole + fraction.padEnd(SCALE, '0'));
}

/** Of a FLOAT64 in all its digits; null: it is not finite, or out of range. */
function unitsOfDouble(value: number): bigint | null {
  if (!Number.isFinite(value)) return null;
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, Math.abs(value));
  const bits = view.getBigUint64(0);
  const [exponent, fraction] = [Number(bits >> 52n), bits & 0xfffffffffffffn];
  const significand = exponent === 0 ? fraction : fraction | 0x10000000000000n;
  const power = Math.max(exponent, 1) - 1075;
  const ones = significand * 10n ** BigInt(SCALE);
  const size = power >= 0 ? ones << BigInt(power) : (ones * 2n + (1n << BigInt(-power))) >> BigInt(1 - power);
  return value < 0 ? -size : size;
}

/** Without zeros at its end. @param places behind the point that it is rounded to, halves away from zero */
function textOfUnits(units: bigint, places: number): string {
  const step = 10n ** BigInt(SCALE - places);
  const size = (((units < 0n ? -units : units) * 2n + step) / (2n * step)) * step;
  const digits = String(size).padStart(SCALE + 1, '0');
  const fraction = digits.slice(-SCALE).replace(/0+$/, '');
  return `${units < 0n && size > 0n ? '-' : ''}${digits.slice(0, -SCALE)}${fraction === '' ? '' : `.${fraction}`}`;
}

const inBytes = (units: bigint | null): Uint8Array | null =>
  units !== null && units >= -LIMIT && units < LIMIT ? bytesOfUnits(units) : null;

export const BIGNUMERIC_FUNCTIONS: Readonly<Record<string, ScalarFunction>> = {
  /** Of the text of a number. */
  lq_bignumeric_of: scalarFunction(['text'], 'bytes', (text, budget) => {
    budget.spend(FOR_CALL);
    return inBytes(unitsOfText(text));
  }),
  /** Of a FLOAT64 in its shortest form. */
  lq_bignumeric_of_float: scalarFunction(['text'], 'bytes', (text, budget) => {
    budget.spend(FOR_CALL);
    return inBytes(unitsOfDouble(Number(text)));
  }),
  /** As many places behind the point at most. */
  lq_bignumeric_text: scalarFunction(['bytes', 'integer'], 'text', (x, places, budget) => {
    budget.spend(FOR_CALL);
    return textOfUnits(unitsOfBytes(x), Number(places));
  }),
};
