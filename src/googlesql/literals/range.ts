/** Values of RANGE, from the texts of their literals: `[2026-01-01, UNBOUNDED)`. */
import type { RangeElement } from '../types';
import { temporalValue } from './temporal';

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
