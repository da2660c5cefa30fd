/** What a text holds that a regular expression has taken apart: the arithmetic over what its groups catch. */
import type { Call } from './call';
import { quoteText } from '../../sql';
import type { TimePattern } from './time-pattern';

/**
 * The civil time that `text` holds by the pattern, or the instant, by `toInstant`, where no offset is in the text; NULL
 * where it does not hold one.
 */
export function timeByPattern(
  bind: Call['bind'],
  { pattern, fields }: TimePattern,
  text: string,
  toInstant: (civil: string) => string,
): string {
  const has = (field: string): boolean => fields.includes(field);
  const caught = `regexp_extract(${text}, ${quoteText(pattern)}, [${['whole', ...fields].map(quoteText).join(', ')}])`;
  return bind([caught], (m) => {
    const field = (name: string): string => `${m}.${name}`;
    const number = (name: string): string => `CAST(${field(name)} AS INTEGER)`;
    const value = bind([parsedValue(has, field, number, toInstant)], (t) => `lq_in_years_or_null(${t})`);
    return `CASE WHEN ${field('whole')} <> '' THEN ${value} END`;
  });
}

function parsedValue(
  has: (field: string) => boolean,
  field: (name: string) => string,
  number: (name: string) => string,
  toInstant: (civil: string) => string,
): string {
  if (has('epoch')) return `make_timestamp(CAST(${field('epoch')} AS BIGINT) * 1000000)`;
  const year = has('year')
    ? field('year')
    : has('short_year')
      ? `(${number('short_year')} + CASE WHEN ${number('short_year')} < 69 THEN 2000 ELSE 1900 END)`
      : '1970';
  const month = has('month')
    ? field('month')
    : has('month_name')
      ? `(strpos('janfebmaraprmayjunjulaugsepoctnovdec', lower(left(${field('month_name')}, 3))) // 3 + 1)`
      : '1';
  const day = has('day') ? field('day') : '1';
  const date = has('day_of_year')
    ? `list_filter([TRY_CAST(concat(lpad(CAST(${year} AS VARCHAR), 4, '0'), '-01-01') AS DATE) + (${number('day_of_year')} - 1)], lambda d: year(d) = CAST(${year} AS INTEGER))[1]`
    : `TRY_CAST(concat(lpad(CAST(${year} AS VARCHAR), 4, '0'), '-', ${month}, '-', ${day}) AS DATE)`;
  const civil = hasTime(has) ? `(${date} + ${timeOfDay(has, field, number)})` : `CAST(${date} AS TIMESTAMP)`;
  if (has('offset')) {
    return `(${civil} - CASE WHEN lower(${field('offset')}) = 'z' THEN to_minutes(0) ELSE lq_offset(${field('offset')}) END)`;
  }
  return toInstant(civil);
}

function hasTime(has: (field: string) => boolean): boolean {
  return ['hour', 'half_day_hour', 'minute', 'second'].some(has);
}

function timeOfDay(
  has: (field: string) => boolean,
  field: (name: string) => string,
  number: (name: string) => string,
): string {
  const afternoon = has('half_day') ? `CASE WHEN lower(${field('half_day')}) = 'pm' THEN 12 ELSE 0 END` : '0';
  const hour = has('half_day_hour')
    ? `CASE WHEN ${number('half_day_hour')} BETWEEN 1 AND 12 THEN ${number('half_day_hour')} % 12 + ${afternoon} ELSE 99 END`
    : has('hour')
      ? number('hour')
      : '0';
  const minute = has('minute') ? field('minute') : '0';
  // Two digits, a point and six more: what is behind them does not count.
  const second = has('second') ? `left(${field('second')}, 9)` : '0';
  return `(CASE WHEN ${hour} < 24 THEN to_hours(CAST(${hour} AS BIGINT)) + to_minutes(CAST(${minute} AS BIGINT)) + to_microseconds(CAST(CAST(${second} AS DECIMAL(9, 6)) * 1000000 AS BIGINT)) END)`;
}
