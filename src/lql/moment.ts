import { readInstant } from '../time/instant';
import type { Instant, Origin } from './rules';

/** A written moment, or why what was written is not one. */
export type Moment = (Instant & { readonly origin: Origin }) | { readonly fault: string };

const CIVIL =
  /^[0-9]{4}-[0-9]{2}-[0-9]{2}(?:T([0-9]{2}:[0-9]{2}:[0-9]{2})(?:\.[0-9]{1,6})?(Z|[+-][0-9]{2}:[0-9]{2})?)?$/;
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
  const [spelt, clock, zone] = CIVIL.exec(text) ?? [];
  if (spelt === undefined) return null;
  const micros = readInstant(text);
  if (micros === 'spelling' || micros === 'time') return { fault: 'not a calendar date/time' };
  // -00:00 says "offset unknown" (RFC 3339, 4.3), which no filter can use.
  if (micros === 'zone' || zone === '-00:00') return { fault: 'bad UTC offset' };
  if (micros === 'range') return { fault: 'outside the calendar (years 1 to 9999, UTC)' };
  return { micros, origin: zone !== undefined ? 'absolute' : clock === undefined ? 'date' : 'local' };
}
