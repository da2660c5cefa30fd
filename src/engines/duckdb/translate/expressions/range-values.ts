/**
 * RANGE in DuckDB: a STRUCT of its ends, an open one infinite, never NULL. So DuckDB's own comparison, order and groups are those
 * of GoogleSQL: an open start before all others, an open end behind all others.
 */
import type { RangeElement, RangeType } from '../../../../googlesql/types';
import { duckType, quoteName, structOf } from '../../sql';
import type { Bind } from './call';
import { isName } from './call';

const SIDES = ['start', 'end'] as const;

/** An end of the RANGE `x`, an open one infinite. */
export function endOf(x: string, side: 'start' | 'end'): string {
  return isName(x) ? `${x}.${quoteName(side)}` : `struct_extract(${x}, '${side}')`;
}

/** What an open end is stored as. */
export function openEnd(element: RangeElement, side: 'start' | 'end'): string {
  return `${duckType({ kind: element })} '${side === 'start' ? '-infinity' : 'infinity'}'`;
}

/** From ends that are stored ones. */
export function rangeOf(start: string, end: string): string {
  return structOf([
    ['start', start],
    ['end', end],
  ]);
}

/** From ends that are NULL where they are open: `failing` where the first is not before the last. */
export function checkedRange(bind: Bind, element: RangeElement, ends: readonly string[], failing: string): string {
  const closed = SIDES.map((side, i) => `coalesce(${ends[i]!}, ${openEnd(element, side)})`) as [string, string];
  return bind(closed, (start, end) => `CASE WHEN ${start} < ${end} THEN ${rangeOf(start, end)} ELSE ${failing} END`);
}

/** `[start, end)`, each by `textOf`. `x` may be repeated. */
export function rangeText(x: string, textOf: (end: string) => string): string {
  const [start, end] = SIDES.map((side) => {
    const value = endOf(x, side);
    return `CASE WHEN isfinite(${value}) THEN ${textOf(value)} ELSE 'UNBOUNDED' END`;
  });
  return `CASE WHEN ${x} IS NOT NULL THEN '[' || ${start} || ', ' || ${end} || ')' END`;
}

/** `{start, end}` with NULL for an open one, each by `valueOf`. `x` may be repeated. */
export function rangeRecord(x: string, valueOf: (end: string) => string): string {
  const [start = '', end = ''] = SIDES.map((side) => {
    const value = endOf(x, side);
    return `CASE WHEN isfinite(${value}) THEN ${valueOf(value)} END`;
  });
  return `CASE WHEN ${x} IS NOT NULL THEN ${rangeOf(start, end)} END`;
}

/** An end has no blanks around it, and a comma and one blank stand between the two. */
const FORM = String.raw`^\[([^,\s\x0b](?:[^,]*[^,\s\x0b])?), ([^,\s\x0b](?:[^,]*[^,\s\x0b])?)\)$`;

/** Reads a text; `failing` where it is not one of a RANGE. `endOfText` reads an end, and is NULL where it cannot be read. */
export function rangeOfText(
  bind: Bind,
  text: string,
  { element }: RangeType,
  endOfText: (text: string) => string,
  failing: string,
): string {
  return bind([text], (x) => {
    const ends = SIDES.map((side, i) => {
      const written = `regexp_extract(${x}, '${FORM}', ${i + 1})`;
      const read = (end: string): string =>
        `CASE WHEN upper(${end}) IN ('UNBOUNDED', 'NULL') THEN ${openEnd(element.kind, side)} ELSE ${endOfText(end)} END`;
      return bind([written], read);
    }) as [string, string];
    const read = bind(
      ends,
      (start, end) => `CASE WHEN ${start} < ${end} THEN ${rangeOf(start, end)} ELSE ${failing} END`,
    );
    return `CASE WHEN ${x} IS NOT NULL THEN ${read} END`;
  });
}
