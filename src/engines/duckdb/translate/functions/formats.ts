/** FORMAT_ and PARSE_ of dates and times, and FORMAT: by literal formats, taken apart when a query is translated. */
import { type Call, type FunctionTable, arg, sqlOf } from '../expressions/call';
import { timestampFormat } from '../expressions/time-format';
import { timestampParser } from '../expressions/time-parse';
import { printFormat } from '../expressions/format-string';
import { ofKnownZone, toCivil, toInstant } from '../expressions/time-zones';
import { timeZone } from '../../../../googlesql/literals/time-zone';
import { zoneArgument } from './dates';

function literalFormat(call: Call): string {
  const { constant } = arg(call, 0);
  return constant ?? call.unsupported(`${call.name} with a format that is no literal`);
}

function format(call: Call): string {
  const pattern = literalFormat(call);
  const value = arg(call, 1);
  const kind = value.type.kind;
  if (kind === 'TIMESTAMP') {
    const at = zoneArgument(call, 2);
    return call.bind([value.sql], (instant) =>
      at === null
        ? timestampFormat(call, pattern, { civil: instant, instant: instant, has: 'both' })
        : call.bind([toCivil(instant, at)], (civil) =>
            timestampFormat(call, pattern, { civil: civil, instant: instant, has: 'both' }),
          ),
    );
  }
  const civil =
    kind === 'DATE'
      ? `CAST(${value.sql} AS TIMESTAMP)`
      : kind === 'TIME'
        ? `(DATE '1970-01-01' + ${value.sql})`
        : value.sql;
  const has = kind === 'DATE' ? 'date' : kind === 'TIME' ? 'time' : 'both';
  return call.bind([civil], (x) => timestampFormat(call, pattern, { civil: x, instant: null, has }));
}

function parse(finish: (call: Call, civil: string) => string): (call: Call) => string {
  return (call) => {
    const parsed = timestampParser(call, literalFormat(call), sqlOf(call, 1));
    return finish(call, parsed);
  };
}

/** Civil time and offset to an instant: a zone in the text wins over the argument, which wins over UTC. */
function parseTimestamp(call: Call): string {
  const pattern = literalFormat(call);
  const at = zoneArgument(call, 2);
  const parsed = timestampParser(call, pattern, sqlOf(call, 1), (civil) =>
    toInstant((v, body) => call.bind(v, body), civil, at),
  );
  // An invalid zone is an error also where the text has one of its own, or an instant.
  const zone = call.args[2]?.constant ?? null;
  const isInvalid = zone !== null && timeZone(zone) === null;
  return isInvalid
    ? `CAST(CASE WHEN ${sqlOf(call, 1)} IS NOT NULL THEN ${call.fail('zone')} END AS TIMESTAMP)`
    : call.args[2] === undefined || zone !== null
      ? parsed
      : ofKnownZone(parsed, at);
}

export const FORMAT_FUNCTIONS: FunctionTable = {
  FORMAT: printFormat,
  FORMAT_DATE: { emit: format, raises: true },
  FORMAT_DATETIME: { emit: format, raises: true },
  FORMAT_TIME: format,
  FORMAT_TIMESTAMP: { emit: format, raises: true },
  PARSE_DATE: parse((_call, civil) => `CAST(${civil} AS DATE)`),
  PARSE_DATETIME: parse((_call, civil) => civil),
  PARSE_TIME: parse((_call, civil) => `CAST(${civil} AS TIME)`),
  PARSE_TIMESTAMP: parseTimestamp,
};
