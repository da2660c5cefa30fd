/** INTERVAL values: months, days and microseconds, kept apart as GoogleSQL and DuckDB both do; what a division leaves goes to the next. */
import { MOST_OF_INTERVAL } from '@logquay/googlesql/types';
import { type Argument, type Call, arg, type FunctionTable, nullFirst, raising, sqlOf } from '../expressions/call';
import { inYears } from './dates';

const DAYS_OF_MONTH = 30;
const MICROS_OF_DAY = 86_400_000_000;

export function hasNoMonths({ expr, constant }: Argument): boolean {
  if (constant !== null) return constant.startsWith('0-0 ');
  return (
    expr.kind === 'call' && expr.function === '$interval' && !['YEAR', 'QUARTER', 'MONTH'].includes(expr.part ?? '')
  );
}

/** Of three whole numbers, unless one is out of range. They are repeated. */
export function intervalOf(call: Pick<Call, 'fail'>, months: string, days: string, micros: string): string {
  const { months: m, days: d, micros: u } = MOST_OF_INTERVAL;
  return (
    `CASE WHEN abs(${months}) > ${m} OR abs(${days}) > ${d} OR abs(${micros}) > ${u} THEN ${call.fail('overflow')} ` +
    `ELSE to_months(CAST(${months} AS INTEGER)) + to_days(CAST(${days} AS INTEGER)) + to_microseconds(CAST(${micros} AS BIGINT)) END`
  );
}

const wide = (x: string): string => `CAST(${x} AS HUGEINT)`;

export function addedIntervals(call: Call, operator: '+' | '-'): string {
  return call.bind([arg(call, 0).sql, arg(call, 1).sql], (a, b) => {
    const parts = ['lq_interval_months(%)', 'extract(day FROM %)', 'lq_interval_micros(%)'];
    const [months = '', days = '', micros = ''] = parts.map(
      (part) => `${part.replace('%', () => a)} ${operator} ${part.replace('%', () => b)}`,
    );
    return call.bind([months, days, micros], (m, d, u) => intervalOf(call, m, d, u));
  });
}

export function multipliedInterval(call: Call): string {
  const [a, b] = [arg(call, 0), arg(call, 1)];
  const [interval, factor] = a.type.kind === 'INTERVAL' ? [a, b] : [b, a];
  return call.bind([interval.sql, factor.sql], (i, n) =>
    call.bind(
      [
        `${wide(`lq_interval_months(${i})`)} * ${n}`,
        `${wide(`extract(day FROM ${i})`)} * ${n}`,
        `${wide(`lq_interval_micros(${i})`)} * ${n}`,
      ],
      (months, days, micros) => intervalOf(call, months, days, micros),
    ),
  );
}

export function dividedInterval(call: Call): string {
  return call.bind([arg(call, 0).sql, arg(call, 1).sql], (i, n) => {
    const parts = [`lq_interval_months(${i})`, `extract(day FROM ${i})`, `lq_interval_micros(${i})`] as const;
    const zero = `CASE WHEN ${n} = 0 AND ${i} IS NOT NULL THEN ${call.fail('division')} ELSE ${n} END`;
    return call.bind([zero], (divisor) => quotientOfParts(call, parts, divisor));
  });
}

/** @param parts months, days and microseconds, which are repeated. @param divisor a name, not nought */
export function quotientOfParts(
  call: Pick<Call, 'fail' | 'bind'>,
  [months, days, micros]: readonly [string, string, string],
  divisor: string,
): string {
  const allDays = `(${wide(months)} % ${divisor} * ${DAYS_OF_MONTH} + ${days})`;
  return call.bind(
    [
      `${wide(months)} // ${divisor}`,
      `${allDays} // ${divisor}`,
      `(${allDays} % ${divisor} * ${MICROS_OF_DAY} + ${micros}) // ${divisor}`,
    ],
    (m, d, u) => intervalOf(call, m, d, u),
  );
}

const MONTHS: Readonly<Record<string, number>> = { YEAR: 12, QUARTER: 3, MONTH: 1 };
const DAYS: Readonly<Record<string, number>> = { WEEK: 7, DAY: 1 };
const MICROS: Readonly<Record<string, number>> = {
  HOUR: 3_600_000_000,
  MINUTE: 60_000_000,
  SECOND: 1_000_000,
  MILLISECOND: 1_000,
  MICROSECOND: 1,
};

function part(name: string, amount: string): string | null {
  if (MONTHS[name] !== undefined) return `to_months(CAST(${amount} * ${MONTHS[name]} AS INTEGER))`;
  if (DAYS[name] !== undefined) return `to_days(CAST(${amount} * ${DAYS[name]} AS INTEGER))`;
  if (MICROS[name] !== undefined) return `to_microseconds(${amount} * ${MICROS[name]})`;
  return null;
}

function interval(call: Call): string {
  const name = call.part ?? '';
  const most = mostOf(name);
  const { constant } = arg(call, 0);
  if (constant !== null) {
    const amount = BigInt(constant);
    return amount > most || amount < -most
      ? `CAST(${call.fail('argument')} AS INTERVAL)`
      : (part(name, sqlOf(call, 0)) ?? call.unsupported(`INTERVAL of ${name}`));
  }
  return call.bind(
    [sqlOf(call, 0)],
    (n) => `CASE WHEN ${n} > ${most} OR ${n} < -${most} THEN ${call.fail('argument')} ELSE ${part(name, n)} END`,
  );
}

function mostOf(name: string): bigint {
  if (MONTHS[name] !== undefined) return BigInt(MOST_OF_INTERVAL.months / MONTHS[name]);
  return DAYS[name] === undefined
    ? MOST_OF_INTERVAL.micros / BigInt(MICROS[name] ?? 1)
    : BigInt(Math.floor(MOST_OF_INTERVAL.days / DAYS[name]));
}

const UNITS = ['YEAR', 'MONTH', 'DAY', 'HOUR', 'MINUTE', 'SECOND'];

function makeInterval(call: Call): string {
  const sumOf = (scales: Readonly<Record<string, number>>): string => {
    const parts = UNITS.flatMap((unit, i) => {
      const amount = call.args[i]?.sql ?? call.named[unit]?.sql;
      return scales[unit] === undefined || amount === undefined ? [] : `CAST(${amount} AS HUGEINT) * ${scales[unit]}`;
    });
    return parts.length === 0 ? '0' : parts.join(' + ');
  };
  // A NULL among them comes before one that is out of range.
  return call.bind(
    [sumOf(MONTHS), sumOf(DAYS), sumOf(MICROS)],
    (m, d, u) => `CASE WHEN ${m} + ${d} + ${u} IS NOT NULL THEN ${intervalOf(call, m, d, u)} END`,
  );
}

/** The start of the bucket, counted from 1950 unless told from where. */
function bucket(origin: string): (call: Call) => string {
  return (call) =>
    call.bind([sqlOf(call, 0), wholeWidth(call), call.args[2]?.sql ?? origin], (t, width, from) => {
      const wrong = [`${width} <= to_days(0)`, ...mixedParts(call, width)].join(' OR ');
      const text = call.bind([bucketStart(call, width, t, from)], (b) =>
        inYears(call, call.type.kind === 'DATE' ? `CAST(${b} AS DATE)` : b),
      );
      return `CASE WHEN ${wrong} THEN ${call.fail('argument')} ELSE ${text} END`;
    });
}

/** Of a width that a DATE is put into the time of day does not count where it is negative. */
function wholeWidth(call: Call): string {
  const width = sqlOf(call, 1);
  if (call.type.kind !== 'DATE') return width;
  return call.bind([width], (w) => `(${w} - to_microseconds(least(lq_interval_micros(${w}), 0)))`);
}

/** Buckets of months begin on the day of their origin, or on a month's last where it has no such day; DuckDB's on the first. */
function bucketStart(call: Call, width: string, t: string, from: string): string {
  const byTime = `time_bucket(${width}, ${t}, ${from})`;
  if (call.args[2] === undefined || call.type.kind === 'TIMESTAMP' || hasNoMonths(arg(call, 1))) return byTime;
  const monthOf = (x: string): string => `(year(${x}) * 12 + month(${x}))`;
  const count = `CAST(floor((${monthOf(t)} - ${monthOf(from)}) / CAST(lq_interval_months(${width}) AS DOUBLE)) AS BIGINT)`;
  const start = (n: string): string => `(${from} + to_months(CAST(${n} * lq_interval_months(${width}) AS INTEGER)))`;
  const byMonth = call.bind(
    [count],
    (n) => `CASE WHEN ${start(n)} <= ${t} THEN ${start(n)} ELSE ${start(`(${n} - 1)`)} END`,
  );
  return `CASE WHEN lq_interval_months(${width}) = 0 THEN ${byTime} ELSE ${byMonth} END`;
}

/** A bucket is of months, of days or of microseconds: one of a DATE of no microseconds, one of an instant of no months. */
function mixedParts(call: Call, width: string): string[] {
  const [months, micros] = [`lq_interval_months(${width}) <> 0`, `lq_interval_micros(${width}) <> 0`];
  const days = `extract(day FROM ${width}) <> 0`;
  if (call.type.kind === 'TIMESTAMP') return [months, `(${days} AND ${micros})`];
  const monthsMixed = `(${months} AND (${days} OR ${micros}))`;
  return [monthsMixed, call.type.kind === 'DATE' ? micros : `(${days} AND ${micros})`];
}

/** 30 days to the month, 24 hours to the day; what is justified together gets one sign. */
function justify(call: Call, days: boolean, hours: boolean): string {
  const day = 86_400_000_000;
  return call.bind([arg(call, 0).sql], (i) => {
    const months = `(${days ? `lq_interval_months(${i})` : '0'})`;
    const micros = `(${hours ? `lq_interval_micros(${i})` : '0'})`;
    const all = `((${months} * 30 + extract(day FROM ${i})) * ${day} + ${micros})`;
    const wholeMonths = days ? `${all} // ${30 * day}` : `lq_interval_months(${i})`;
    const wholeDays = days ? `${all} // ${day} % 30` : `${all} // ${day}`;
    const rest = hours ? `${all} % ${day}` : `lq_interval_micros(${i})`;
    return call.bind([wholeMonths, wholeDays, rest], (m, d, u) => intervalOf(call, m, d, u));
  });
}

export const INTERVAL_FUNCTIONS = {
  $interval: raising(interval),
  DATE_BUCKET: nullFirst(raising(bucket("DATE '1950-01-01'"))),
  DATETIME_BUCKET: nullFirst(raising(bucket("TIMESTAMP '1950-01-01'"))),
  JUSTIFY_DAYS: raising((call) => justify(call, true, false)),
  JUSTIFY_HOURS: raising((call) => justify(call, false, true)),
  JUSTIFY_INTERVAL: raising((call) => justify(call, true, true)),
  MAKE_INTERVAL: nullFirst(raising(makeInterval)),
  TIMESTAMP_BUCKET: nullFirst(raising(bucket("TIMESTAMP '1950-01-01'"))),
} satisfies FunctionTable;
