/**
 * Exponentials, logarithms, powers and roots of NUMERIC and BIGNUMERIC, of which not every digit is certain: in binary fractions with as
 * many bits as the GoogleSQL engine takes, by the same series and iterations, and rounded where it rounds.
 */
import { quotient } from './big-decimal';

/** Of a type of decimals. */
export interface Precision {
  /** Units of 1. */
  readonly one: bigint;
  /** Bits behind the point. */
  readonly bits: bigint;
  /** Bits of a fraction on the way. */
  readonly width: bigint;
  /** No number of the type has so many units. */
  readonly limit: bigint;
}

export const BIGNUMERIC_PRECISION: Precision = { one: 10n ** 38n, bits: 254n, width: 384n, limit: 1n << 255n };

/** A result has more digits than there is room for. */
class Overflow extends Error {}

const LN2_BITS = 320n;
const abs = (x: bigint): bigint => (x < 0n ? -x : x);

/** Rounded half up. @param x not below 0 @param by above 0 */
const shiftedRight = (x: bigint, by: bigint): bigint => (x + (1n << (by - 1n))) >> by;

/** The place of the highest bit that is set, counted from 0. @param x above 0 */
function highestBit(x: bigint): bigint {
  const digits = x.toString(16);
  return BigInt((digits.length - 1) * 4 + 31 - Math.clz32(Number.parseInt(digits[0]!, 16)));
}

/** ln 2 and 1 / ln 10 by the series of the inverse hyperbolic tangent: ln 2 = 2 atanh(1/3), ln 10 = 3 ln 2 + 2 atanh(1/9). */
function constants(): readonly [bigint, bigint] {
  const bits = LN2_BITS + 64n;
  const one = 1n << bits;
  const atanh = (divisor: bigint): bigint => {
    let [sum, power] = [0n, one / divisor];
    for (let n = 1n; power > 0n; n += 2n, power /= divisor * divisor) sum += power / n;
    return sum;
  };
  const ln2 = 2n * atanh(3n);
  const ln10 = 3n * ln2 + 2n * atanh(9n);
  return [shiftedRight(ln2, 64n), quotient(1n << (bits + LN2_BITS), ln10)];
}

/** The first 320 bits. */
const [LN2, INVERSE_LN10] = constants();

export class Fractions {
  readonly #one: bigint;

  constructor(private readonly precision: Precision) {
    this.#one = 1n << precision.bits;
  }

  /** @returns units; null: it is out of range */
  exp(units: bigint): bigint | null {
    return this.#units(() => this.#exp(this.#fraction(units)));
  }

  /** @param units above 0 */
  ln(units: bigint): bigint | null {
    return this.#units(() => this.#ln(this.#fraction(units), this.#coarse));
  }

  /** @param units above 0 */
  log10(units: bigint): bigint | null {
    return this.#units(() => {
      const ln = this.#ln(this.#fraction(units), this.#coarse);
      return this.#signed(ln, shiftedRight(abs(ln) * INVERSE_LN10, LN2_BITS));
    });
  }

  /** @param units above 0 @param base above 0, and not 1 */
  log(units: bigint, base: bigint): bigint | null {
    return this.#units(() => {
      const [a, b] = [units, base].map((x) => this.#ln(this.#fraction(x), 1n << 4n)) as [bigint, bigint];
      if (b === 0n) throw new Overflow();
      return quotient(a << this.precision.bits, b);
    });
  }

  /** @param units not below 0 */
  sqrt(units: bigint): bigint | null {
    return this.#units(() => {
      const square = this.#fraction(units) << this.precision.bits;
      return rootOf(square);
    });
  }

  /** @returns null: it is out of range, or no number */
  power(base: bigint, exponent: bigint): bigint | null {
    const { one, bits } = this.precision;
    if (exponent === 0n) return one;
    if (exponent === one) return base;
    if (exponent === 2n * one) return this.#inRange(quotient(base * base, one));
    if (base === 0n) return exponent < 0n ? null : 0n;
    if (exponent === -one) return this.#inRange(quotient(one * one, base));
    const [whole, rest] = [abs(exponent) / one, abs(exponent) % one];
    if (base < 0n && rest !== 0n) return null;
    const isNegative = base < 0n && whole % 2n === 1n;
    const size = this.#units(() => {
      let fraction = abs(this.#fraction(base));
      let part = exponent < 0n ? -rest : rest;
      let result = this.#one;
      if (whole > 0n && exponent > 0n) result = this.#wholePower(fraction, whole);
      else if (whole > 0n && abs(base) > one) {
        const inverse = orNull(() => this.#wholePower(fraction, whole));
        // So small that nothing is left of it.
        if (inverse === null) return 0n;
        result = quotient(1n << (bits * 2n), inverse);
      } else if (whole > 0n) {
        fraction = quotient(one << bits, abs(base));
        result = this.#wholePower(fraction, whole);
        part = -part;
      }
      if (part === 0n) return result;
      const ln = this.#ln(fraction, 1n << 4n);
      const product = this.#signed(ln * part, this.#times(abs(ln), abs(this.#fraction(part))));
      const root = this.#exp(product);
      return whole === 0n ? root : this.#times(result, root);
    });
    return size === null ? null : isNegative ? -size : size;
  }

  get #coarse(): bigint {
    // 2^-34 of NUMERIC, 2^-144 of BIGNUMERIC.
    return 1n << (this.precision.bits === 94n ? 60n : 110n);
  }

  #inRange(units: bigint): bigint | null {
    return abs(units) < this.precision.limit ? units : null;
  }

  #units(compute: () => bigint): bigint | null {
    const fraction = orNull(compute);
    if (fraction === null) return null;
    const size = shiftedRight(abs(fraction) * this.precision.one, this.precision.bits);
    return this.#inRange(fraction < 0n ? -size : size);
  }

  #fraction(units: bigint): bigint {
    return quotient(units << this.precision.bits, this.precision.one);
  }

  #signed(sign: bigint, size: bigint): bigint {
    return sign < 0n ? -size : size;
  }

  /** @throws Overflow */
  #times(a: bigint, b: bigint): bigint {
    const product = shiftedRight(a * b, this.precision.bits);
    if (product >> this.precision.width !== 0n) throw new Overflow();
    return product;
  }

  #wholePower(base: bigint, exponent: bigint): bigint {
    let [result, power, left] = [this.#one, base, exponent];
    for (;;) {
      if (left % 2n === 1n) result = this.#times(result, power);
      left >>= 1n;
      if (left === 0n) return result;
      power = this.#times(power, power);
    }
  }

  /** By Taylor's series of a number below an eighth, which is squared as often as it was halved. */
  #exp(x: bigint): bigint {
    if (x === 0n) return this.#one;
    let r = abs(x);
    const halvings = highestBit(r) - (this.precision.bits - 4n);
    if (halvings > 0n) r = shiftedRight(r, halvings);
    let [sum, term, isNegative] = [this.#one, this.#one, false];
    for (let n = 1n; ; n++) {
      term = quotient(this.#times(term, r), n);
      if (term === 0n) break;
      isNegative = isNegative !== x < 0n;
      sum += isNegative ? -term : term;
    }
    for (let i = 0n; i < halvings; i++) sum = this.#times(sum, sum);
    return sum;
  }

  /** By Halley's method, of a number from 1 to 2, until it changes by less than `unit`. */
  #ln(x: bigint, unit: bigint): bigint {
    if (x === this.#one) return 0n;
    const { bits } = this.precision;
    const power = highestBit(x) - bits;
    const r = power < 0n ? x << -power : power > 0n ? shiftedRight(x, power) : x;
    let y = r - this.#one;
    for (let i = 0; i < 12; i++) {
      const e = this.#exp(y);
      if (r === e) break;
      const change = quotient((abs(r - e) * 2n) << bits, r + e);
      y += r < e ? -change : change;
      if (change < unit) break;
    }
    if (power === 0n) return y;
    const offset = shiftedRight(LN2 * abs(power), LN2_BITS - bits);
    return power > 0n ? y + offset : y - offset;
  }
}

function orNull(compute: () => bigint): bigint | null {
  try {
    return compute();
  } catch (error) {
    if (error instanceof Overflow) return null;
    throw error;
  }
}

/** Rounded down. */
function rootOf(square: bigint): bigint {
  if (square === 0n) return 0n;
  let root = 1n << (highestBit(square) / 2n + 1n);
  for (;;) {
    const next = (root + square / root) >> 1n;
    if (next >= root) return root;
    root = next;
  }
}
