import { DAY_SECONDS, daysOf, isDay, isInCalendar, SECOND } from '../time/calendar';
import type { Instant, Origin } from './rules';

/** A written moment, or why what was written is not one. */
export type Moment = (Instant & { readonly origin: Origin }) | { readonly fault: string };

const CIVIL =
  /^([0-9]{4})-([0-9]{2})-([0-9]{2})(?:T([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.([0-9]{1,6}))?(?:(Z)|([+-])([0-9]{2}):([0-9]{2}))?)?$/;
const UNIX = /^(?:[0-9]{10}|[0-9]{13}|[0-9]{16})$/;

/** Whether the text is spelt like a date or a datetime; the calendar is not asked. */
export function isDateSpelling(text: string): boolean {
  return CIVIL.test(text);
}

export function isMomentSpelling(text: string): boolean {
  return UNIX.test(text) || CIVIL.test(text);
}

/**
 * A date (its midnight), a datetime with or without zone (without: UTC), or Unix time in seconds, milliseconds or
 * microseconds, told apart by width, of which everything below the millisecond is cut off. null: not spelt like one.
 */
export function readMoment(text: string): Moment | null {
  if (UNIX.test(text)) {
    const milliseconds = BigInt(text.slice(0, 13).padEnd(13, '0'));
    return { micros: milliseconds * 1000n, origin: 'absolute' };
  }
  const civil = CIVIL.exec(text);
  if (civil === null) return null;
  const part = (i: number) => Number(civil[i] ?? '0');
  const [year, month, day, hour, minute, second] = [1, 2, 3, 4, 5, 6].map(part) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  if (!isDay(year, month, day) || hour >= 24 || minute >= 60 || second >= 60)
    return { fault: 'not a calendar date/time' };

  const sign = civil[9];
  const offset = part(10) * 60 + part(11);
  // -00:00 says "offset unknown" (RFC 3339, 4.3), which no filter can use.
  if (sign !== undefined && (part(10) >= 24 || part(11) >= 60 || (sign === '-' && offset === 0))) {
    return { fault: 'bad UTC offset' };
  }
  const seconds = daysOf(year, month, day) * DAY_SECONDS + hour * 3600 + minute * 60 + second;
  const shift = (sign === '-' ? 60 : -60) * offset;
  const micros = BigInt(seconds + shift) * SECOND + BigInt((civil[7] ?? '').padEnd(6, '0'));
  if (!isInCalendar(micros)) return { fault: 'outside the calendar (years 1 to 9999, UTC)' };
  const zoned = sign !== undefined || civil[8] !== undefined;
  return { micros, origin: zoned ? 'absolute' : civil[4] === undefined ? 'date' : 'local' };
}
