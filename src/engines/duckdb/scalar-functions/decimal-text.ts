/** Decimal numbers as C's printf writes them: `%f`, `%e` and `%g`, in all their digits. */

/** A number that is `units` times ten to the power of `-scale`. */
export interface ExactDecimal {
  readonly isNegative: boolean;
  readonly units: bigint;
  readonly scale: number;
  /** Halves are rounded away from zero, as those of NUMERIC, or to the even neighbour. */
  readonly roundsHalfUp: boolean;
}

/** A FLOAT64 that is finite. */
export function decimalOfDouble(value: number): ExactDecimal {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, Math.abs(value));
  const bits = view.getBigUint64(0);
  const [exponent, fraction] = [Number(bits >> 52n), bits & 0xfffffffffffffn];
  const significand = exponent === 0 ? fraction : fraction | 0x10000000000000n;
  const power = Math.max(exponent, 1) - 1075;
  const isNegative = value < 0;
  if (power >= 0) return { isNegative, units: significand << BigInt(power), scale: 0, roundsHalfUp: false };
  return { isNegative, units: significand * 5n ** BigInt(-power), scale: -power, roundsHalfUp: false };
}

/** A NUMERIC or BIGNUMERIC as DuckDB writes it. */
export function decimalOfText(text: string): ExactDecimal {
  const [, sign, whole = '', fraction = ''] = /^(-?)(\d*)\.?(\d*)$/.exec(text) ?? [];
  return {
    isNegative: sign === '-',
    units: BigInt(whole + fraction || '0'),
    scale: fraction.length,
    roundsHalfUp: true,
  };
}

/** The digits of a number with so many places behind the point; fewer than none round whole digits away. */
function rounded({ units, scale, roundsHalfUp }: ExactDecimal, places: number): bigint {
  if (places >= scale) return units * 10n ** BigInt(places - scale);
  const divisor = 10n ** BigInt(scale - places);
  const [quotient, twice] = [units / divisor, (units % divisor) * 2n];
  const isUp = twice > divisor || (twice === divisor && (roundsHalfUp || quotient % 2n === 1n));
  return isUp ? quotient + 1n : quotient;
}

/** Without a sign. @param alternative with a point in any case */
export function fixedText(value: ExactDecimal, places: number, alternative: boolean): string {
  const digits = String(rounded(value, places)).padStart(places + 1, '0');
  const point = digits.length - places;
  return digits.slice(0, point) + (places > 0 || alternative ? '.' : '') + digits.slice(point);
}

/** One digit, so many behind the point, and the power of ten. */
function scientific(value: ExactDecimal, places: number): { readonly digits: string; readonly power: number } {
  if (value.units === 0n) return { digits: '0'.repeat(places + 1), power: 0 };
  const power = String(value.units).length - 1 - value.scale;
  const digits = String(rounded(value, places - power));
  return digits.length > places + 1 ? { digits: digits.slice(0, -1), power: power + 1 } : { digits, power };
}

export function scientificText(value: ExactDecimal, places: number, alternative: boolean): string {
  const { digits, power } = scientific(value, places);
  const fraction = digits.slice(1);
  return `${digits[0]!}${fraction !== '' || alternative ? '.' : ''}${fraction}${powerText(power)}`;
}

function powerText(power: number): string {
  return `e${power < 0 ? '-' : '+'}${String(Math.abs(power)).padStart(2, '0')}`;
}

/** The shorter of both, with so many digits. @param alternative with the zeros at its end */
export function generalText(value: ExactDecimal, precision: number, alternative: boolean): string {
  const digits = precision === 0 ? 1 : precision;
  const { power } = scientific(value, digits - 1);
  const isFixed = power >= -4 && power < digits;
  const text = isFixed
    ? fixedText(value, digits - 1 - power, alternative)
    : scientificText(value, digits - 1, alternative);
  return alternative ? text : text.replace(/(?:\.0*|(\.\d*?)0+)(?=e|$)/, '$1');
}
