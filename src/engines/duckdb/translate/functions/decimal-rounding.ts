/** NUMERIC rounded or cut to a number of digits that only the row knows, and halves to even: by their digits. */
import { duckType } from '../../sql';
import { type Call, sqlOf } from '../expressions/call';

export type Rounding = 'half_away' | 'half_even' | 'to_zero';

/** Digits of a decimal of DuckDB. */
const WIDTH = 38;
/** Digits behind the point. */
const SCALE = 9;

/** Whether DuckDB's own functions do so: they give nought where all digits of the type are rounded up, not an overflow. */
export function roundsToConstant(digits: number): boolean {
  return digits > SCALE - WIDTH;
}

/** The first argument to as many digits behind the point as the second says. */
export function roundedDecimal(call: Call, rounding: Rounding): string {
  return call.bind([sqlOf(call, 0), sqlOf(call, 1)], (x, n) => {
    const power = `lq_power_of_ten(${SCALE} - ${n})`;
    const digits = call.bind([`lq_digits(${x})`, power], (d, p) => roundedDigits(d, p, rounding));
    const value = call.bind(
      [digits],
      (d) =>
        `CASE WHEN abs(${d}) >= lq_power_of_ten(${WIDTH}) THEN ${call.fail('overflow')} ELSE lq_of_digits(${d}) END`,
    );
    const text = `CASE WHEN ${n} >= ${SCALE} THEN ${x} WHEN ${n} < ${SCALE - WIDTH} THEN ${x} - ${x} ELSE ${value} END`;
    return `CAST(${text} AS ${duckType(call.type)})`;
  });
}

/** A whole number as a multiple of a power of ten. Twice a rest may be more than HUGEINT holds. */
function roundedDigits(d: string, p: string, rounding: Rounding): string {
  const [count, rest] = [`(abs(${d}) // ${p})`, `(abs(${d}) % ${p})`];
  const up = {
    to_zero: 'false',
    half_away: `${rest} >= ${p} - ${rest}`,
    half_even: `${rest} > ${p} - ${rest} OR (${rest} = ${p} - ${rest} AND ${count} % 2 = 1)`,
  }[rounding];
  return `sign(${d}) * (${count} + CASE WHEN ${up} THEN 1 ELSE 0 END) * ${p}`;
}
