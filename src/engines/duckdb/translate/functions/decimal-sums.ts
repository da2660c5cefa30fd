/**
 * SUM and AVG of NUMERIC. DuckDB's sum of decimals leaves their type unseen, and fails where what it has added so far
 * is beyond 128 bits, of rows outside of a window's frame too: whole parts and fractions of large values are added up by themselves.
 * Small values, of which ten thousand million stay far within, are added as they are, some hundred times as fast.
 */
import { duckType, fail } from '../../sql';
import type { AggregateRow, Parts } from './aggregate-functions';
import { ONE_EACH, withSumsOfParts } from './sums-of-parts';

/** Digits behind the point. */
const DIGITS = 9;
/** From where on a value is large. */
const LARGE = '1000000000000000000';
/** Whole parts of large values from where on the sum is beyond the type, whatever fractions and small values add. */
const MOST = `CAST('110000000000000000000000000000' AS HUGEINT)`;
const MOST_DIGITS = `CAST('${'9'.repeat(38)}' AS HUGEINT)`;
const UNIT = `CAST('1${'0'.repeat(DIGITS)}' AS HUGEINT)`;

/** What makes of a value itself where it is small, and else its whole part, and its fraction in units of the last digit. */
const PARTS: readonly ((x: string) => string)[] = [
  (x) => `CASE WHEN ${isSmall(x)} THEN ${x} END`,
  (x) => `CASE WHEN NOT (${isSmall(x)}) THEN CAST(trunc(${x}) AS HUGEINT) END`,
  (x) => `CASE WHEN NOT (${isSmall(x)}) THEN ${fractionOf(x)} END`,
];

function isSmall(x: string): string {
  return `${x} BETWEEN -${LARGE} AND ${LARGE}`;
}

function fractionOf(x: string): string {
  return `CAST(CAST((${x} - trunc(${x})) AS DECIMAL(38, ${DIGITS})) * CAST(1${'0'.repeat(DIGITS)} AS BIGINT) AS BIGINT)`;
}

/** Sums of the whole parts of large values, and of all the rest in units of the last digit, beside those of other parts; NULL of no value. */
function withWholeAndRest(
  p: Parts,
  others: readonly ((x: string) => string)[],
  body: (whole: string, rest: string, ...others: string[]) => string,
): string {
  return withSumsOfParts(p, [...PARTS, ...others], ([small = '', whole = '', fractions = '', ...sums]) =>
    p.ctx.bind(
      [`coalesce(${whole}, 0)`, `coalesce(lq_digits(${small}), 0) + coalesce(${fractions}, 0)`],
      (sum, rest) => `CASE WHEN ${small} IS NOT NULL OR ${whole} IS NOT NULL THEN ${body(sum, rest, ...sums)} END`,
    ),
  );
}

/** The decimal of a number of units of its last digit. */
function decimalOf(p: Parts, units: string): string {
  return `CAST(lq_of_digits(${units}) AS ${duckType(p.call.type)})`;
}

export const sumOfDecimals: AggregateRow = (p) => {
  const overflow = p.call.safe ? 'NULL' : fail('overflow', p.call.span);
  return withWholeAndRest(p, [], (whole, rest) => {
    const units = `(${whole} * ${UNIT} + ${rest})`;
    return (
      `CASE WHEN abs(${whole}) > ${MOST} THEN ${overflow} ` +
      `WHEN abs(${units}) > ${MOST_DIGITS} THEN ${overflow} ELSE ${decimalOf(p, units)} END`
    );
  });
};

/** Rounded to the last digit, halves away from nought. */
export const averageOfDecimals: AggregateRow = (p) =>
  withWholeAndRest(p, [ONE_EACH], (whole, units, n = '') => {
    const rest = `(${whole} % ${n} * ${UNIT} + ${units})`;
    const left = `((${rest} % ${n} + ${n}) % ${n})`;
    const below = `(${whole} // ${n} * ${UNIT} + (${rest} - ${left}) // ${n})`;
    const up = `CASE WHEN 2 * ${left} > ${n} OR (2 * ${left} = ${n} AND ${below} >= 0) THEN 1 ELSE 0 END`;
    return decimalOf(p, `${below} + ${up}`);
  });
