/** SUM and AVG of what DuckDB adds up in another way: NUMERIC, INTERVAL and FLOAT64. */
import { duckType, fail } from '../../sql';
import type { Bind, Call } from '../expressions/call';
import type { PrintAggregate, Parts } from './aggregate-functions';
import { intervalOf, quotientOfParts } from './intervals';

// ---------------------------------------------------------------- values that are added up part by part

/**
 * @param parts each makes a part of a value
 * @param body gets a name for the sum of each
 */
function withSumsOfParts(
  p: Parts,
  parts: readonly ((value: string) => string)[],
  body: (sums: readonly string[]) => string,
): string {
  const { ctx } = p;
  const value = p.at(0);
  if (!p.call.distinct) {
    const sums = parts.map((part) => p.plain('sum', [part(value)]));
    return ctx.bind(sums, (...names) => body(names));
  }
  // Values that differ may have parts that do not.
  const e = ctx.variable();
  return ctx.bind([p.plain('list', [value], { filter: `${value} IS NOT NULL` })], (list) => {
    const sums = parts.map((part) => `list_sum(list_transform(${list}, lambda ${e}: ${part(e)}))`);
    return ctx.bind(sums, (...names) => body(names));
  });
}

/** A part whose sum is the number of values. */
const ONE_EACH = (value: string): string => `CASE WHEN ${value} IS NOT NULL THEN CAST(1 AS HUGEINT) END`;

// ---------------------------------------------------------------- NUMERIC
// DuckDB's sum of decimals leaves their type unseen, and fails where what it has added so far is beyond 128 bits, of rows outside of a
// window's frame too: whole parts and fractions of large values are added up by themselves. Small values, of which ten thousand million
// stay far within, are added as they are, some hundred times as fast.

/** Digits behind the point. */
const DIGITS = 9;
/** From where on a value is large. */
const LARGE = '1000000000000000000';
/** Whole parts of large values from where on the sum is beyond the type, whatever fractions and small values add. */
const MOST = `CAST('110000000000000000000000000000' AS HUGEINT)`;
const MOST_DIGITS = `CAST('${'9'.repeat(38)}' AS HUGEINT)`;
const UNIT = `CAST('1${'0'.repeat(DIGITS)}' AS HUGEINT)`;

/** What makes of a value itself where it is small, and else its whole part, and its fraction in units of the last digit. */
const DECIMAL_PARTS: readonly ((x: string) => string)[] = [
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
  return withSumsOfParts(p, [...DECIMAL_PARTS, ...others], ([small = '', whole = '', fractions = '', ...sums]) =>
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

export const sumOfDecimals: PrintAggregate = (p) => {
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
export const averageOfDecimals: PrintAggregate = (p) =>
  withWholeAndRest(p, [ONE_EACH], (whole, units, n = '') => {
    const rest = `(${whole} % ${n} * ${UNIT} + ${units})`;
    const left = `((${rest} % ${n} + ${n}) % ${n})`;
    const below = `(${whole} // ${n} * ${UNIT} + (${rest} - ${left}) // ${n})`;
    const up = `CASE WHEN 2 * ${left} > ${n} OR (2 * ${left} = ${n} AND ${below} >= 0) THEN 1 ELSE 0 END`;
    return decimalOf(p, `${below} + ${up}`);
  });

// ---------------------------------------------------------------- INTERVAL: months, days and microseconds each by themselves

const INTERVAL_PARTS = [
  (i: string): string => `CAST(lq_interval_months(${i}) AS HUGEINT)`,
  (i: string): string => `CAST(extract(day FROM ${i}) AS HUGEINT)`,
  (i: string): string => `CAST(lq_interval_micros(${i}) AS HUGEINT)`,
] as const;

function failing({ call }: Parts): Pick<Call, 'fail'> {
  return { fail: (failure) => (call.safe ? 'NULL' : fail(failure, call.span)) };
}

export const sumOfIntervals: PrintAggregate = (p) =>
  withSumsOfParts(p, INTERVAL_PARTS, ([months = '', days = '', micros = '']) =>
    intervalOf(failing(p), months, days, micros),
  );

export const averageOfIntervals: PrintAggregate = (p) => {
  const bind: Bind = (values, body) => p.ctx.bind(values, body);
  return withSumsOfParts(p, [...INTERVAL_PARTS, ONE_EACH], ([months = '', days = '', micros = '', count = '']) => {
    const quotient = quotientOfParts({ ...failing(p), bind }, [months, days, micros], count);
    return `CASE WHEN ${count} > 0 THEN ${quotient} END`;
  });
};

// ---------------------------------------------------------------- FLOAT64, which DuckDB lets become infinite on the way

const FACTOR = '18446744073709551616e0';

/** So much less that no sum of finite numbers is beyond FLOAT64; what it loses is nothing to a sum that large. */
export function scaledDown(x: string): string {
  return `${x} / ${FACTOR}`;
}

/** `total`, or from the scaled one where that is infinite of finite numbers: `failing` where it does lie beyond FLOAT64. Both are names. */
export function rescaled(total: string, scaled: string, failing: string): string {
  return `CASE WHEN isfinite(${total}) THEN ${total} WHEN isfinite(${scaled}) AND isinf(${scaled} * ${FACTOR}) THEN ${failing} ELSE ${scaled} * ${FACTOR} END`;
}

export function sumOfFloatList(bind: Bind, list: string, failing: string): string {
  return bind([list], (l) =>
    bind([`list_sum(${l})`, `list_sum(list_transform(${l}, lambda x: ${scaledDown('x')}))`], (sum, scaled) =>
      rescaled(sum, scaled, failing),
    ),
  );
}
