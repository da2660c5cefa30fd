/** Values of the four types of dates and times, from the texts of their literals. */
import type { SqlType, RangeElement } from '../types';
import { datetimeText, dateText, timeText } from './civil';
import { timestampMicros } from './timestamp';

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
