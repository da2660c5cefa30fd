import { isDigit, separatorEnds } from './escapes';
import type { Span } from './span';

/** A dot, also percent-encoded. */
const DOT = /\.|%(?:25)*2e/gi;
const OCTET = String.raw`(?:25[0-5]|2[0-4]\d|[01]?\d?\d)(?!\d)`;
const SEPARATOR = String.raw`(?:\.|%(?:25)*2[eE])`;
const ADDRESS = new RegExp(`${OCTET}(?:${SEPARATOR}${OCTET}){3}`, 'y');

/** More digits than an octet and the escape before it can have. */
const FARTHEST = 12;

/** Whether looking closer is worth while: three numbers with dots between. */
export const MAY_HOLD_IPV4 = /\d(?:\.|%(?:25)*2e)\d{1,3}(?:\.|%(?:25)*2e)\d/i;

/**
 * Every IPv4 address: four numbers of 0 to 255 with dots between, wherever they begin. Letters beside it do not matter
 * (`v1.2.3.4` holds one), a digit does (`1.2.3.4567` holds none), and what follows the fourth number is no part of it:
 * `1.2.3.4.443` is an address and a port.
 */
export function findIpv4(text: string): Span[] {
  const found: Span[] = [];
  let done = 0;
  for (const { index: dot } of text.matchAll(DOT)) {
    if (dot < done) continue;
    let first = dot;
    while (first > done && dot - first < FARTHEST && isDigit(text.charCodeAt(first - 1))) first--;
    if (first === dot) continue;
    for (const start of [...separatorEnds(text, first, dot), ...(dot - first <= 3 ? [first] : [])]) {
      const end = endOfIpv4(text, start);
      if (end === null) continue;
      found.push({ start, end });
      done = end;
      break;
    }
  }
  return found;
}

/** Where the address that begins at `start` ends; null: none does. */
export function endOfIpv4(text: string, start: number): number | null {
  ADDRESS.lastIndex = start;
  return ADDRESS.test(text) ? ADDRESS.lastIndex : null;
}
