/** FORMAT_ and PARSE_ of dates and times, and FORMAT: literal formats are taken apart when a query is translated. */
import { type Argument, type Call, type FunctionTable, arg, noted, zoned, nullFirst, sqlOf } from '../expressions/call';
import {
  type FormattedTime,
  oddElement,
  refuseLongFormat,
  type TimeKind,
  timestampFormat,
} from '../expressions/time-format';
import { timeByPattern, timePattern } from '../expressions/time-parse';

import { duckType } from '../../sql';
import { printFormat } from '../expressions/format-string';
import { ofKnownZone, toCivil, toInstant } from '../expressions/time-zones';
import { timeZone } from '@logquay/googlesql/types';
import { zoneArgument } from './dates';

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

/** Parts of times, by name. */
function formatted(call: Call, { civil, instant }: Pick<FormattedTime, 'civil' | 'instant'>): string {
  const kind = kindOf(arg(call, 1));
  const has = kind === 'DATE' ? 'date' : kind === 'TIME' ? 'time' : 'both';
  const format = literalFormat(call);
  if (format === null) return 'CAST(NULL AS VARCHAR)';
  const odd = oddElement(format);
  if (odd !== null) return call.unsupported(`${call.name} with ${JSON.stringify(odd)}`);
  return timestampFormat(format, { civil, instant, has });
}

/** null: NULL. */
function literalFormat(call: Call): string | null {
  const { constant, expr } = arg(call, 0);
  if (constant === null && expr.kind !== 'literal')
    return call.unsupported(`${call.name} with a format that is no literal`);
  if (constant !== null) refuseLongFormat(call, constant);
  return constant;
}

const TIME_KINDS: readonly TimeKind[] = ['DATE', 'TIME', 'DATETIME', 'TIMESTAMP'];

function kindOf({ type: { kind } }: Pick<Argument, 'type'>): TimeKind {
  const found = TIME_KINDS.find((known) => known === kind);
  if (found === undefined) throw new Error(`${kind} is no date or time`);
  return found;
}

/** What a text holds. */
function parsed(call: Call, ofZone: (civil: string) => string): string {
  const format = literalFormat(call);
  if (format === null) return `CAST(NULL AS ${duckType(call.type)})`;
  const pattern = timePattern(format, kindOf(call));
  if (pattern === null) return call.unsupported(`${call.name} with ${JSON.stringify(format)}`);
  return call.bind([sqlOf(call, 1)], (text) => {
    const bind: Call['bind'] = (values, body) => call.bind(values, body);
    const found = pattern === 'none' ? 'NULL' : timeByPattern(bind, pattern, text, ofZone);
    const value = call.safe
      ? found
      : `CASE WHEN ${text} IS NOT NULL THEN coalesce(${found}, ${call.fail('parse')}) END`;
    return `CAST(${value} AS ${duckType(call.type)})`;
  });
}

const parse = (call: Call): string => parsed(call, (civil) => civil);

/** An offset in the text wins over the argument, which wins over UTC. */
function parseTimestamp(call: Call): string {
  const at = zoneArgument(call, 2);
  const instant = parsed(call, (civil) => toInstant((values, body) => call.bind(values, body), civil, at));
  // An invalid zone is an error also where the text has one of its own, or an instant.
  const zone = call.args[2]?.constant ?? null;
  const isInvalid = zone !== null && timeZone(zone) === null;
  return isInvalid
    ? `CAST(CASE WHEN ${sqlOf(call, 1)} IS NOT NULL THEN ${call.fail('zone')} END AS TIMESTAMP)`
    : call.args[2] === undefined || zone !== null
      ? instant
      : ofKnownZone(instant, at);
}

const PLAIN_FORMAT = 'a literal format without widths and flags';

export const FORMAT_FUNCTIONS = {
  FORMAT: {
    emit: printFormat,
    notOf: 'BIGNUMERIC',
    note: "a literal pattern; no `*`, `'`, `#`, `%p`; `%t` and `%T` alone of NUMERIC; not of BYTES",
  },
  FORMAT_DATE: noted(PLAIN_FORMAT, nullFirst(format)),
  FORMAT_DATETIME: noted(PLAIN_FORMAT, nullFirst(format)),
  FORMAT_TIME: noted(PLAIN_FORMAT, format),
  FORMAT_TIMESTAMP: noted(PLAIN_FORMAT, zoned(format)),
  PARSE_DATE: noted('a literal format of `%Y %y %m %b %B %d %e %j %a %A %F %D %x`', parse),
  PARSE_DATETIME: noted('a literal format of those of PARSE_DATE and PARSE_TIME, `%c`, `%s`', parse),
  PARSE_TIME: noted('a literal format of `%H %k %I %l %p %P %M %S %E*S %E1S` to `%E6S`, `%R %T %X %r`', parse),
  PARSE_TIMESTAMP: noted('a literal format of those of PARSE_DATETIME, `%z`, `%Ez`; no `%Z`', zoned(parseTimestamp)),
} satisfies FunctionTable;
