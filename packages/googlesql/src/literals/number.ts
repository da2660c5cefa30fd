/** Numbers as GoogleSQL's literals write them. */

const INT64_MAX = 2n ** 63n - 1n;
const INT64_MIN = -(2n ** 63n);

/** Digits before and after the point. */
const PRECISION = { NUMERIC: [29, 9], BIGNUMERIC: [39, 38] } as const;

/** An INT64 literal's decimal digits, or null where it does not fit. `negative`: a minus stands before it. */
export function integerText(digits: string, negative: boolean): string | null {
  const value = BigInt(digits) * (negative ? -1n : 1n);
  return value > INT64_MAX || value < INT64_MIN ? null : value.toString();
}

/** A FLOAT64 literal in JavaScript's shortest form; one too large is Infinity. */
export function floatText(text: string): string {
  const value = Number(text);
  return Object.is(value, -0) ? '-0' : String(value);
}

/**
 * A decimal number's text (`-12.50e3`) in plain digits without needless zeros. `exact`: null for more digits than the
 * type's scale, as in literals; else they are rounded half away from zero. null too where it is no number or too large.
 */
export function decimalText(text: string, kind: 'NUMERIC' | 'BIGNUMERIC', exact: boolean): string | null {
  const match = /^\s*([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d{1,5}))?\s*$/.exec(text);
  if (match === null) return null;
  const [, sign, whole = '', fraction = '', exponent = '0'] = match;
  if (whole + fraction === '') return null;
  const [digitsBefore, scale] = PRECISION[kind];
  const shift = Number(exponent) - fraction.length + scale;
  if (shift > 200) return /^0*$/.test(whole + fraction) ? '0' : null;
  let scaled = BigInt(whole + fraction);
  if (shift >= 0) scaled *= 10n ** BigInt(shift);
  else {
    const unit = 10n ** BigInt(Math.min(-shift, 5000));
    if (exact && scaled % unit !== 0n) return null;
    scaled = (scaled + unit / 2n) / unit;
  }
  const limit = kind === 'NUMERIC' ? 10n ** BigInt(digitsBefore + scale) : 2n ** 255n + (sign === '-' ? 1n : 0n);
  if (scaled >= limit) return null;
  const digits = scaled.toString().padStart(scale + 1, '0');
  const after = digits.slice(-scale).replace(/0+$/, '');
  const before = digits.slice(0, -scale);
  return `${sign === '-' && scaled !== 0n ? '-' : ''}${before}${after === '' ? '' : `.${after}`}`;
}
