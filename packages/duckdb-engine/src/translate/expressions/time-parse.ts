/**
 * PARSE_ of dates and times: a literal format becomes the regular expression of the texts that it reads, and the arithmetic over what
 * the groups of that expression catch. GoogleSQL reads from the left and never goes back: a number has as many digits as it may.
 */
import type { Call } from './call';
import { quoteText } from '../../sql';
import { COMPOSED, elementStarts, type TimeKind } from './time-format';

export interface TimePattern {
  /** Of the whole text; its first group is all of it. */
  readonly pattern: string;
  /** The field that each group behind the first catches, in order. */
  readonly fields: readonly string[];
}

/** Elements of what a value of the kind has not. */
const LACKING: Readonly<Record<TimeKind, string>> = {
  DATE: 'cHIklMPpRrSsTXZz',
  TIME: 'AaBbhCcDdeFGgjmsUuVWwxYyZz',
  DATETIME: 'Zz',
  TIMESTAMP: '',
};

/** Whether `rest`, behind a "%", begins with one of the elements that are lacking; E and O go before some. */
function isLacking(rest: string, lacking: string): boolean {
  const has = (letter: string | undefined): boolean => letter !== undefined && lacking.includes(letter);
  const [first, second] = rest;
  if (first === 'O') return has(second);
  if (first !== 'E') return has(first);
  return has(second) || (has('S') && /^E[*\d]S/.test(rest)) || (has('Y') && rest.startsWith('E4Y'));
}

/** Elements that are text of others, as strptime reads them: `%~Y` is a number behind blanks. */
const READ_AS: Readonly<Record<string, string>> = {
  ...COMPOSED,
  F: '%~Y-%~m-%~d',
  D: '%~m/%~d/%~y',
  x: '%~m/%~d/%~y',
  T: '%~H:%~M:%~S',
  X: '%~H:%~M:%~S',
  R: '%~H:%~M',
  c: '%a %b %~d %~H:%~M:%~S %~Y',
  e: '%~d',
  k: '%~H',
};

const MONTH_NAMES =
  'jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sep(?:tember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?';
const DAY_NAMES = 'sun(?:day)?|mon(?:day)?|tue(?:sday)?|wed(?:nesday)?|thu(?:rsday)?|fri(?:day)?|sat(?:urday)?';
const OFFSET = '[+-](?:0\\d|1[0-3])';

interface Caught {
  readonly field: string | null;
  readonly pattern: string;
  /** The same with fewer digits: where a digit may follow, only before something that is no letter and no digit. */
  readonly short?: string;
  /** Digits behind which no other fits: strptime reads them alone. */
  readonly alone?: string;
  /** Behind the number. */
  readonly fraction?: string;
  /** What must not follow, or the text could be read in another way. */
  readonly before: RegExp;
}

const NUMBER = /^\d/;
const FRACTION = /^(?:[\d.]|%(?![aAbBpPz%]|Ez))/;
const NAME = /^(?:[A-Za-z]|%[aAbBhpP])/;

const HOUR = { field: 'hour', pattern: '[01]\\d|2[0-3]', short: '\\d', alone: '[3-9]', before: NUMBER };
const TWELFTH = { field: 'half_day_hour', pattern: '0[1-9]|1[0-2]', short: '[1-9]', before: NUMBER };
const DAY = { field: 'day', pattern: '0[1-9]|[12]\\d|3[01]', short: '[1-9]', alone: '[4-9]', before: NUMBER };
const MONTH_NAME = { field: 'month_name', pattern: `(?i:${MONTH_NAMES})`, before: NAME };
const DAY_NAME = { field: null, pattern: `(?i:${DAY_NAMES})`, before: NAME };
const SECOND = { field: 'second', pattern: '[0-5]\\d|60', short: '\\d', alone: '[7-9]', before: NUMBER };
const YEAR = { field: 'year', pattern: '\\d{4}', short: '\\d{1,3}', before: NUMBER };
const HALF_DAY = { field: 'half_day', pattern: '(?i:am|pm)', before: /(?!)/ };

const CAUGHT: Readonly<Record<string, Caught>> = {
  Y: YEAR,
  E4Y: { field: 'year', pattern: '\\d{4}', before: NUMBER },
  y: { field: 'short_year', pattern: '\\d{2}', short: '\\d', before: NUMBER },
  m: { field: 'month', pattern: '0[1-9]|1[0-2]', short: '[1-9]', alone: '[2-9]', before: NUMBER },
  d: DAY,
  j: { field: 'day_of_year', pattern: '\\d{3}', short: '\\d{1,2}', before: NUMBER },
  b: MONTH_NAME,
  B: MONTH_NAME,
  a: DAY_NAME,
  A: DAY_NAME,
  H: HOUR,
  I: TWELFTH,
  l: TWELFTH,
  M: { field: 'minute', pattern: '[0-5]\\d', short: '\\d', alone: '[6-9]', before: NUMBER },
  S: SECOND,
  E0S: SECOND,
  'E*S': { ...SECOND, fraction: '(?:\\.\\d+)?', before: FRACTION },
  ...Object.fromEntries(
    Array.from({ length: 6 }, (_, i) => [
      `E${i + 1}S`,
      { ...SECOND, fraction: `(?:\\.\\d{1,${i + 1}})?`, before: FRACTION },
    ]),
  ),
  p: HALF_DAY,
  P: HALF_DAY,
  s: { field: 'epoch', pattern: '-?\\d{1,11}|\\d{12}', before: /^[\d%]/ },
  z: { field: 'offset', pattern: `${OFFSET}(?:[0-5]\\d)?|[+-]14(?:00)?`, before: /^[\d%]/ },
  Ez: { field: 'offset', pattern: `Z|${OFFSET}(?::?[0-5]\\d)?|[+-]14(?::?00)?`, before: /^[\d%]/ },
};

/** Elements that read no digit first. */
const OF_LETTERS = /^%(?:[aAbBpPz%]|Ez)/;
const SPACE = '[\\s\\v]';
const TOKEN = /%(E(?:4Y|[*\d]S|.)|~[^]|[^])|[ \t\n\v\f\r]+|[^]/g;
const BLANK = /^(?:[ \t\n\v\f\r]|%[nt])/;

/** null: the format has an element that is not read here, or gives a part of a time twice. 'none': there is no text of the format. */
export function timePattern(format: string, kind: TimeKind): TimePattern | 'none' | null {
  if (elementStarts(format).some(({ rest }) => isLacking(rest, LACKING[kind]))) return 'none';
  const fields: string[] = [];
  const text = format.replace(/%([FDxTXRrcehk%])/g, (token, letter: string) => READ_AS[letter] ?? token);
  let pattern = '';
  for (const { 0: token, 1: element, index } of text.matchAll(TOKEN)) {
    const rest = text.slice(index + token.length);
    if (BLANK.test(token)) pattern += `${SPACE}*`;
    else if (element === '%') pattern += '%';
    else if (element === undefined) pattern += token.replace(/[\\^$.|?*+()[\]{}%]/g, '\\$&');
    else {
      const isOfC = element.startsWith('~');
      const caught = CAUGHT[isOfC ? element.slice(1) : element];
      if (caught === undefined || caught.before.test(rest)) return null;
      const before = isOfC ? ' *' : element === 'I' || element === 'l' ? `${SPACE}*` : '';
      const open = caught.field === null ? '(?:' : '(';
      pattern += `${before}${open}(?:${numberPattern(caught, rest, isOfC)})${caught.fraction ?? ''})`;
      if (caught.field !== null) fields.push(caught.field);
    }
  }
  return isUnique(fields) ? { pattern: `^(${SPACE}*${pattern}${SPACE}*)$`, fields } : null;
}

/** @param rest of the format */
function numberPattern({ field, pattern, short, alone }: Caught, rest: string, isOfC: boolean): string {
  if (short === undefined) return pattern;
  const next = rest.replace(/^(?:[ \t\n\v\f\r]+|%[nt])+/, '');
  const mayFollow = next.startsWith('%') && !OF_LETTERS.test(next);
  // A fifth digit of a year is part of it, but before an element.
  const full = field === 'year' && mayFollow && !rest.startsWith('%') && !isOfC ? `${pattern}\\b` : pattern;
  return [full, ...(isOfC && alone !== undefined ? [alone] : []), mayFollow ? `(?:${short})\\b` : short].join('|');
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

/**
 * The civil time that `text` holds by the pattern, or the instant, by `toInstant`, where no offset is in the text; NULL
 * where it does not hold one.
 */
export function timeByPattern(
  bind: Call['bind'],
  { pattern, fields }: TimePattern,
  text: string,
  toInstant: (civil: string) => string,
): string {
  const has = (field: string): boolean => fields.includes(field);
  const caught = `regexp_extract(${text}, ${quoteText(pattern)}, [${['whole', ...fields].map(quoteText).join(', ')}])`;
  return bind([caught], (m) => {
    const field = (name: string): string => `${m}.${name}`;
    const number = (name: string): string => `CAST(${field(name)} AS INTEGER)`;
    const value = bind([parsedValue(has, field, number, toInstant)], (t) => `lq_in_years_or_null(${t})`);
    return `CASE WHEN ${field('whole')} <> '' THEN ${value} END`;
  });
}

function parsedValue(
  has: (field: string) => boolean,
  field: (name: string) => string,
  number: (name: string) => string,
  toInstant: (civil: string) => string,
): string {
  if (has('epoch')) return `make_timestamp(CAST(${field('epoch')} AS BIGINT) * 1000000)`;
  const year = has('year')
    ? field('year')
    : has('short_year')
      ? `(${number('short_year')} + CASE WHEN ${number('short_year')} < 69 THEN 2000 ELSE 1900 END)`
      : '1970';
  const month = has('month')
    ? field('month')
    : has('month_name')
      ? `(strpos('janfebmaraprmayjunjulaugsepoctnovdec', lower(left(${field('month_name')}, 3))) // 3 + 1)`
      : '1';
  const day = has('day') ? field('day') : '1';
  const date = has('day_of_year')
    ? `list_filter([TRY_CAST(concat(lpad(CAST(${year} AS VARCHAR), 4, '0'), '-01-01') AS DATE) + (${number('day_of_year')} - 1)], lambda d: year(d) = CAST(${year} AS INTEGER))[1]`
    : `TRY_CAST(concat(lpad(CAST(${year} AS VARCHAR), 4, '0'), '-', ${month}, '-', ${day}) AS DATE)`;
  const civil = hasTime(has) ? `(${date} + ${timeOfDay(has, field, number)})` : `CAST(${date} AS TIMESTAMP)`;
  if (has('offset')) {
    return `(${civil} - CASE WHEN lower(${field('offset')}) = 'z' THEN to_minutes(0) ELSE lq_offset(${field('offset')}) END)`;
  }
  return toInstant(civil);
}

function hasTime(has: (field: string) => boolean): boolean {
  return ['hour', 'half_day_hour', 'minute', 'second'].some(has);
}

function timeOfDay(
  has: (field: string) => boolean,
  field: (name: string) => string,
  number: (name: string) => string,
): string {
  const afternoon = has('half_day') ? `CASE WHEN lower(${field('half_day')}) = 'pm' THEN 12 ELSE 0 END` : '0';
  const hour = has('half_day_hour')
    ? `CASE WHEN ${number('half_day_hour')} BETWEEN 1 AND 12 THEN ${number('half_day_hour')} % 12 + ${afternoon} ELSE 99 END`
    : has('hour')
      ? number('hour')
      : '0';
  const minute = has('minute') ? field('minute') : '0';
  // What is behind six digits of a fraction does not count, nor what is behind 60.
  const second = has('second')
    ? `least(CAST(left(${field('second')}, strpos(${field('second')} || '.', '.') + 6) AS DECIMAL(9, 6)), 60)`
    : '0';
  return `(CASE WHEN ${hour} < 24 THEN to_hours(CAST(${hour} AS BIGINT)) + to_minutes(CAST(${minute} AS BIGINT)) + to_microseconds(CAST(${second} * 1000000 AS BIGINT)) END)`;
}
