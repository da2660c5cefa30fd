/** FORMAT_TIMESTAMP and its kin: a plain literal format becomes one expression, in few calls of strftime. */
import { QueryError } from '@logquay/googlesql/types';
import type { Call } from './call';
import { LIMITS } from './makers';
import { quoteText } from '../../sql';

/** What is formatted, or read. */
export type TimeKind = 'DATE' | 'TIME' | 'DATETIME' | 'TIMESTAMP';

/** Elements that are text of others. */
export const COMPOSED: Readonly<Record<string, string>> = {
  F: '%Y-%m-%d',
  D: '%m/%d/%y',
  x: '%m/%d/%y',
  h: '%b',
  T: '%H:%M:%S',
  X: '%H:%M:%S',
  R: '%H:%M',
  r: '%I:%M:%S %p',
  c: '%a %b %e %H:%M:%S %Y',
  n: '\n',
  t: '\t',
};

/** Every odd run of "%" in a format, which begins an element. */
export function elementStarts(format: string): { readonly run: string; readonly rest: string }[] {
  return [...format.matchAll(/%+/g)]
    .filter(([run]) => run.length % 2 === 1)
    .map(({ 0: run, index }) => ({ run, rest: format.slice(index + run.length) }));
}

export interface FormattedTime {
  /** A name of the civil time. */
  readonly civil: string;
  /** A name of the instant; null for values without a zone. */
  readonly instant: string | null;
  /** Which elements mean something for the type; the others are literal. */
  readonly has: 'date' | 'time' | 'both';
}

/** Elements that DuckDB's strftime writes as GoogleSQL does, by what they tell. */
const DATE_ELEMENTS = 'ymdjbBaAUWVuw';
/** DuckDB writes years in four digits, GoogleSQL in as many as they have. */
const YEARS: Readonly<Record<string, string>> = { Y: 'year', G: 'isoyear' };
const TIME_ELEMENTS = 'HMSIp';

const COMPOSED_OF_DATE = 'FDxh';
const COMPOSED_OF_TIME = 'TXRr';

const ELEMENT = /%E(?:\*[Sf]|4Y|\dS|z)|%:z|%[^]|[^%]+/g;

/** @throws QueryError for a format of more elements or characters than anyone reads */
export function refuseLongFormat(call: Call, format: string): void {
  if (elementStarts(format).length <= LIMITS.formatElements && format.length <= LIMITS.formatCharacters) return;
  const words = `The format of ${call.name} must have at most ${LIMITS.formatElements} elements and ${LIMITS.formatCharacters} characters`;
  throw new QueryError('invalidQuery', words, call.args[0]?.expr.span ?? call.span);
}

const PLAIN = /%(?:[AaBbCcDdeFGgHhIjklMmnPpQRrSsTtUuVWwXxYyZz%]|E(?:4Y|\*[Sf]|\dS|z)|:z)/g;

/** The first element with a width, a flag or a variant that strftime of DuckDB does not write; null: there is none. */
export function oddElement(format: string): string | null {
  return /%.{0,2}/s.exec(format.replace(PLAIN, ''))?.[0] ?? null;
}

/** @param pattern a plain format */
export function timestampFormat(pattern: string, time: FormattedTime): string {
  const pieces: string[] = [];
  let direct = '';
  const flush = (): void => {
    if (direct !== '') pieces.push(`strftime(${time.civil}, ${quoteText(direct)})`);
    direct = '';
  };
  const walk = (text: string): void => {
    for (const [element] of text.matchAll(ELEMENT)) {
      const letter = element.length === 2 && element.startsWith('%') ? element[1]! : null;
      const year = time.has === 'time' ? undefined : YEARS[letter ?? ''];
      if (year !== undefined) {
        flush();
        pieces.push(`CAST(${year}(${time.civil}) AS VARCHAR)`);
      } else if (element === '%E4Y' && time.has !== 'time') direct += '%Y';
      else if (letter === '%') direct += '%%';
      else if (letter !== null && isDirect(letter, time)) direct += element;
      else if (letter !== null && isComposed(letter, time)) walk(COMPOSED[letter]!);
      else {
        const text = element.startsWith('%') ? computed(element, time) : null;
        if (text === null) direct += element.replaceAll('%', '%%');
        else {
          flush();
          pieces.push(text);
        }
      }
    }
  };
  walk(pattern);
  flush();
  // strftime of a NULL is NULL; a format without elements has to be one too.
  if (pieces.length === 0) return `CASE WHEN ${time.civil} IS NOT NULL THEN '' END`;
  return pieces.length === 1 ? pieces[0]! : `(${pieces.join(' || ')})`;
}

function isDirect(letter: string, { has }: FormattedTime): boolean {
  return (has !== 'time' && DATE_ELEMENTS.includes(letter)) || (has !== 'date' && TIME_ELEMENTS.includes(letter));
}

function isComposed(letter: string, { has }: FormattedTime): boolean {
  if (letter === 'n' || letter === 't') return true;
  if (letter === 'c') return has === 'both';
  return (has !== 'time' && COMPOSED_OF_DATE.includes(letter)) || (has !== 'date' && COMPOSED_OF_TIME.includes(letter));
}

/** The SQL of an element that strftime does not know; null where it is literal. */
function computed(element: string, { civil, instant, has }: FormattedTime): string | null {
  const padded = (value: string, width: number, filler: ' ' | '0'): string =>
    `lpad(CAST(${value} AS VARCHAR), ${width}, '${filler}')`;
  if (has !== 'time') {
    switch (element) {
      case '%e':
        return padded(`day(${civil})`, 2, ' ');
      case '%C':
        return `CAST(year(${civil}) // 100 AS VARCHAR)`;
      case '%g':
        return padded(`isoyear(${civil}) % 100`, 2, '0');
      case '%Q':
        return `CAST(quarter(${civil}) AS VARCHAR)`;
    }
  }
  if (has === 'date' && element === '%E*f') return "'0'";
  if (has !== 'date') {
    switch (element) {
      case '%k':
        return padded(`hour(${civil})`, 2, ' ');
      case '%l':
        return padded(`(hour(${civil}) + 11) % 12 + 1`, 2, ' ');
      case '%P':
        return `lower(strftime(${civil}, '%p'))`;
      case '%E*S':
        return `(strftime(${civil}, '%S') || regexp_replace(strftime(${civil}, '.%f'), '\\.?0+$', ''))`;
      case '%E*f':
        return `CASE WHEN extract(microseconds FROM ${civil}) % 1000000 = 0 THEN '0' ELSE regexp_replace(strftime(${civil}, '%f'), '0+$', '') END`;
    }
    const digits = /^%E(\d)S$/.exec(element);
    if (digits !== null) {
      const count = Number(digits[1]);
      if (count === 0) return `strftime(${civil}, '%S')`;
      return `left(strftime(${civil}, '%S.%f') || '000', ${3 + count})`;
    }
  }
  if (instant === null) {
    if (element === '%:z') return `'+00:00'`;
    return element === '%s' && has === 'both'
      ? `CAST(epoch_us(date_trunc('second', ${civil})) // 1000000 AS VARCHAR)`
      : null;
  }
  // Whole minutes between what the clocks show and UTC.
  const minutes = civil === instant ? null : `date_diff('minute', ${instant}, ${civil})`;
  const sign = `CASE WHEN ${minutes} < 0 THEN '-' ELSE '+' END`;
  switch (element) {
    case '%s':
      return `CAST(epoch_us(date_trunc('second', ${instant})) // 1000000 AS VARCHAR)`;
    case '%z':
      return minutes === null
        ? `'+0000'`
        : `printf('%s%02d%02d', ${sign}, abs(${minutes}) // 60, abs(${minutes}) % 60)`;
    case '%:z':
    case '%Ez':
      return minutes === null
        ? `'+00:00'`
        : `printf('%s%02d:%02d', ${sign}, abs(${minutes}) // 60, abs(${minutes}) % 60)`;
    case '%Z':
      if (minutes === null) return `'UTC'`;
      return (
        `CASE WHEN ${minutes} = 0 THEN 'UTC' WHEN ${minutes} % 60 = 0 THEN printf('UTC%s%d', ${sign}, abs(${minutes}) // 60) ` +
        `ELSE printf('UTC%s%02d%02d', ${sign}, abs(${minutes}) // 60, abs(${minutes}) % 60) END`
      );
  }
  return null;
}
