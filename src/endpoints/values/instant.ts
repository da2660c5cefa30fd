/**
 * ISO 8601 dates and instants by the proleptic Gregorian calendar, in plain arithmetic: `Date` rolls over what does not
 * exist (30 February), knows no microseconds and reads forms of its own.
 */
import { DAY_SECONDS, daysOf, isDay } from '../../time/calendar';

const DATE = /^(\d{4})-(\d{2})-(\d{2})$/;
/**
 * Date, `T` or a blank, time, fraction of at most six digits, zone. A blank before the digits of a zone is the `+` that a
 * URL turned into one.
 */
const INSTANT =
  /^(\d{4}-\d{2}-\d{2})(?:[Tt ](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,6}))?)?([Zz]|[+\- ]\d{2}(?::?\d{2})?)?)?$/;

const MINUTE = 60;
/** Seconds from the epoch to 0001-01-01T00:00:00Z and to 10000-01-01T00:00:00Z. */
const FIRST_SECOND = daysOf(1, 1, 1) * DAY_SECONDS;
const END_SECOND = daysOf(10_000, 1, 1) * DAY_SECONDS;

/** `YYYY-MM-DD` of a day that exists, from year 1 to 9999; null for anything else. */
export function readDate(text: string): string | null {
  return dayOf(text) === null ? null : text;
}

/**
 * The instant that the text names, UTC where it names no zone, as `YYYY-MM-DDTHH:MM:SS.ffffffZ`; null for anything else.
 * 24:00 and second 60 are refused: BigQuery knows neither. In UTC it is within the years 1 to 9999, TIMESTAMP's range.
 */
export function readInstant(text: string): string | null {
  const match = INSTANT.exec(text);
  if (match === null) return null;
  const [, date = '', hour = '0', minute = '0', second = '0', fraction = '', zone = 'Z'] = match;
  const day = dayOf(date);
  const offset = zoneOffset(zone);
  if (day === null || offset === null || Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return null;
  const seconds = day * DAY_SECONDS + Number(hour) * 3600 + Number(minute) * MINUTE + Number(second) - offset;
  if (seconds < FIRST_SECOND || seconds >= END_SECOND) return null;
  return `${renderSeconds(seconds)}.${fraction.padEnd(6, '0')}Z`;
}

/** Seconds east of UTC. */
function zoneOffset(zone: string): number | null {
  if (zone === 'Z' || zone === 'z') return 0;
  const hours = Number(zone.slice(1, 3));
  const minutes = Number(zone.slice(3).replace(':', ''));
  if (hours > 23 || minutes > 59) return null;
  const seconds = hours * 3600 + minutes * MINUTE;
  return zone.startsWith('-') ? -seconds : seconds;
}

function dayOf(date: string): number | null {
  const match = DATE.exec(date);
  if (match === null) return null;
  const [year, month, day] = match.slice(1).map(Number) as [number, number, number];
  return isDay(year, month, day) ? daysOf(year, month, day) : null;
}

/** `YYYY-MM-DDTHH:MM:SS`; `Date` renders years 1 to 9999 exactly, only its reading is lax. */
function renderSeconds(seconds: number): string {
  return new Date(seconds * 1000).toISOString().slice(0, 19);
}
