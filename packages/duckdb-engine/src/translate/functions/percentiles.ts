/**
 * PERCENTILE_CONT and PERCENTILE_DISC: the value at a place among all values in order, NULLs first where they count, NaN behind
 * them. DuckDB finds values at places; which places are those of NULLs and NaN follows from how many there are.
 */
import { fail, structOf } from '../../sql';
import type { PrintAggregate, Parts } from './aggregate-functions';

/** The fraction is taken with so many digits, which tell all places of less than a billion values apart. */
const DIGITS = 28;
const ONE = `CAST('1${'0'.repeat(DIGITS)}' AS HUGEINT)`;
const LOWEST = `CAST('-Infinity' AS DOUBLE)`;
const NAN = `CAST('NaN' AS DOUBLE)`;

interface Fraction {
  /** As DuckDB's functions take it. */
  readonly sql: string;
  /** Multiplied by ONE: a HUGEINT. */
  readonly scaled: string;
}

/** The fraction as it is, or one in range: DuckDB takes a negative one for the order downwards. */
function clamped(p: Parts): string {
  return p.args[1]?.constant === null ? `greatest(0, least(1, ${p.at(1)}))` : p.at(1);
}

/** The exact value of the fraction: 0.1 as FLOAT64 is a little more than a tenth. DuckDB would round its product with a number of values. */
function fractionOf(p: Parts): Fraction {
  const { constant = null, type } = p.args[1] ?? {};
  if (constant === null) {
    const written = type?.kind === 'FLOAT64' ? `printf('%.${DIGITS}f', ${clamped(p)})` : clamped(p);
    const sql = `CAST(${written} AS DECIMAL(${DIGITS + 1}, ${DIGITS}))`;
    return { sql, scaled: `lq_digits(${sql})` };
  }
  const [whole = '', decimals = ''] =
    type?.kind === 'FLOAT64' ? Number(constant).toFixed(DIGITS).split('.') : constant.split('.');
  const kept = BigInt(`${whole}${decimals.slice(0, DIGITS).padEnd(DIGITS, '0')}`);
  // Further digits are more than nothing.
  const scaled = String(kept + (/[1-9]/.test(decimals.slice(DIGITS)) ? 1n : 0n)).padStart(DIGITS + 1, '0');
  return {
    sql: `CAST('${scaled.slice(0, -DIGITS)}.${scaled.slice(-DIGITS)}' AS DECIMAL(${DIGITS + 1}, ${DIGITS}))`,
    scaled: `CAST('${scaled}' AS HUGEINT)`,
  };
}

/** How many values there are, and how many of them are NULLs that count, and how many NaN. */
function counts(p: Parts): readonly [all: string, nulls: string, nans: string] {
  const value = p.plain('count', [p.at(0)]);
  const respects = p.call.nulls === 'respect';
  const all = respects ? p.plain('count', ['*']) : value;
  return [all, respects ? `${all} - ${value}` : '0', p.plain('count', [`CASE WHEN isnan(${p.at(0)}) THEN 1 END`])];
}

/** A FLOAT64 argument with what stands below all numbers made the least of them. */
function withLowest(p: Parts): string {
  const lowest = p.call.nulls === 'respect' ? `${p.at(0)} IS NULL OR isnan(${p.at(0)})` : `isnan(${p.at(0)})`;
  return `CASE WHEN ${lowest} THEN ${LOWEST} ELSE ${p.at(0)} END`;
}

const discrete: PrintAggregate = (p) => {
  const fraction = fractionOf(p);
  const respects = p.call.nulls === 'respect';
  if (p.args[0]?.type.kind === 'FLOAT64') {
    const found = p.plain('quantile_disc', [withLowest(p), fraction.sql]);
    return p.ctx.bind([...counts(p), found], (all, nulls, nans, value) => {
      const place = `greatest(1, (${fraction.scaled} * ${all} + ${ONE} - 1) // ${ONE})`;
      return `CASE WHEN ${place} <= ${nulls} THEN NULL WHEN ${place} <= ${nulls} + ${nans} THEN ${NAN} ELSE ${value} END`;
    });
  }
  if (!respects) return p.plain('quantile_disc', [p.at(0), fraction.sql]);
  const ranked = structOf([
    ['r', `CASE WHEN ${p.at(0)} IS NULL THEN 0 ELSE 1 END`],
    ['v', p.at(0)],
  ]);
  return `struct_extract(${p.plain('quantile_disc', [ranked, fraction.sql])}, 'v')`;
};

/** Between a NULL and a value it is the value. */
const continuous: PrintAggregate = (p) => {
  if (p.args[0]?.type.kind !== 'FLOAT64') {
    if (p.call.nulls === 'respect')
      return p.ctx.unsupported(`PERCENTILE_CONT of ${p.call.type.kind} with RESPECT NULLS`, p.call.span);
    const plain = p.plain('quantile_cont', [p.at(0), clamped(p)]);
    if (p.call.type.kind !== 'NUMERIC') return plain;
    // DuckDB cuts what lies between two decimals to their digits: with as many again there is something to round.
    const finer = p.plain('quantile_cont', [`TRY_CAST(${p.at(0)} AS DECIMAL(38,18))`, clamped(p)]);
    const largest = p.plain('max', [`abs(${p.at(0)})`]);
    return `CAST(CASE WHEN ${largest} < 1${'0'.repeat(18)} THEN round(${finer}, 9) ELSE ${plain} END AS DECIMAL(38,9))`;
  }
  const fraction = fractionOf(p);
  const found = p.plain('quantile_cont', [withLowest(p), clamped(p)]);
  const least = p.plain('min', [p.at(0)]);
  return p.ctx.bind([...counts(p), least, found], (all, nulls, nans, first, value) => {
    const scaled = `(${fraction.scaled} * (${all} - 1))`;
    const [below, above] = [`${scaled} // ${ONE} + 1`, `(${scaled} + ${ONE} - 1) // ${ONE} + 1`];
    const cases = [
      `WHEN ${above} <= ${nulls} THEN NULL`,
      // NaN is DuckDB's greatest, so that the least is NaN where there is nothing else.
      `WHEN ${below} <= ${nulls} THEN CASE WHEN ${nans} > 0 THEN ${NAN} ELSE ${first} END`,
      `WHEN ${below} <= ${nulls} + ${nans} THEN ${NAN}`,
    ];
    return `CASE ${cases.join(' ')} ELSE ${value} END`;
  });
};

/** Of a fraction that only the values of parameters tell, its range is checked where the query runs. */
function withFraction(print: PrintAggregate): PrintAggregate {
  return (p) => {
    if (p.args[1]?.constant !== null) return print(p);
    const wrong = p.call.safe ? 'NULL' : fail('argument', p.call.span);
    return `CASE WHEN ${p.at(1)} BETWEEN 0 AND 1 THEN ${print(p)} ELSE ${wrong} END`;
  };
}

export const percentileDisc = withFraction(discrete);
export const percentileCont = withFraction(continuous);
