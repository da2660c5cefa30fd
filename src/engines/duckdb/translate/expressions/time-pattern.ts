/**
 * The regular expression of the texts that a plain format reads in one way only: their numbers have all of their digits,
 * or stand before something that is no digit. What it does not match our own function reads, digit by digit.
 */
import { COMPOSED, elementStarts, isLacking, LACKING, type TimeKind } from '../../scalar-functions/time-elements';

export interface TimePattern {
  /** Of the whole text; its first group is all of it. */
  readonly pattern: string;
  /** The field that each group behind the first catches, in order. */
  readonly fields: readonly string[];
}

const MONTH_NAMES =
  'jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sep(?:tember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?';
const DAY_NAMES = 'sun(?:day)?|mon(?:day)?|tue(?:sday)?|wed(?:nesday)?|thu(?:rsday)?|fri(?:day)?|sat(?:urday)?';
const OFFSET = '[+-](?:0\\d|1[0-3])';

interface Caught {
  readonly field: string | null;
  readonly pattern: string;
  /** Where no digit follows. */
  readonly short?: string;
  /** What must not follow, or the text could be read in another way. */
  readonly before: RegExp;
}

const NUMBER = /^\d/;
const FRACTION = /^[\d.%]/;
const NAME = /^[A-Za-z%]/;

const HOUR = { field: 'hour', pattern: '[01]\\d|2[0-3]', short: '[01]?\\d|2[0-3]', before: NUMBER };
const TWELFTH = { field: 'half_day_hour', pattern: '0[1-9]|1[0-2]', short: '0?[1-9]|1[0-2]', before: NUMBER };
const DAY = { field: 'day', pattern: '0[1-9]|[12]\\d|3[01]', short: '0?[1-9]|[12]\\d|3[01]', before: NUMBER };
const MONTH_NAME = { field: 'month_name', pattern: `(?i:${MONTH_NAMES})`, before: NAME };
const DAY_NAME = { field: null, pattern: `(?i:${DAY_NAMES})`, before: NAME };
const SECOND = '[0-5]\\d';
const YEAR = { field: 'year', pattern: '\\d{4}', before: NUMBER };
const HALF_DAY = { field: 'half_day', pattern: '(?i:am|pm)', before: /$^/ };

const CAUGHT: Readonly<Record<string, Caught>> = {
  Y: YEAR,
  E4Y: YEAR,
  y: { field: 'short_year', pattern: '\\d{2}', before: NUMBER },
  m: { field: 'month', pattern: '0[1-9]|1[0-2]', short: '0?[1-9]|1[0-2]', before: NUMBER },
  d: DAY,
  e: DAY,
  j: { field: 'day_of_year', pattern: '\\d{3}', before: NUMBER },
  b: MONTH_NAME,
  B: MONTH_NAME,
  h: MONTH_NAME,
  a: DAY_NAME,
  A: DAY_NAME,
  H: HOUR,
  k: HOUR,
  I: TWELFTH,
  l: TWELFTH,
  M: { field: 'minute', pattern: '[0-5]\\d', short: '[0-5]?\\d', before: NUMBER },
  S: { field: 'second', pattern: SECOND, short: '[0-5]?\\d', before: NUMBER },
  'E*S': { field: 'second', pattern: `${SECOND}(?:\\.\\d+)?`, before: FRACTION },
  E0S: { field: 'second', pattern: SECOND, before: NUMBER },
  p: HALF_DAY,
  P: HALF_DAY,
  s: { field: 'epoch', pattern: '\\d{1,10}', before: /^[\d%]/ },
  z: { field: 'offset', pattern: `${OFFSET}[0-5]\\d`, before: NUMBER },
  Ez: { field: 'offset', pattern: `Z|${OFFSET}:?[0-5]\\d`, before: NUMBER },
  ...Object.fromEntries(
    Array.from({ length: 6 }, (_, i) => [
      `E${i + 1}S`,
      { field: 'second', pattern: `${SECOND}(?:\\.\\d{1,${i + 1}})?`, before: FRACTION },
    ]),
  ),
};

const TOKEN = /%(E(?:4Y|[*\d]S|.)|[^])|[ \t\n\f\r]+|[^]/g;
const BLANK = /^(?:[ \t\n\f\r]|%[nt])/;

/** Null: the format is read by our own function alone. */
export function plainPattern(format: string, kind: TimeKind): TimePattern | null {
  if (elementStarts(format).some(({ rest }) => isLacking(rest, LACKING[kind]))) return null;
  const fields: string[] = [];
  const text = expanded(format);
  let pattern = '';
  for (const { 0: token, 1: element, index } of text.matchAll(TOKEN)) {
    const rest = text.slice(index + token.length);
    if (BLANK.test(token)) pattern += '\\s+';
    else if (element === '%') pattern += '%';
    else if (element === undefined) pattern += token.replace(/[\\^$.|?*+()[\]{}%]/g, '\\$&');
    else {
      const caught = CAUGHT[element];
      if (caught === undefined || caught.before.test(rest)) return null;
      const isShort = caught.short !== undefined && !/^%[^nt%]/.test(rest);
      pattern += `${caught.field === null ? '(?:' : '('}${isShort ? caught.short : caught.pattern})`;
      if (caught.field !== null) fields.push(caught.field);
    }
  }
  return isUnique(fields) ? { pattern: `^(\\s*${pattern.replace(/(?:\\s\+)+/g, '\\s+')}\\s*)$`, fields } : null;
}

/** Elements that are text of others, written out. */
function expanded(format: string): string {
  return format.replace(/%([FDxTXRrc%])/g, (token, letter: string) => COMPOSED[letter] ?? token);
}

/** Whether each part of a time is given once, and in one way. */
function isUnique(fields: readonly string[]): boolean {
  const has = (...some: readonly string[]): boolean => some.filter((field) => fields.includes(field)).length > 1;
  if (new Set(fields).size < fields.length || fields.length === 0) return false;
  if (has('year', 'short_year') || has('month', 'month_name') || has('hour', 'half_day_hour')) return false;
  if (fields.includes('day_of_year') && ['month', 'month_name', 'day'].some((field) => fields.includes(field)))
    return false;
  return !fields.includes('epoch') || fields.length === 1;
}
