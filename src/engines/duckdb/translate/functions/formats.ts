/** FORMAT_ and PARSE_ of dates and times, and FORMAT: plain literal formats are taken apart when a query is translated. */
import { type Argument, type Call, type FunctionTable, arg, sqlOf } from '../expressions/call';
import { type FormattedTime, isPlainFormat, refuseLongFormat, timestampFormat } from '../expressions/time-format';
import { timeByPattern } from '../expressions/time-parse';
import { plainPattern } from '../expressions/time-pattern';
import { TIME_KINDS, type TimeKind } from '../../scalar-functions/time-elements';
import { printFormat } from '../expressions/format-string';
import { ofKnownZone, toCivil, toInstant } from '../expressions/time-zones';
import { timeZone } from '../../../../googlesql/literals/time-zone';
import { zoneArgument } from './dates';
import { ownFunction } from './own-functions';

function format(call: Call): string {
  const value = arg(call, 1);
  const kind = value.type.kind;
  if (kind !== 'TIMESTAMP')
    return call.bind([civilOf(value.sql, kind)], (civil) => formatted(call, { civil, instant: null }));
  const at = zoneArgument(call, 2);
  return call.bind([value.sql], (instant) =>
    at === null
      ? formatted(call, { civil: instant, instant })
      : call.bind([toCivil(instant, at)], (clock) =>
          call.bind([shownBy(clock, instant)], (civil) => formatted(call, { civil, instant })),
        ),
  );
}

/** Offsets of long ago have seconds, which neither the offset nor the time shows. */
function shownBy(clock: string, instant: string): string {
  return `(${instant} + to_minutes((epoch_us(${clock}) - epoch_us(${instant})) // 60000000))`;
}

function civilOf(sql: string, kind: string): string {
  return kind === 'DATE' ? `CAST(${sql} AS TIMESTAMP)` : kind === 'TIME' ? `(DATE '1970-01-01' + ${sql})` : sql;
}

/** Parts of times, by name, in SQL where the format is a plain literal, else by our own function. */
function formatted(call: Call, { civil, instant }: Pick<FormattedTime, 'civil' | 'instant'>): string {
  const { constant, sql } = arg(call, 0);
  const kind = kindOf(arg(call, 1));
  const has = kind === 'DATE' ? 'date' : kind === 'TIME' ? 'time' : 'both';
  if (constant !== null) refuseLongFormat(call, constant);
  if (constant !== null && isPlainFormat(constant)) return timestampFormat(constant, { civil, instant, has });
  const given = [
    { sql, sized: 'text' as const },
    { sql: `epoch_us(${civil})` },
    { sql: `epoch_us(${instant ?? civil})` },
    { sql: String(TIME_KINDS.indexOf(kind)) },
  ];
  return `substr(${ownFunction(call, 'lq_format_time', given, { text: true, empty: 'argument' })}, 2)`;
}

function kindOf({ type: { kind } }: Pick<Argument, 'type'>): TimeKind {
  const found = TIME_KINDS.find((known) => known === kind);
  if (found === undefined) throw new Error(`${kind} is no date or time`);
  return found;
}

/** The text that our own function makes of what it reads: microseconds since 1970, and a zone of the text's own. */
function read(call: Call): string {
  const given = [
    { sql: sqlOf(call, 0), sized: 'text' as const },
    { sql: sqlOf(call, 1), sized: 'text' as const },
    { sql: String(TIME_KINDS.indexOf(kindOf(call))) },
  ];
  return ownFunction(call, 'lq_parse_time', given, { text: true, empty: 'parse' });
}

/** A time in the years of GoogleSQL. */
function inYears(call: Call, time: string): string {
  return call.bind([time], (t) => {
    const known = `lq_in_years_or_null(${t})`;
    return call.safe ? known : `CASE WHEN ${t} IS NULL THEN NULL ELSE coalesce(${known}, ${call.fail('parse')}) END`;
  });
}

const microsOf = (text: string): string => `make_timestamp(CAST(split_part(${text}, ' ', 1) AS BIGINT))`;

/**
 * What a text holds. Texts that a plain literal format reads in one way only SQL takes apart, the others our own function.
 *
 * @param slowly the time that our own function finds
 */
function parsed(call: Call, slowly: string, ofZone: (civil: string) => string): string {
  const { constant } = arg(call, 0);
  if (constant !== null) refuseLongFormat(call, constant);
  const pattern = constant === null ? null : plainPattern(constant, kindOf(call));
  const found = inYears(call, slowly);
  if (pattern === null) return found;
  const quickly = timeByPattern((values, body) => call.bind(values, body), pattern, sqlOf(call, 1), ofZone);
  return `coalesce(${quickly}, ${found})`;
}

function parse(finish: (civil: string) => string): (call: Call) => string {
  return (call) => finish(parsed(call, call.bind([read(call)], microsOf), (civil) => civil));
}

/** Civil time and offset to an instant: a zone in the text wins over the argument, which wins over UTC. */
function parseTimestamp(call: Call): string {
  const at = zoneArgument(call, 2);
  const ofZone = (civil: string, zone: string | null): string =>
    toInstant((v, body) => call.bind(v, body), civil, zone);
  const slowly = call.bind([read(call)], (text) =>
    call.bind([microsOf(text), `split_part(${text}, ' ', 2)`], (civil, zone) => {
      const named = call.bind([`CASE WHEN ${zone} IN ('', '=') THEN 'UTC' ELSE ${zone} END`], (z) => ofZone(civil, z));
      return `CASE ${zone} WHEN '=' THEN ${civil} WHEN '' THEN ${ofZone(civil, at)} ELSE ${named} END`;
    }),
  );
  const instant = parsed(call, slowly, (civil) => ofZone(civil, at));
  // An invalid zone is an error also where the text has one of its own, or an instant.
  const zone = call.args[2]?.constant ?? null;
  const isInvalid = zone !== null && timeZone(zone) === null;
  return isInvalid
    ? `CAST(CASE WHEN ${sqlOf(call, 1)} IS NOT NULL THEN ${call.fail('zone')} END AS TIMESTAMP)`
    : call.args[2] === undefined || zone !== null
      ? instant
      : ofKnownZone(instant, at);
}

export const FORMAT_FUNCTIONS: FunctionTable = {
  FORMAT: printFormat,
  FORMAT_DATE: format,
  FORMAT_DATETIME: format,
  FORMAT_TIME: format,
  FORMAT_TIMESTAMP: format,
  PARSE_DATE: parse((civil) => `CAST(${civil} AS DATE)`),
  PARSE_DATETIME: parse((civil) => civil),
  PARSE_TIME: parse((civil) => `CAST(${civil} AS TIME)`),
  PARSE_TIMESTAMP: parseTimestamp,
};
