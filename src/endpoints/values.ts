import { RE2JS, RE2JSSyntaxException } from 're2js';

import { MOST_PATTERN_COST, patternCost, instantText, readInstant } from '@logquay/googlesql/types';
import type { ParameterDeclaration } from './endpoint';

const DATE = /^\d{4}-\d{2}-\d{2}$/;
const INSTANT = /^\d{4}-\d{2}-\d{2}([Tt ]\d{2}:\d{2}(:\d{2}([.,]\d{1,6})?)?([Zz]|[+\- ]\d{2}(:?\d{2})?)?)?$/;

/** `YYYY-MM-DD` of a day that exists, from year 1 to 9999; null for anything else. */
function readDateText(text: string): string | null {
  return DATE.test(text) && typeof readInstant(text) === 'bigint' ? text : null;
}

/**
 * The instant that the text names, UTC where it names no zone, as `YYYY-MM-DDTHH:MM:SS.ffffffZ`; null for anything else.
 * 24:00 and second 60 are refused: BigQuery knows neither. In UTC it is within the years 1 to 9999, TIMESTAMP's range.
 */
export function readInstantText(text: string): string | null {
  const micros = INSTANT.test(text) ? readInstant(text) : 'spelling';
  return typeof micros === 'bigint' ? instantText(micros) : null;
}

/** Classes that re2js knows and RE2 does not: binary properties, and the two general categories left out of RE2. */
const FOREIGN_CLASSES = new Set(
  (
    'ASCII_Hex_Digit Alphabetic Assigned Cn Dash Emoji Emoji_Component Emoji_Modifier Emoji_Modifier_Base ' +
    'Emoji_Presentation Extended_Pictographic Hex_Digit LC Lowercase Math Quotation_Mark Terminal_Punctuation Unknown ' +
    'Uppercase White_Space'
  ).split(' '),
);

/**
 * One unit of a pattern: a quoted run, a class by name, an escape, a POSIX class, the opening of a named group, the
 * opening of a class with a first `]` that is a member, or any character.
 */
const UNIT =
  /\\Q[\s\S]*?(?:\\E|$)|\\[pP]\{\^?([^}]*)\}|\\[\s\S]|\[:\^?[a-z]+:\]|\(\?<(?=[A-Za-z_0-9])|\[\^?\]?|[\s\S]/gu;

/**
 * Why RE2 would refuse the pattern; null: it takes it. The check runs before any query does (docs/endpoints.md).
 *
 * re2js follows RE2 closely; where it is more generous, the rest is done here: names of groups must be written
 * `(?P<name>`, as not every RE2 in use knows the short form, and some classes are unknown to RE2.
 */
export function patternFault(pattern: string): string | null {
  if (patternCost(pattern) > MOST_PATTERN_COST) return 'it is too large with its repetitions written out';
  try {
    RE2JS.compile(pattern);
  } catch (error) {
    if (error instanceof RE2JSSyntaxException) return error.message.replace(/^error parsing regexp: /, '');
    throw error;
  }
  return foreignSyntax(pattern);
}

function foreignSyntax(pattern: string): string | null {
  let inClass = false;
  for (const [unit, className] of pattern.matchAll(UNIT)) {
    if (className !== undefined && FOREIGN_CLASSES.has(className)) return `unknown character class: \`${unit}\``;
    if (unit.startsWith('[:')) continue;
    if (inClass) inClass = unit.startsWith('\\') || !unit.endsWith(']');
    else if (unit.startsWith('[')) inClass = true;
    else if (unit === '(?<') return 'a group is named with (?P<name>...)';
  }
  return null;
}

/** The pattern that matches exactly this text: RE2's metacharacters quoted (docs/keys.md, Pins). */
export function quotePattern(text: string): string {
  return text.replace(/[\\.+*?()|[\]{}^$]/g, '\\$&');
}

/** Longest value of a declared parameter, in bytes of UTF-8. */
const LONGEST_VALUE = 4096;

const INT64_MIN = -(2n ** 63n);
const INT64_MAX = 2n ** 63n - 1n;

/** With the `u` flag a pair is one character, so this finds halves alone. */
const LONE_SURROGATE = /\p{Surrogate}/u;

const INTEGER = /^-?\d+$/;
const NUMBER = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/;

/** A value read by its declaration: in the canonical form of its type, or what would have been allowed instead. */
export type ValueReading =
  | { readonly ok: true; readonly value: string }
  | { readonly ok: false; readonly expected: string; readonly allowed: readonly string[] };

type Declared = Pick<ParameterDeclaration, 'type' | 'values' | 'minimum' | 'maximum'>;

/**
 * Reads a value that is neither absent nor empty (docs/endpoints.md).
 *
 * Canonical forms: an INT64's digits, a FLOAT64's shortest text, `true` or `false`, `YYYY-MM-DDTHH:MM:SS.ffffffZ`, the
 * text itself. Two texts that mean one value have one canonical form, and so share a cache entry.
 */
export function readValue(declared: Declared, text: string): ValueReading {
  const unfit = textFault(text);
  if (unfit !== null) return { ok: false, expected: unfit, allowed: [] };
  switch (declared.type) {
    case 'string':
      return { ok: true, value: text };
    case 'integer':
      return readInteger(declared, text);
    case 'number':
      return readNumber(declared, text);
    case 'boolean':
      return text === 'true' || text === 'false'
        ? { ok: true, value: text }
        : { ok: false, expected: 'true or false', allowed: ['true', 'false'] };
    case 'timestamp':
      return orElse(readInstantText(text), 'an ISO 8601 timestamp with at most six fraction digits', [
        'YYYY-MM-DD',
        'YYYY-MM-DDThh:mm[:ss[.ffffff]]',
        'YYYY-MM-DDThh:mm[:ss[.ffffff]]Z',
        'YYYY-MM-DDThh:mm[:ss[.ffffff]]+hh:mm',
      ]);
    case 'date':
      return orElse(readDateText(text), 'a date that exists', ['YYYY-MM-DD']);
    case 'enum': {
      const values = declared.values ?? [];
      return orElse(values.includes(text) ? text : null, `one of ${values.join(', ')}`, values);
    }
    case 'regex': {
      const fault = patternFault(text);
      return fault === null
        ? { ok: true, value: text }
        : { ok: false, expected: `an RE2 regular expression (${fault})`, allowed: [] };
    }
  }
}

/** Why a text can be no parameter value at all; null: it can. */
function textFault(text: string): string | null {
  if (Buffer.byteLength(text, 'utf8') > LONGEST_VALUE) return `at most ${String(LONGEST_VALUE)} bytes long`;
  if (LONE_SURROGATE.test(text)) return 'Unicode text without lone surrogates';
  // Engines end a text there or refuse it; no log holds one.
  if (text.includes('\0')) return 'text without NUL characters';
  return null;
}

function readInteger(declared: Declared, text: string): ValueReading {
  const low = declared.minimum ?? INT64_MIN;
  const high = declared.maximum ?? INT64_MAX;
  const range = `${String(low)}..${String(high)}`;
  if (INTEGER.test(text)) {
    const value = BigInt(text);
    if (value >= low && value <= high) return { ok: true, value: value.toString() };
  }
  return { ok: false, expected: `a whole number from ${String(low)} to ${String(high)}`, allowed: [range] };
}

function readNumber(declared: Declared, text: string): ValueReading {
  const low = declared.minimum ?? -Number.MAX_VALUE;
  const high = declared.maximum ?? Number.MAX_VALUE;
  if (NUMBER.test(text)) {
    const value = Number(text);
    if (value >= low && value <= high) return { ok: true, value: String(value) };
  }
  return {
    ok: false,
    expected: `a number from ${String(low)} to ${String(high)}`,
    allowed: [`${String(low)}..${String(high)}`],
  };
}

function orElse(value: string | null, expected: string, allowed: readonly string[]): ValueReading {
  return value === null ? { ok: false, expected, allowed } : { ok: true, value };
}

/** Most values of a list. */
export const MOST_VALUES = 1_000;
/** Bytes of UTF-8 of all of them. */
const LONGEST_LIST = 65_536;

/** A list read by its declaration: each value in its canonical form, or what would have been allowed instead. */
export type ListReading =
  | { readonly ok: true; readonly values: readonly string[] }
  | {
      readonly ok: false;
      /** The value that is at fault; null: there are too many, or too long ones. */
      readonly text: string | null;
      readonly expected: string;
      readonly allowed: readonly string[];
    };

/** Reads values none of which is empty. Their order, and what comes twice, is kept: a query may depend on it. */
export function readList(
  declared: Pick<ParameterDeclaration, 'type' | 'values' | 'minimum' | 'maximum'>,
  texts: readonly string[],
): ListReading {
  if (texts.length > MOST_VALUES) return tooMuch(`at most ${String(MOST_VALUES)} values`);
  const values: string[] = [];
  let bytes = 0;
  for (const text of texts) {
    const reading = readValue(declared, text);
    if (!reading.ok) return { ...reading, text };
    values.push(reading.value);
    if ((bytes += Buffer.byteLength(reading.value)) > LONGEST_LIST)
      return tooMuch(`at most ${String(LONGEST_LIST)} bytes`);
  }
  return { ok: true, values };
}

function tooMuch(most: string): ListReading {
  return { ok: false, text: null, expected: `a list of ${most}`, allowed: [] };
}

/**
 * Starts that lie a fixed time before now: `default_lookback` (docs/endpoints.md). They are on full hours, so that requests of
 * one hour have the same start, and share results.
 */

/** Whole hours or days, as written. */
const LOOKBACK = /^([1-9]\d{0,5})([hd])$/;

/** A hundred years: the start of any clock that a service runs by is an instant. */
const MOST_HOURS = 876_000;
const HOUR_MILLISECONDS = 3_600_000;
const HOUR_MICROSECONDS = 3_600_000_000n;
const FIRST_INSTANT = '0001-01-01T00:00:00.000000Z';

/** Whether a duration is one, and not too long. */
export function isLookback(written: string): boolean {
  return hoursOf(written) <= MOST_HOURS;
}

/** The hour of an instant, counted from the epoch. @param now microseconds since the epoch */
export function hourOf(now: bigint): number {
  const hours = now / HOUR_MICROSECONDS;
  return Number(now < hours * HOUR_MICROSECONDS ? hours - 1n : hours);
}

/**
 * The start that lies `lookback` before the full hour that `hour` began with, as a parameter is bound.
 *
 * @param lookback that `isLookback`
 */
export function startBefore(lookback: string, hour: number): string {
  const start = new Date((hour - hoursOf(lookback)) * HOUR_MILLISECONDS);
  return readInstantText(start.toISOString()) ?? FIRST_INSTANT;
}

/** Infinity: it is not of the form. */
function hoursOf(written: string): number {
  const [, count, unit] = LOOKBACK.exec(written) ?? [];
  return count === undefined ? Infinity : Number(count) * (unit === 'd' ? 24 : 1);
}
