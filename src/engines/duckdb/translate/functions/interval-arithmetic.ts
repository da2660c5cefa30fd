/** INTERVAL times and by a number: months, days and microseconds each by themselves; what a division leaves goes to the next. */
import { MOST_OF_INTERVAL } from '../../../../googlesql/literals/interval';
import { type Call, arg } from '../expressions/call';

const DAYS_OF_MONTH = 30;
const MICROS_OF_DAY = 86_400_000_000;

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
