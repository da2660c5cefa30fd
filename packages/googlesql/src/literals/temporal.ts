/** Values of the four types of dates and times, from the texts of their literals. */
import { civilMicros, timestampParts, datetimeText, dateText, timeText } from './civil';
import { timeZone, toUtc } from './time-zone';
import type { SqlType, RangeElement } from '../types';

/** The first and the last instant of TIMESTAMP, in microseconds since the epoch. */
export const FIRST_INSTANT = -62_135_596_800_000_000n;
export const LAST_INSTANT = 253_402_300_799_999_999n;

/**
 * Microseconds since the epoch, or null where the text is not a timestamp. After the time there may be `Z`, an offset
 * (`+05`, `-5:30`, `+0530`), ` UTC` with or without an offset, or a space and a zone's name. A date alone takes a
 * space and an offset, nothing else.
 */
export function timestampMicros(text: string): bigint | null {
  const parts = timestampParts(text);
  if (parts === null) return null;
  const offsetAt = zoneOf(parts.zone, parts.hasTime);
  if (offsetAt === null) return null;
  const micros = toUtc(civilMicros(parts.civil), offsetAt);
  return micros < FIRST_INSTANT || micros > LAST_INSTANT ? null : micros;
}

function zoneOf(text: string, hasTime: boolean): ((utc: bigint) => bigint) | null {
  if (text === '') return UTC;
  if (!hasTime) return /^[ Tt][+-]/.test(text) ? timeZone(text.slice(1)) : null;
  const rest = text.startsWith(' UTC') ? text.slice(4) : text;
  if (rest === '' || rest === 'Z' || rest === 'z') return UTC;
  if (/^[+-]/.test(rest)) return timeZone(rest);
  return /^ [^+-]/.test(rest) ? timeZone(rest.slice(1)) : null;
}

const UTC = (): bigint => 0n;

const READERS = {
  DATE: dateText,
  TIME: timeText,
  DATETIME: datetimeText,
  TIMESTAMP: (text: string) => timestampMicros(text)?.toString() ?? null,
};

export type TemporalKind = keyof typeof READERS;

export function isTemporal(kind: SqlType['kind']): kind is TemporalKind {
  return Object.hasOwn(READERS, kind);
}

/** The canonical value: ISO text, of a TIMESTAMP its microseconds since the epoch; null: no value of that type. */
export function temporalValue(kind: TemporalKind, text: string): string | null {
  return READERS[kind](text);
}

// ------------------------------------------------------------------------------------------
// Values of RANGE, from the texts of their literals: `[2026-01-01, UNBOUNDED)`.

/** The first value, and the one behind the last; null: open. As `ResolvedLiteral` has values of the element's type. */
export type RangeEnds = readonly [start: string | null, end: string | null];

/** A comma and a blank between the ends, and nothing else around them. */
const FORM = /^\[([^,]*), ([^,]*)\)$/;
const OPEN = /^(?:UNBOUNDED|NULL)$/i;

/** The canonical value, its ends canonical values of their type; null: no text of a RANGE of that element. */
export function rangeValue(element: RangeElement, text: string): string | null {
  const [, ...written] = FORM.exec(text) ?? [];
  if (written.length === 0 || written.some((end) => end !== end.trim())) return null;
  const ends: (string | null)[] = [];
  for (const end of written) {
    const value = OPEN.test(end) ? null : temporalValue(element, end);
    if (value === null && !OPEN.test(end)) return null;
    ends.push(value);
  }
  const [start = null, end = null] = ends;
  return inOrder(element, start, end) ? `[${start ?? 'UNBOUNDED'}, ${end ?? 'UNBOUNDED'})` : null;
}

/** Both ends of a canonical value. */
export function rangeEnds(value: string): RangeEnds {
  const [start = '', end = ''] = value.slice(1, -1).split(', ');
  return [start === 'UNBOUNDED' ? null : start, end === 'UNBOUNDED' ? null : end];
}

/** Whether a RANGE may have these ends, canonical values of its element: the first before the last. */
export function inOrder(element: RangeElement, start: string | null, end: string | null): boolean {
  if (start === null || end === null) return true;
  // A fraction of a second that one alone has makes it the later and the longer one.
  return element === 'TIMESTAMP' ? BigInt(start) < BigInt(end) : start < end;
}
