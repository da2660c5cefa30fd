/**
 * SUM and AVG of NUMERIC and BIGNUMERIC. DuckDB's sum of decimals leaves their type unseen, and fails where what it has added so far
 * is beyond 128 bits, of rows outside of a window's frame too: whole parts and fractions are added up by themselves.
 */
import { duckType, fail } from '../../sql';
import type { AggregateRow, Parts } from './aggregate-functions';
import { ONE_EACH, withSumsOfParts } from './sums-of-parts';

interface Scale {
  readonly digits: number;
  /** Whole parts from where on the sum is beyond the type, whatever the fractions add. */
  readonly most: string;
}

const NUMERIC: Scale = { digits: 9, most: `CAST('110000000000000000000000000000' AS HUGEINT)` };
const BIGNUMERIC: Scale = { digits: 18, most: `CAST('110000000000000000000' AS HUGEINT)` };
const MOST_DIGITS = `CAST('${'9'.repeat(38)}' AS HUGEINT)`;

const scaleOf = (p: Parts): Scale => (p.call.type.kind === 'BIGNUMERIC' ? BIGNUMERIC : NUMERIC);
const unit = ({ digits }: Scale): string => `CAST('1${'0'.repeat(digits)}' AS HUGEINT)`;

/** What makes the whole part of a value, and its fraction in units of the last digit. */
function partsAt({ digits }: Scale): readonly ((x: string) => string)[] {
  const fraction = (x: string): string => `CAST((${x} - trunc(${x})) AS DECIMAL(38, ${digits}))`;
  return [
    (x) => `CAST(trunc(${x}) AS HUGEINT)`,
    (x) => `CAST(${fraction(x)} * CAST(1${'0'.repeat(digits)} AS BIGINT) AS BIGINT)`,
  ];
}

/** The decimal of a number of units of its last digit. */
function decimalOf(p: Parts, units: string): string {
  const { digits } = scaleOf(p);
  const one = `CAST(0.${'0'.repeat(digits - 1)}1 AS DECIMAL(${digits + 1}, ${digits}))`;
  return `CAST(CAST(${units} AS DECIMAL(38, 0)) * ${one} AS ${duckType(p.call.type)})`;
}

export const sumOfDecimals: AggregateRow = (p) => {
  const scale = scaleOf(p);
  const overflow = p.call.safe ? 'NULL' : fail('overflow', p.call.span);
  return withSumsOfParts(p, partsAt(scale), ([whole = '', fractions = '']) => {
    const units = `(${whole} * ${unit(scale)} + ${fractions})`;
    return (
      `CASE WHEN abs(${whole}) > ${scale.most} THEN ${overflow} ` +
      `WHEN abs(${units}) > ${MOST_DIGITS} THEN ${overflow} ELSE ${decimalOf(p, units)} END`
    );
  });
};

/** Rounded to the last digit, halves away from nought. */
export const averageOfDecimals: AggregateRow = (p) => {
  const one = unit(scaleOf(p));
  return withSumsOfParts(p, [...partsAt(scaleOf(p)), ONE_EACH], ([whole = '', fractions = '', n = '']) => {
    const rest = `(${whole} % ${n} * ${one} + ${fractions})`;
    const left = `((${rest} % ${n} + ${n}) % ${n})`;
    const below = `(${whole} // ${n} * ${one} + (${rest} - ${left}) // ${n})`;
    const up = `CASE WHEN 2 * ${left} > ${n} OR (2 * ${left} = ${n} AND ${below} >= 0) THEN 1 ELSE 0 END`;
    return `CASE WHEN ${n} > 0 THEN ${decimalOf(p, `${below} + ${up}`)} END`;
  });
};
