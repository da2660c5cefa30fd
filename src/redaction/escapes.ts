/**
 * Logs hold text in wrappings: percent-encoded URLs (once or twice), JSON inside of strings. An escape is one character of
 * what it wraps, so that the `20` of `%2010.0.0.1` is a blank and no part of the address.
 */
import type { Span } from './span';

/** Any character as JSON may write it, also in strings within strings: `\u0031`, `\\u0031`. */
export const JSON_ESCAPE = /(?<!\\)\\+u[0-9a-f]{4}/i;

/** A text with the characters that such escapes stand for. */
export interface Unescaped {
  readonly text: string;
  /** Where spans of it, which are in order, are in the text with escapes. */
  readonly written: (spans: readonly Span[]) => Span[];
}

export function unescaped(written: string): Unescaped {
  const ends: number[] = [];
  const added: number[] = [];
  let sum = 0;
  const text = written.replace(new RegExp(JSON_ESCAPE, 'gi'), (escape, at: number) => {
    ends.push(at - sum + 1);
    added.push((sum += escape.length - 1));
    return String.fromCharCode(parseInt(escape.slice(-4), 16));
  });
  let passed = 0;
  const place = (offset: number): number => {
    while ((ends[passed] ?? Infinity) <= offset) passed++;
    return offset + (added[passed - 1] ?? 0);
  };
  return { text, written: (spans) => spans.map(({ start, end }) => ({ start: place(start), end: place(end) })) };
}

/** A character as read at some place of a text: plain, or wrapped. */
export interface Unit {
  readonly start: number;
  readonly codePoint: number;
  readonly wrapped: boolean;
}

const CONTROL_ESCAPES = new Map([
  ['b', 0x08],
  ['t', 0x09],
  ['n', 0x0a],
  ['f', 0x0c],
  ['r', 0x0d],
]);

/** The character that ends right before `end`; null at the beginning of the text. */
export function unitBefore(text: string, end: number): Unit | null {
  if (end <= 0) return null;
  const escape = escapeEndingAt(text, end);
  if (escape !== null) return { ...escape, wrapped: true };
  const unit = text.charCodeAt(end - 1);
  const isPair = unit >= 0xdc00 && unit <= 0xdfff && end > 1;
  const start = isPair ? end - 2 : end - 1;
  const codePoint = text.codePointAt(start) ?? unit;
  // A low surrogate without its high surrogate represents itself.
  return codePoint > 0xffff || !isPair ? { start, codePoint, wrapped: false } : plain(unit, end);
}

function plain(unit: number, end: number): Unit {
  return { start: end - 1, codePoint: unit, wrapped: false };
}

/** The escape (`%20`, `%2520`, `\n`, `\x20`) that ends right before `end`. */
function escapeEndingAt(text: string, end: number): { start: number; codePoint: number } | null {
  if (text.charCodeAt(end - 2) === BACKSLASH) {
    const control = CONTROL_ESCAPES.get(text.charAt(end - 1));
    if (control !== undefined) return { start: end - 2, codePoint: control };
  }
  if (!isHex(text.charCodeAt(end - 1)) || !isHex(text.charCodeAt(end - 2))) return null;
  let digits = end - 2;
  while (text.charAt(digits - 2) === '2' && text.charAt(digits - 1) === '5') digits -= 2;
  if (text.charCodeAt(digits - 1) === PERCENT) {
    return { start: digits - 1, codePoint: parseInt(text.slice(end - 2, end), 16) };
  }
  if (text.charAt(end - 3) === 'x' && text.charCodeAt(end - 4) === BACKSLASH) {
    return { start: end - 4, codePoint: parseInt(text.slice(end - 2, end), 16) };
  }
  return null;
}

const BACKSLASH = 0x5c;
const PERCENT = 0x25;

/**
 * Places between `from` and `to` where an escape ends that separates words: the digits before it belong to the escape.
 * `100%10.0.0.1` has none, as nobody writes the control character 0x10: there the percent sign is one.
 */
export function* separatorEnds(text: string, from: number, to: number): Generator<number> {
  for (let end = from + 1; end < to; end++) {
    const escape = escapeEndingAt(text, end);
    if (escape !== null && escape.start < from && separates(escape.codePoint)) yield end;
  }
}

/** Blanks, line ends, punctuation, and the bytes of other scripts. */
export function separates(codePoint: number): boolean {
  if (codePoint < 0x20) return codePoint >= 0x08 && codePoint <= 0x0d;
  return codePoint >= 0x80 || !isWord(codePoint);
}

export function isHex(unit: number): boolean {
  return isDigit(unit) || (unit >= 0x41 && unit <= 0x46) || (unit >= 0x61 && unit <= 0x66);
}

export function isDigit(unit: number): boolean {
  return unit >= 0x30 && unit <= 0x39;
}

/** An ASCII letter, digit or `_`; false for NaN, the unit beyond an end of the text. */
export function isWord(unit: number): boolean {
  return isDigit(unit) || (unit >= 0x41 && unit <= 0x5a) || (unit >= 0x61 && unit <= 0x7a) || unit === 0x5f;
}
