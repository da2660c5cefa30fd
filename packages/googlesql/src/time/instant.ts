/**
 * ISO 8601 dates and instants in plain arithmetic: `Date` rolls over what does not exist (30 February), knows no microseconds and
 * reads forms of its own.
 */
import { DAY_SECONDS, daysOf, isDay, isInCalendar, partsOf, SECOND } from './calendar';

/**
 * All that is read: a day; `T` or a blank and a time to the minute, the second or a fraction of it; a zone. A blank before the digits of
 * a zone is the `+` that a URL turned into one. Whoever accepts less looks at the spelling first.
 */
const ISO =
  /^(\d{4})-(\d\d)-(\d\d)(?:[Tt ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,12}))?)?(?: ?([Zz]|UTC)|([+\- ])(\d\d)(?::?(\d\d))?)?)?$/;

type Parts = [year: number, month: number, day: number, hour: number, minute: number, second: number];

/** What is wrong with a text: how it is spelt, its day or time, its zone, or that the instant is outside of the years 1 to 9999 in UTC. */
export type InstantFault = 'spelling' | 'time' | 'zone' | 'range';

/** Microseconds since the epoch, UTC where the text names no zone; digits below the microsecond are cut off. 24:00 and second 60 are no times. */
export function readInstant(text: string): bigint | InstantFault {
  const match = ISO.exec(text);
  if (match === null) return 'spelling';
  const [year, month, day, hour, minute, second] = match
    .slice(1, 7)
    .map((digits?: string) => Number(digits ?? '0')) as Parts;
  if (!isDay(year, month, day) || hour > 23 || minute > 59 || second > 59) return 'time';
  const [sign, zoneHours = '0', zoneMinutes = '0'] = match.slice(9);
  if (Number(zoneHours) > 23 || Number(zoneMinutes) > 59) return 'zone';
  const offset = (sign === '-' ? -1 : 1) * (Number(zoneHours) * 60 + Number(zoneMinutes));
  const seconds = daysOf(year, month, day) * DAY_SECONDS + hour * 3600 + (minute - offset) * 60 + second;
  const micros = BigInt(seconds) * SECOND + BigInt((match[7] ?? '').slice(0, 6).padEnd(6, '0'));
  return isInCalendar(micros) ? micros : 'range';
}

/** `YYYY-MM-DDTHH:MM:SS.ffffffZ`, always with six digits of a fraction. */
export function instantText(micros: bigint): string {
  const { date, clock, fraction } = partsOf(micros);
  return `${date}T${clock}${fraction || '.000000'}Z`;
}
