/** SUM and AVG of INTERVAL: months, days and microseconds each by themselves. */
import { fail } from '../../sql';
import type { Bind, Call } from '../expressions/call';
import type { AggregateRow, Parts } from './aggregate-functions';
import { intervalOf, quotientOfParts } from './interval-arithmetic';
import { ONE_EACH, withSumsOfParts } from './sums-of-parts';

const PARTS = [
  (i: string): string => `CAST(lq_interval_months(${i}) AS HUGEINT)`,
  (i: string): string => `CAST(extract(day FROM ${i}) AS HUGEINT)`,
  (i: string): string => `CAST(lq_interval_micros(${i}) AS HUGEINT)`,
] as const;

function failing({ call }: Parts): Pick<Call, 'fail'> {
  return { fail: (failure) => (call.safe ? 'NULL' : fail(failure, call.span)) };
}

export const sumOfIntervals: AggregateRow = (p) =>
  withSumsOfParts(p, PARTS, ([months = '', days = '', micros = '']) => intervalOf(failing(p), months, days, micros));

export const averageOfIntervals: AggregateRow = (p) => {
  const bind: Bind = (values, body) => p.ctx.bind(values, body);
  return withSumsOfParts(p, [...PARTS, ONE_EACH], ([months = '', days = '', micros = '', count = '']) => {
    const quotient = quotientOfParts({ ...failing(p), bind }, [months, days, micros], count);
    return `CASE WHEN ${count} > 0 THEN ${quotient} END`;
  });
};
