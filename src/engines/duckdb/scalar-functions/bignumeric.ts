/** Functions of BIGNUMERIC, whose values are the bytes of big-decimal.ts. Empty bytes: there is no such value. */
import {
  bytesOfUnits,
  inRange,
  ONE,
  quotient,
  rounded,
  type Rounding,
  textOfUnits,
  unitsOfBytes,
  unitsOfDouble,
  unitsOfText,
} from './big-decimal';
import { BIGNUMERIC_PRECISION, Fractions } from './binary-fraction';
import { type ScalarFunction, scalarFunction } from './scalar-function';

/** Units of the budget: one call takes some two microseconds. */
const FOR_CALL = 500;

/** Of what takes up to so many microseconds: some hundred rows at once. */
const FOR_EXPONENTIAL = 6_000;
const FOR_LOGARITHM = 20_000;
const FOR_POWER = 30_000;
const FOR_LOGARITHMS = 40_000;

const fractions = new Fractions(BIGNUMERIC_PRECISION);

const inBytes = (units: bigint | null): Uint8Array | null => {
  const value = units === null ? null : inRange(units);
  return value === null ? null : bytesOfUnits(value);
};

const ofOne = (compute: (x: bigint) => bigint | null, cost = FOR_CALL): ScalarFunction =>
  scalarFunction(['bytes'], 'bytes', (x, budget) => {
    if (!budget.spend(cost)) return null;
    return inBytes(compute(unitsOfBytes(x)));
  });

const ofTwo = (compute: (a: bigint, b: bigint) => bigint | null, cost = FOR_CALL): ScalarFunction =>
  scalarFunction(['bytes', 'bytes'], 'bytes', (a, b, budget) => {
    if (!budget.spend(cost)) return null;
    return inBytes(compute(unitsOfBytes(a), unitsOfBytes(b)));
  });

/** The nearest whole number that is not above. */
function floor(x: bigint): bigint {
  const rest = x % ONE;
  return rest < 0n ? x - rest - ONE : x - rest;
}

const sum = scalarFunction(['text', 'integer', 'integer'], 'bytes', (limbs, count, divisor, budget) => {
  budget.spend(FOR_CALL);
  const total = limbs.split(' ').reduce((all, limb) => (all << 64n) + BigInt(limb), 0n) - (count << 255n);
  return inBytes(divisor === 1n ? total : quotient(total, divisor));
});

export const BIGNUMERIC_FUNCTIONS: Readonly<Record<string, ScalarFunction>> = {
  lq_bignumeric_abs: ofOne((x) => (x < 0n ? -x : x)),
  lq_bignumeric_add: ofTwo((a, b) => a + b),
  lq_bignumeric_ceil: ofOne((x) => -floor(-x)),
  lq_bignumeric_div: ofTwo((a, b) => (b === 0n ? null : (a / b) * ONE)),
  lq_bignumeric_divide: ofTwo((a, b) => (b === 0n ? null : quotient(a * ONE, b))),
  lq_bignumeric_exp: ofOne((x) => fractions.exp(x), FOR_EXPONENTIAL),
  lq_bignumeric_floor: ofOne(floor),
  lq_bignumeric_ln: ofOne((x) => (x > 0n ? fractions.ln(x) : null), FOR_LOGARITHM),
  lq_bignumeric_log: ofTwo((x, base) => {
    return x > 0n && base > 0n && base !== ONE ? fractions.log(x, base) : null;
  }, FOR_LOGARITHMS),
  lq_bignumeric_log10: ofOne((x) => (x > 0n ? fractions.log10(x) : null), FOR_LOGARITHM),
  lq_bignumeric_mod: ofTwo((a, b) => (b === 0n ? null : a % b)),
  lq_bignumeric_multiply: ofTwo((a, b) => quotient(a * b, ONE)),
  lq_bignumeric_negate: ofOne((x) => -x),
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
  lq_bignumeric_power: ofTwo((base, exponent) => fractions.power(base, exponent), FOR_POWER),
  /** To so many places behind the point. */
  lq_bignumeric_round: scalarFunction(['bytes', 'integer', 'text'], 'bytes', (x, places, mode, budget) => {
    budget.spend(FOR_CALL);
    const near = places > 100n ? 100 : places < -100n ? -100 : Number(places);
    return inBytes(rounded(unitsOfBytes(x), near, mode as Rounding));
  }),
  lq_bignumeric_sign: ofOne((x) => (x > 0n ? ONE : x < 0n ? -ONE : 0n)),
  lq_bignumeric_sqrt: ofOne((x) => (x < 0n ? null : fractions.sqrt(x)), FOR_EXPONENTIAL),
  lq_bignumeric_subtract: ofTwo((a, b) => a - b),
  /** Of so many values, whose four times 64 bits are added up for themselves, divided by a number. */
  lq_bignumeric_sum: sum,
  /** As many places behind the point at most. */
  lq_bignumeric_text: scalarFunction(['bytes', 'integer'], 'text', (x, places, budget) => {
    budget.spend(FOR_CALL);
    return textOfUnits(unitsOfBytes(x), Number(places));
  }),
};
