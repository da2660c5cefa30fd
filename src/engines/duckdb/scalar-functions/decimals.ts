/** Decimals with more digits than HUGEINT has room for on the way. */
import { scalarFunction } from './scalar-function';

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
