/**
 * BIGNUMERIC as a whole number of units of its last digit, the 38th behind the point, and as the 32 bytes that DuckDB has for it: in
 * their order, and the same for the same number, so that DuckDB compares, sorts, groups and joins them by itself.
 */
import { decimalText } from '../../../googlesql/literals/number';
import { decimalOfDouble } from './decimal-text';

const SCALE = 38;
/** Units of 1. */
export const ONE = 10n ** BigInt(SCALE);
/** The number of units is one of 256 bits. */
const LIMIT = 1n << 255n;
const BYTES = 32;

/** Null: it is out of range. */
export function inRange(units: bigint): bigint | null {
  return units >= -LIMIT && units < LIMIT ? units : null;
}

/** @param units in range */
export function bytesOfUnits(units: bigint): Uint8Array {
  return Buffer.from((units + LIMIT).toString(16).padStart(BYTES * 2, '0'), 'hex');
}

export function unitsOfBytes(bytes: Uint8Array): bigint {
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
export function unitsOfDouble(value: number): bigint | null {
  if (!Number.isFinite(value)) return null;
  const { isNegative, units, scale } = decimalOfDouble(value);
  const size = quotient(units * ONE, 10n ** BigInt(scale));
  return inRange(isNegative ? -size : size);
}

/** Without zeros at its end. @param places behind the point that it is rounded to */
export function textOfUnits(units: bigint, places = SCALE): string {
  const size = rounded(units < 0n ? -units : units, places, 'half_away');
  const digits = String(size).padStart(SCALE + 1, '0');
  const fraction = digits.slice(-SCALE).replace(/0+$/, '');
  return `${units < 0n && size > 0n ? '-' : ''}${digits.slice(0, -SCALE)}${fraction === '' ? '' : `.${fraction}`}`;
}

/** Rounded half away from zero. @param divisor is not 0 */
export function quotient(dividend: bigint, divisor: bigint): bigint {
  const [a, b] = [dividend < 0n ? -dividend : dividend, divisor < 0n ? -divisor : divisor];
  const size = (a * 2n + b) / (b * 2n);
  return dividend < 0n === divisor < 0n ? size : -size;
}

export type Rounding = 'half_away' | 'half_even' | 'to_zero';

/** Units of the closest number with so many digits behind the point. */
export function rounded(units: bigint, places: number, mode: Rounding): bigint {
  if (places >= SCALE) return units;
  // Half of what is next above the largest number is more than it.
  if (places < -SCALE - 1) return 0n;
  const step = 10n ** BigInt(SCALE - places);
  if (mode === 'half_away') return quotient(units, step) * step;
  const rest = units % step;
  const below = units - rest;
  if (mode === 'to_zero') return below;
  const twice = (rest < 0n ? -rest : rest) * 2n;
  const isUp = twice > step || (twice === step && (below / step) % 2n !== 0n);
  return isUp ? below + (units < 0n ? -step : step) : below;
}
