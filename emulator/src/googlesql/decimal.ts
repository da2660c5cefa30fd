import { floorDivide } from './civil';

/** Digits after the point of NUMERIC and BIGNUMERIC: the engine's values are integers in units of the last one. */
export const SCALE = { NUMERIC: 9, BIGNUMERIC: 38 } as const;

/** The integer that little-endian two's-complement bytes represent. */
export function integerOf(bytes: Uint8Array): bigint {
  let value = 0n;
  for (let i = bytes.length - 1; i >= 0; i--) value = (value << 8n) | BigInt(bytes[i] ?? 0);
  return BigInt.asIntN(bytes.length * 8, value);
}

/** The shortest little-endian two's-complement bytes of an integer. */
export function bytesOf(value: bigint): Buffer {
  const bytes: number[] = [];
  for (let rest = value; ;) {
    const [next, byte] = floorDivide(rest, 256n);
    bytes.push(Number(byte));
    if ((next === 0n && byte < 128n) || (next === -1n && byte >= 128n)) return Buffer.from(bytes);
    rest = next;
  }
}

/** Decimal text without trailing zeros. */
export function decimalText(units: bigint, scale: number): string {
  const digits = (units < 0n ? -units : units).toString().padStart(scale + 1, '0');
  const fraction = digits.slice(-scale).replace(/0+$/, '');
  return `${units < 0n ? '-' : ''}${digits.slice(0, -scale)}${fraction === '' ? '' : `.${fraction}`}`;
}

/** Units of a decimal text, rounded half away from zero; null for a text that is no number. */
export function parseDecimal(text: string, scale: number): bigint | null {
  const m = /^\s*([+-]?)(\d*)(?:\.(\d*))?(?:e([+-]?\d+))?\s*$/i.exec(text);
  if (m === null || `${m[2] ?? ''}${m[3] ?? ''}` === '') return null;
  const exponent = Number(m[4] ?? 0) + scale - (m[3] ?? '').length;
  if (Math.abs(exponent) > 200) return null;
  const digits = BigInt(`${m[2] ?? ''}${m[3] ?? ''}`);
  const power = 10n ** BigInt(Math.abs(exponent));
  const units = exponent >= 0 ? digits * power : (digits * 2n + power) / (2n * power);
  return m[1] === '-' ? -units : units;
}
