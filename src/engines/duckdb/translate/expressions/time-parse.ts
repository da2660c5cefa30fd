/** PARSE_TIMESTAMP and its kin: a literal format becomes a regular expression and the arithmetic over what it catches. */
import type { Call } from './call';
import { quoteText } from '../../sql';
import { ELEMENT, refuseLongFormat } from './time-format';

const MONTH_NAMES =
  'jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sep(?:tember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?';
const DAY_NAMES = 'sun(?:day)?|mon(?:day)?|tue(?:sday)?|wed(?:nesday)?|thu(?:rsday)?|fri(?:day)?|sat(?:urday)?';

const HOUR = '2[0-3]|[01]?\\d';
/** Sixty is a leap second: the first of the next minute. */
const SECOND = '(?:60|[0-5]?\\d)';

/** Elements as regular expressions that catch a field by name. */
const CAUGHT: Readonly<Record<string, readonly [field: string, pattern: string]>> = {
  '%Y': ['year', '\\d{1,4}'],
  '%E4Y': ['year', '\\d{4}'],
  '%y': ['short_year', '\\d{1,2}'],
  '%m': ['month', '\\d{1,2}'],
  '%d': ['day', '\\d{1,2}'],
  '%e': ['day', '\\d{1,2}'],
  '%j': ['day_of_year', '\\d{1,3}'],
  '%b': ['month_name', `(?i:${MONTH_NAMES})`],
  '%H': ['hour', HOUR],
  '%k': ['hour', HOUR],
  '%I': ['half_day_hour', '\\d{1,2}'],
  '%l': ['half_day_hour', '\\d{1,2}'],
  '%M': ['minute', '[0-5]?\\d'],
  '%S': ['second', SECOND],
  '%E*S': ['second', `${SECOND}(?:\\.\\d+)?`],
  '%p': ['half_day', '(?i:am|pm)'],
  '%s': ['epoch', '[+-]?\\d{1,12}'],
  '%z': ['offset', '[+-]\\d{4}'],
  '%Ez': ['offset', '[Zz]|[+-]\\d{1,2}(?::?\\d{2})?'],
  '%Z': ['zone', '[^\\s]+'],
};
const SAME: Readonly<Record<string, string>> = { '%B': '%b', '%h': '%b', '%P': '%p' };

const COMPOSED: Readonly<Record<string, string>> = {
  '%F': '%Y-%m-%d',
  '%D': '%m/%d/%y',
  '%x': '%m/%d/%y',
  '%T': '%H:%M:%S',
  '%X': '%H:%M:%S',
  '%R': '%H:%M',
  '%r': '%I:%M:%S %p',
  '%c': '%a %b %e %H:%M:%S %Y',
};

interface Compiled {
  readonly pattern: string;
  /** The field that each group catches, in order; the last one of a name counts. */
  readonly fields: readonly string[];
  /** An element is of something that the type has not. */
  readonly misplaced: boolean;
}

const CLOCK_ELEMENT = /^%(?:[HIklMSpPTXRrcs]|E[*0-9]S)$/;
const ZONE_ELEMENT = /^%(?:z|Z|Ez|:z)$/;

/** Whether an element means nothing for the type that is parsed. */
function isOfAnother(call: Call, element: string): boolean {
  switch (call.type.kind) {
    case 'DATE':
      return CLOCK_ELEMENT.test(element) || ZONE_ELEMENT.test(element);
    case 'TIME':
      return !/^%[nt%]$/.test(element) && (!CLOCK_ELEMENT.test(element) || /^%[cs]$/.test(element));
    case 'DATETIME':
      return ZONE_ELEMENT.test(element);
    default:
      return false;
  }
}

function compile(call: Call, format: string): Compiled {
  const fields: string[] = [];
  let misplaced = false;
  const walk = (text: string): string =>
    [...text.matchAll(ELEMENT)]
      .map(([element]) => {
        if (!element.startsWith('%') || (element.length > 2 && !/^%(?:[EO:]|[-_0^#\d]+[A-Za-z])/.test(element)))
          return literal(element);
        if (isOfAnother(call, element)) {
          misplaced = true;
          return '';
        }
        const caught = CAUGHT[SAME[element] ?? element];
        if (caught !== undefined) {
          refuseLongFormat(call, format, fields.push(caught[0]));
          return `(${caught[1]})`;
        }
        const fraction = /^%E(\d)S$/.exec(element);
        if (fraction !== null) {
          fields.push('second');
          return fraction[1] === '0' ? `(${SECOND})` : `(${SECOND}(?:\\.\\d{1,${fraction[1]}})?)`;
        }
        if (COMPOSED[element] !== undefined) return walk(COMPOSED[element]);
        switch (element) {
          case '%a':
          case '%A':
            return `(?i:${DAY_NAMES})`;
          case '%u':
          case '%w':
            return '\\d';
          case '%n':
          case '%t':
            return '\\s*';
          case '%%':
            return '%';
          default:
            return call.unsupported(`The format element ${element} in ${call.name}`);
        }
      })
      .join('');
  refuseLongFormat(call, format, 0);
  const pattern = walk(format);
  return { pattern: `^(\\s*${pattern}\\s*)$`, fields, misplaced };
}

/** Any white space in a format matches any amount of it in the text. */
function literal(text: string): string {
  return text.replace(/[\\^$.|?*+()[\]{}]/g, '\\$&').replace(/\s+/g, '\\s*');
}

/**
 * The civil time that `text` holds by `format`, or the instant, by `toInstant`, where neither an offset nor a zone is in
 * the text. Fails, or is NULL under SAFE., where it does not hold one.
 */
export function timestampParser(
  call: Call,
  format: string,
  text: string,
  toInstant: (civil: string) => string = (civil) => civil,
): string {
  const { pattern, fields, misplaced } = compile(call, format);
  if (misplaced) return `CAST(CASE WHEN ${text} IS NOT NULL THEN ${call.fail('argument')} END AS TIMESTAMP)`;
  // A group that is named again by a later one gets a name that nobody reads.
  const names = fields.map((field, i) => (fields.lastIndexOf(field) === i ? field : `unread_${i}`));
  const has = (field: string): boolean => fields.includes(field);
  const caught = `regexp_extract(${text}, ${quoteText(pattern)}, [${['whole', ...names].map(quoteText).join(', ')}])`;
  return call.bind([caught, text], (m, s) => {
    const field = (name: string): string => `${m}.${name}`;
    const number = (name: string): string => `CAST(${field(name)} AS INTEGER)`;
    const value = call.bind([parsedValue(has, field, number, toInstant)], (t) => `lq_in_years_or_null(${t})`);
    // Nothing is what a format of blanks alone matches, too.
    const matches = `${field('whole')} <> ''${/^(?:\s|%[nt])*$/.test(format) ? ` OR ${s} = ''` : ''}`;
    const parsed = `CASE WHEN ${matches} THEN ${value} END`;
    return call.safe ? parsed : `CASE WHEN ${s} IS NULL THEN NULL ELSE coalesce(${parsed}, ${call.fail('parse')}) END`;
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
  if (has('zone'))
    return `timezone('UTC', TRY_CAST(concat(CAST(${civil} AS VARCHAR), ' ', ${field('zone')}) AS TIMESTAMPTZ))`;
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
  // The fraction of a 60th second does not count.
  const second = has('second')
    ? `CASE WHEN starts_with(${field('second')}, '60') THEN '60' ELSE left(${field('second')}, 9) END`
    : '0';
  return `(CASE WHEN ${hour} < 24 THEN to_hours(CAST(${hour} AS BIGINT)) + to_minutes(CAST(${minute} AS BIGINT)) + to_microseconds(CAST(CAST(${second} AS DECIMAL(9, 6)) * 1000000 AS BIGINT)) END)`;
}
