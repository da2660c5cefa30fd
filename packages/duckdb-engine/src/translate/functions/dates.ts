/** Dates and times. Instants are UTC, civil times have no zone; both are DuckDB's plain TIMESTAMP. */
import { QueryError, temporalValue, timeZone } from '@logquay/googlesql/types';
import { type Call, type FunctionTable, arg, zoned, nullFirst, raising, sqlOf } from '../expressions/call';
import { LIMITS, unlessOver } from '../expressions/makers';
import { timestampText, datetimeText, timeText } from '../expressions/casts';
import { instantOfCivilText, knownZone, toCivil, toInstant, zoneOf } from '../expressions/time-zones';

/** Microseconds of the parts that are always equally long. */
const MICROS: Readonly<Record<string, bigint>> = {
  MICROSECOND: 1n,
  MILLISECOND: 1_000n,
  SECOND: 1_000_000n,
  MINUTE: 60_000_000n,
  HOUR: 3_600_000_000n,
  DAY: 86_400_000_000n,
  WEEK: 604_800_000_000n,
};
const MONTHS: Readonly<Record<string, number>> = { MONTH: 1, QUARTER: 3, YEAR: 12 };

/** Days from the Monday of a week to the day that weeks start with. */
const WEEK_STARTS: Readonly<Record<string, number>> = {
  ISOWEEK: 0,
  WEEK_MONDAY: 0,
  WEEK_TUESDAY: 1,
  WEEK_WEDNESDAY: 2,
  WEEK_THURSDAY: 3,
  WEEK_FRIDAY: 4,
  WEEK_SATURDAY: 5,
  WEEK: 6,
  WEEK_SUNDAY: 6,
};

function partOf(call: Call): string {
  if (call.part === null) throw new Error(`${call.name} without a part`);
  return call.part;
}

/** The zone that an argument names; a literal that names none fails wherever the zone is used. */
export function zoneArgument(call: Call, i: number): string | null {
  const zone = call.args[i];
  if (zone === undefined) return null;
  if (zone.constant !== null && timeZone(zone.constant) === null) return call.fail('zone');
  return zoneOf(knownZone(call, zone), zone.expr);
}

/** Microseconds that lead out of the calendar from anywhere in it, and stay within DuckDB's own. */
const BEYOND_MICROS = 700_000_000_000_000_000n;

/** `n` times `factor` microseconds, computed here where `n` is a literal. */
function times(call: Call, i: number, factor: bigint): string {
  const { constant, sql } = arg(call, i);
  if (constant === null) return factor === 1n ? sql : `(${sql} * ${factor})`;
  const micros = BigInt(constant) * factor;
  const within = micros > BEYOND_MICROS ? BEYOND_MICROS : micros < -BEYOND_MICROS ? -BEYOND_MICROS : micros;
  return `CAST(${within} AS BIGINT)`;
}

/** More than from the first year to the last, and within DuckDB's own calendar from any of them. */
export const BEYOND_CALENDAR = { months: 200_000, days: 4_000_000 };

/** `most` or its negative where a number is beyond. */
function limited(call: Call, n: string, most: number): string {
  return call.bind(
    [n],
    (x) => `CASE WHEN ${x} > ${most} THEN ${most} WHEN ${x} < -${most} THEN -${most} ELSE ${x} END`,
  );
}

/** An INTERVAL of `sign` times argument `i` in the call's part. */
function duration(call: Call, i: number, sign: 1n | -1n): string {
  const part = partOf(call);
  if (MICROS[part] !== undefined) return `to_microseconds(${times(call, i, MICROS[part] * sign)})`;
  if (MONTHS[part] !== undefined)
    return `to_months(CAST(${limited(call, sqlOf(call, i), BEYOND_CALENDAR.months)} * ${BigInt(MONTHS[part]) * sign} AS INTEGER))`;
  return call.unsupported(`part ${part} in ${call.name}`);
}

/** `text`, unless it is outside of the years 1 to 9999. */
export function inYears(call: Call, text: string): string {
  const { kind } = call.type;
  if (kind !== 'DATE' && kind !== 'DATETIME' && kind !== 'TIMESTAMP') return text;
  return `lq_${kind === 'DATE' ? 'date_' : ''}in_years${call.safe ? '_or_null' : ''}(${text})`;
}

/** A TIME some units on, days left out: of the amount no more than a day counts. */
function aroundTheClock(call: Call, time: string, sign: 1n | -1n): string {
  const unit = MICROS[partOf(call)];
  if (unit === undefined) return call.unsupported(`part ${partOf(call)} in ${call.name}`);
  const amount = `to_microseconds(${sqlOf(call, 1)} % ${MICROS['DAY']! / unit} * ${unit})`;
  return `(${time} ${sign < 0n ? '-' : '+'} ${amount})`;
}

/** So many times `each` days, as DuckDB takes them. */
function days(call: Call, count: string, each = 1n): string {
  return `CAST(${limited(call, count, BEYOND_CALENDAR.days)}${each === 1n ? '' : ` * ${each}`} AS INTEGER)`;
}

function shifted(sign: 1n | -1n): { emit: (call: Call) => string; raises: true } {
  const emit = (call: Call): string => {
    const value = arg(call, 0);
    const part = partOf(call);
    if (value.type.kind === 'DATE' && call.type.kind === 'DATE') {
      if (part === 'DAY') return `(${value.sql} + ${days(call, sqlOf(call, 1), sign)})`;
      if (part === 'WEEK') return `(${value.sql} + ${days(call, sqlOf(call, 1), 7n * sign)})`;
      return `CAST(${value.sql} + ${duration(call, 1, sign)} AS DATE)`;
    }
    if (value.type.kind === 'TIME') return aroundTheClock(call, value.sql, sign);
    return `(${value.sql} + ${duration(call, 1, sign)})`;
  };
  return { emit: (call) => inYears(call, emit(call)), raises: true };
}

/** The civil time `x`, which may be a DATE, cut down to its part. */
function truncated(call: Call, x: string, part: string): string {
  const start = WEEK_STARTS[part];
  if (start !== undefined) {
    if (start === 0) return `date_trunc('week', ${x})`;
    // Weeks of DuckDB start on Monday: shift the start there and back.
    return `(date_trunc('week', ${x} + to_days(${7 - start})) - to_days(${7 - start}))`;
  }
  switch (part) {
    case 'MICROSECOND':
      return x;
    case 'ISOYEAR':
      return call.bind([x], (t) => `date_trunc('week', make_date(isoyear(${t}), 1, 4))`);
    case 'MILLISECOND':
    case 'SECOND':
    case 'MINUTE':
    case 'HOUR':
    case 'DAY':
    case 'MONTH':
    case 'QUARTER':
    case 'YEAR':
      return `date_trunc('${part.toLowerCase()}', ${x})`;
    default:
      return call.unsupported(`part ${part} in ${call.name}`);
  }
}

/** Weeks, ISO years and the days of a zone may begin before the year 1. */
function truncate(call: Call): string {
  const text = truncatedValue(call);
  const mayLeave = /^(?:ISO|WEEK)/.test(partOf(call)) || call.args[1] !== undefined;
  return mayLeave ? call.bind([text], (t) => inYears(call, t)) : text;
}

function truncatedValue(call: Call): string {
  const value = arg(call, 0);
  const part = partOf(call);
  switch (value.type.kind) {
    case 'DATE':
      return `CAST(${truncated(call, value.sql, part)} AS DATE)`;
    case 'TIME':
      return part === 'MICROSECOND'
        ? value.sql
        : `CAST(date_trunc('${part.toLowerCase()}', DATE '1970-01-01' + ${value.sql}) AS TIME)`;
    case 'TIMESTAMP': {
      const name = call.args[1]?.constant ?? null;
      if (name !== null && timeZone(name) === null)
        return `CAST(CASE WHEN ${value.sql} IS NOT NULL THEN ${call.fail('zone')} END AS TIMESTAMP)`;
      const zone = zoneArgument(call, 1);
      // Zones differ by whole minutes.
      if (zone === null) return truncated(call, value.sql, part);
      if (['MICROSECOND', 'MILLISECOND', 'SECOND', 'MINUTE'].includes(part)) {
        const text = truncated(call, value.sql, part);
        // A literal zone has been looked at.
        if (call.args[1]?.constant !== null) return text;
        return call.bind(
          [value.sql],
          (t) => `CASE WHEN ${toCivil(t, zone)} IS NOT NULL THEN ${truncated(call, t, part)} END`,
        );
      }
      if (part === 'HOUR') {
        // Whole hours of the zone's clock, counted back from the instant: the clock may show an hour twice.
        return call.bind([value.sql], (t) =>
          call.bind([toCivil(t, zone)], (civil) => `(${t} - (${civil} - date_trunc('hour', ${civil})))`),
        );
      }
      return toInstant(call.bind, truncated(call, toCivil(value.sql, zone), part), zone);
    }
    default:
      return truncated(call, value.sql, part);
  }
}

/** Whole parts between two instants, or boundaries of the part between two civil times. */
function difference(call: Call): string {
  const [a, b] = [arg(call, 0), arg(call, 1)];
  const part = partOf(call);
  if (a.type.kind === 'TIMESTAMP') {
    const unit = MICROS[part];
    if (unit === undefined) return call.unsupported(`part ${part} in ${call.name}`);
    const micros = `(epoch_us(${a.sql}) - epoch_us(${b.sql}))`;
    return unit === 1n ? micros : `(${micros} // ${unit})`;
  }
  if (WEEK_STARTS[part] !== undefined) {
    return `(date_diff('day', ${truncated(call, b.sql, part)}, ${truncated(call, a.sql, part)}) // 7)`;
  }
  if (part === 'ISOYEAR') return `(isoyear(${a.sql}) - isoyear(${b.sql}))`;
  return `date_diff('${part.toLowerCase()}', ${b.sql}, ${a.sql})`;
}

function extract(call: Call): string {
  const value = arg(call, 0);
  const part = partOf(call);
  const zone = value.type.kind === 'TIMESTAMP' ? zoneArgument(call, 1) : null;
  const x = toCivil(value.sql, zone);
  switch (part) {
    case 'DATE':
      return inYearsOfZone(call, `CAST(${x} AS DATE)`, zone);
    case 'TIME':
      return `CAST(${x} AS TIME)`;
    case 'DATETIME':
      return inYearsOfZone(call, x, zone);
    case 'MICROSECOND':
      return `(extract(microseconds FROM ${x}) % 1000000)`;
    case 'MILLISECOND':
      return `(extract(microseconds FROM ${x}) // 1000 % 1000)`;
    case 'DAYOFWEEK':
      return `(dayofweek(${x}) + 1)`;
    case 'ISOWEEK':
      return `week(${x})`;
    case 'DAYOFYEAR':
    case 'ISOYEAR':
    case 'SECOND':
    case 'MINUTE':
    case 'HOUR':
    case 'DAY':
    case 'MONTH':
    case 'QUARTER':
    case 'YEAR':
      return `${part.toLowerCase()}(${x})`;
    default: {
      const start = WEEK_STARTS[part];
      if (start === undefined) return call.unsupported(`EXTRACT of ${part}`);
      // Days of the year before the first start of a week are in week 0.
      return call.bind([x], (t) => `((dayofyear(${t}) + 6 - (isodow(${t}) + ${6 - start}) % 7) // 7)`);
    }
  }
}

/** The first of a part after `date`, less a day. */
function lastDay(call: Call): string {
  const part = call.part ?? 'MONTH';
  const start = truncated(call, sqlOf(call, 0), part);
  const length: Readonly<Record<string, string>> = {
    MONTH: 'to_months(1)',
    QUARTER: 'to_months(3)',
    YEAR: 'to_months(12)',
  };
  if (part === 'ISOYEAR') {
    return call.bind(
      [sqlOf(call, 0)],
      (d) => `CAST(date_trunc('week', make_date(isoyear(${d}) + 1, 1, 4)) - to_days(1) AS DATE)`,
    );
  }
  return `CAST(${start} + ${length[part] ?? 'to_days(7)'} - to_days(1) AS DATE)`;
}

function dateOfLiteral(text: string): string | null {
  return temporalValue('DATE', text) ?? temporalValue('TIMESTAMP', text);
}

function date(call: Call): string {
  const value = arg(call, 0);
  switch (value.type.kind) {
    case 'TIMESTAMP': {
      const zone = zoneArgument(call, 1);
      return inYearsOfZone(call, `CAST(${toCivil(value.sql, zone)} AS DATE)`, zone);
    }
    case 'INT64':
      return call.bind([`make_date(${call.args.map((a) => a.sql).join(', ')})`], (d) => inYears(call, d));
    case 'STRING':
      // A literal is one of TIMESTAMP, before anything runs.
      if (value.constant !== null && dateOfLiteral(value.constant) === null)
        throw new QueryError(
          'invalidQuery',
          `Could not cast literal "${value.constant}" to type TIMESTAMP.`,
          value.expr.span,
        );
      // A text that CAST would not take may be a TIMESTAMP.
      return orFail(call, value.sql, (x) => `coalesce(lq_date(${x}), CAST(lq_timestamp(${x}) AS DATE))`);
    case 'DATE':
      return value.sql;
    default:
      return `CAST(${value.sql} AS DATE)`;
  }
}

function datetime(call: Call): string {
  const value = arg(call, 0);
  switch (value.type.kind) {
    case 'TIMESTAMP': {
      const zone = zoneArgument(call, 1);
      return inYearsOfZone(call, toCivil(value.sql, zone), zone);
    }
    case 'INT64':
      return call.bind(
        call.args.map((a) => a.sql),
        (year, month, day, hour, ...rest) => {
          const parts = [year, month, day, withinDay(call, hour, [year, month, day, ...rest]), ...rest].join(', ');
          return call.bind([`make_timestamp(${parts})`], (t) => inYears(call, t));
        },
      );
    case 'STRING':
      return orFail(call, value.sql, (x) => `lq_datetime(${x})`);
    case 'DATE':
      return call.args.length > 1 ? `(${value.sql} + ${sqlOf(call, 1)})` : `CAST(${value.sql} AS TIMESTAMP)`;
    default:
      return value.sql;
  }
}

/** DuckDB takes the hour 24. Where another element is NULL, no hour is wrong. */
function withinDay(call: Call, hour: string, others: readonly string[]): string {
  const wrong = [`${hour} > 23`, ...others.map((other) => `${other} IS NOT NULL`)].join(' AND ');
  return `CASE WHEN ${wrong} THEN ${call.fail('date')} ELSE ${hour} END`;
}

function time(call: Call): string {
  const value = arg(call, 0);
  switch (value.type.kind) {
    case 'INT64':
      return call.bind(
        call.args.map((a) => a.sql),
        // The 60th second of the last minute is midnight, of which DuckDB makes the hour 24.
        (hour, ...rest) =>
          `CAST(DATE '1970-01-01' + make_time(${[withinDay(call, hour, rest), ...rest].join(', ')}) AS TIME)`,
      );
    case 'TIMESTAMP':
      return `CAST(${toCivil(value.sql, zoneArgument(call, 1))} AS TIME)`;
    case 'TIME':
      return value.sql;
    default:
      return `CAST(${value.sql} AS TIME)`;
  }
}

function timestamp(call: Call): string {
  const value = arg(call, 0);
  const zone = zoneArgument(call, 1);
  switch (value.type.kind) {
    case 'STRING':
      if (call.args[1] === undefined && !call.safe) return call.bind([value.sql], (x) => `lq_timestamp_or_fail(${x})`);
      return orFail(
        call,
        value.sql,
        (x) => (call.args[1] === undefined ? `lq_timestamp(${x})` : instantOfCivilText(call.bind, x, zone)),
        call.args[1]?.constant === null ? zone : null,
      );
    case 'DATE':
      return inYearsOfZone(call, toInstant(call.bind, `CAST(${value.sql} AS TIMESTAMP)`, zone), zone);
    case 'DATETIME':
      return inYearsOfZone(call, toInstant(call.bind, value.sql, zone), zone);
    default:
      return value.sql;
  }
}

/** Between UTC and a zone's clock the first and the last hours of the calendar lead out of it. */
function inYearsOfZone(call: Call, text: string, zone: string | null): string {
  return zone === null ? text : call.bind([text], (t) => inYears(call, t));
}

/** @param more what makes it NULL besides the value */
function orFail(call: Call, value: string, tried: (x: string) => string, more: string | null = null): string {
  if (call.safe) return tried(value);
  return call.bind(
    [value],
    (x) =>
      `CASE WHEN ${x} IS NULL${more === null ? '' : ` OR ${more} IS NULL`} THEN NULL ELSE coalesce(${tried(x)}, ${call.fail('date')}) END`,
  );
}

function text(call: Call): string {
  const value = arg(call, 0);
  switch (value.type.kind) {
    case 'TIMESTAMP':
      return timestampText((v, body) => call.bind(v, body), value.sql, zoneArgument(call, 1));
    case 'DATETIME':
      return call.bind([value.sql], (x) => datetimeText(x, ' '));
    case 'TIME':
      return call.bind([value.sql], (x) => timeText(x));
    case 'JSON':
      return call.bind([value.sql], (x) => {
        const failing = call.fail('json');
        return `CASE WHEN ${x} IS NULL THEN NULL WHEN json_type(${x}) = 'VARCHAR' THEN json_extract_string(${x}, '$') ELSE ${failing} END`;
      });
    default:
      return `CAST(${value.sql} AS VARCHAR)`;
  }
}

/** Rounded down, before 1970 too. */
function unix(factor: 1_000n | 1_000_000n): (call: Call) => string {
  const unit = factor === 1_000n ? 'millisecond' : 'second';
  return (call) => `(epoch_us(date_trunc('${unit}', ${sqlOf(call, 0)})) // ${factor})`;
}

const FIRST_MICROS = -62_135_596_800_000_000n;
const LAST_MICROS = 253_402_300_799_999_999n;

/** Counted since 1970 in units of so many microseconds. TRY does not catch what DuckDB says of a count that is too large. */
function instantOf(unit: bigint): (call: Call) => string {
  return (call) => {
    const [first, last] = [FIRST_MICROS / unit, LAST_MICROS / unit];
    const { constant } = arg(call, 0);
    // A literal folds, so that a bound reaches the zone maps.
    if (constant !== null && BigInt(constant) >= first && BigInt(constant) <= last)
      return `make_timestamp(${times(call, 0, unit)})`;
    return call.bind([sqlOf(call, 0)], (n) => {
      const inside = `${n} BETWEEN ${first} AND ${last}`;
      return `CASE WHEN ${inside} THEN make_timestamp(${n} * ${unit}) WHEN ${n} IS NOT NULL THEN ${call.fail('date')} END`;
    });
  };
}

/** Microseconds from the first instant of the calendar to behind the last. */
const LONGEST_STEP = LAST_MICROS - FIRST_MICROS + 1n;

function timestampArray(call: Call): string {
  const unit = MICROS[partOf(call)];
  if (unit === undefined) return call.unsupported(`part ${partOf(call)} in ${call.name}`);
  // A step that is longer than the calendar is as good as one of its length.
  const count = sqlOf(call, 2);
  const step =
    arg(call, 2).constant === null
      ? `CAST(greatest(least(CAST(${count} AS HUGEINT) * ${unit}, ${LONGEST_STEP}), -${LONGEST_STEP}) AS BIGINT)`
      : times(call, 2, unit);
  return call.bind([sqlOf(call, 0), sqlOf(call, 1), count, step], (a, b, n, every) => {
    const over = `(epoch_us(${b}) - epoch_us(${a})) / ${every} >= ${LIMITS.elements}`;
    // Of integers: a series of timestamps takes four times as long.
    const series = `generate_series(epoch_us(${a}), epoch_us(CASE WHEN ${over} THEN ${a} ELSE ${b} END), ${every})`;
    const instants = `list_transform(${series}, lambda e: make_timestamp(e))`;
    return `CASE WHEN ${a} IS NULL OR ${b} IS NULL OR ${n} IS NULL THEN NULL WHEN ${n} = 0 THEN ${call.fail('argument')} ELSE ${unlessOver(call, over, instants)} END`;
  });
}

/** Each day is reckoned from the one before: January 31 is followed by February 28 and March 28. */
function dateArray(call: Call): string {
  const step = call.args[2];
  const interval =
    step === undefined
      ? 'to_days(1)'
      : call.part === null
        ? `to_days(CAST(${step.sql} AS INTEGER))`
        : dayDuration(call);
  return call.bind(
    [`CAST(${sqlOf(call, 0)} AS TIMESTAMP)`, `CAST(${sqlOf(call, 1)} AS TIMESTAMP)`, interval, step?.sql ?? '1'],
    (a, b, every, n) => {
      const days = `date_diff('day', ${a}, ${b}) / (CAST(${n} AS DOUBLE) * ${FEWEST_DAYS[call.part ?? 'DAY'] ?? 1})`;
      const over = `${days} >= ${LIMITS.elements}`;
      const series = `generate_series(${a}, CASE WHEN ${over} THEN ${a} ELSE ${b} END, ${every})`;
      const dates = `list_transform(${series}, lambda d: CAST(d AS DATE))`;
      return `CASE WHEN ${a} IS NULL OR ${b} IS NULL THEN NULL WHEN ${n} = 0 THEN ${call.fail('argument')} ELSE ${unlessOver(call, over, dates)} END`;
    },
  );
}

const FEWEST_DAYS: Readonly<Record<string, number>> = { WEEK: 7, MONTH: 28, QUARTER: 90, YEAR: 365 };

function dayDuration(call: Call): string {
  const part = partOf(call);
  if (part === 'DAY' || part === 'WEEK') return `to_days(${days(call, sqlOf(call, 2), part === 'WEEK' ? 7n : 1n)})`;
  return duration(call, 2, 1n);
}

export const DATE_FUNCTIONS = {
  $extract: raising(extract),
  CURRENT_DATE: raising((call) => `CAST(${toCivil(call.now(), zoneArgument(call, 0))} AS DATE)`),
  CURRENT_DATETIME: raising((call) => toCivil(call.now(), zoneArgument(call, 0))),
  CURRENT_TIME: raising((call) => `CAST(${toCivil(call.now(), zoneArgument(call, 0))} AS TIME)`),
  CURRENT_TIMESTAMP: (call) => call.now(),
  DATE: zoned(raising(date)),
  DATETIME: zoned(raising(datetime)),
  TIME: zoned(raising(time)),
  TIMESTAMP: zoned(raising(timestamp)),
  STRING: zoned(raising(text)),
  DATE_ADD: nullFirst(shifted(1n)),
  DATE_SUB: nullFirst(shifted(-1n)),
  DATETIME_ADD: nullFirst(shifted(1n)),
  DATETIME_SUB: nullFirst(shifted(-1n)),
  TIMESTAMP_ADD: nullFirst(shifted(1n)),
  TIMESTAMP_SUB: nullFirst(shifted(-1n)),
  TIME_ADD: nullFirst(shifted(1n)),
  TIME_SUB: nullFirst(shifted(-1n)),
  DATE_DIFF: difference,
  DATETIME_DIFF: difference,
  TIMESTAMP_DIFF: difference,
  TIME_DIFF: difference,
  DATE_TRUNC: zoned(raising(truncate)),
  DATETIME_TRUNC: zoned(raising(truncate)),
  TIMESTAMP_TRUNC: zoned(raising(truncate)),
  TIME_TRUNC: truncate,
  LAST_DAY: raising((call) => call.bind([lastDay(call)], (d) => inYears(call, d))),
  DATE_FROM_UNIX_DATE: raising((call) => inYears(call, `(DATE '1970-01-01' + ${days(call, sqlOf(call, 0))})`)),
  UNIX_DATE: (call) => `date_diff('day', DATE '1970-01-01', ${sqlOf(call, 0)})`,
  UNIX_MICROS: (call) => `epoch_us(${sqlOf(call, 0)})`,
  UNIX_MILLIS: unix(1_000n),
  UNIX_SECONDS: unix(1_000_000n),
  TIMESTAMP_MICROS: instantOf(1n),
  TIMESTAMP_MILLIS: instantOf(1_000n),
  TIMESTAMP_SECONDS: instantOf(1_000_000n),
  GENERATE_DATE_ARRAY: nullFirst(dateArray),
  GENERATE_TIMESTAMP_ARRAY: nullFirst(timestampArray),
} satisfies FunctionTable;
