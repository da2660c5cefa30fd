/** CAST ... FORMAT of dates, times and BYTES by literal formats, of numbers by any (BigQuery's "Format clause for CAST"). */
import type { ResolvedCast } from '../../../../googlesql/resolved';
import { timeZone } from '../../../../googlesql/literals/time-zone';
import { fail, quoteText } from '../../sql';
import type { Context } from '../context';
import type { Call } from './call';
import { printExpr } from './expressions';
import { ownFunction } from '../functions/own-functions';
import { LIMITS } from './makers';
import { numericText } from './value-texts';
import { timeByPattern } from './time-parse';
import type { TimePattern } from './time-pattern';
import { knownZone, toCivil, toInstant, zoneOf } from './time-zones';

/** The longest first: `HH24` is no `HH` with digits behind it. */
const ELEMENT =
  /"(?:[^"\\]|\\.)*"|YYYY|YYY|YY|Y|RRRR|RR|MONTH|MON|MM|MI|DAY|DDD|DD|DY|D|HH24|HH12|HH|SSSSS|SS|FF[1-9]|A\.M\.|P\.M\.|AM|PM|TZH|TZM|[-./,';: ]/iy;

/** Of the parts of a value: which elements it has. */
const DATE_ELEMENT = /^(?:Y+|R+|MONTH|MON|MM|DAY|D+|DY)$/;
const TIME_ELEMENT = /^(?:HH24|HH12|HH|MI|S+|FF\d|[AP]\.?M\.?)$/;
const ZONE_ELEMENT = /^TZ[HM]$/;

/** What strftime writes as they are. */
const DIRECT: Readonly<Record<string, string>> = {
  YYYY: '%Y',
  RRRR: '%Y',
  MM: '%m',
  DD: '%d',
  DDD: '%j',
  HH: '%I',
  HH12: '%I',
  HH24: '%H',
  MI: '%M',
  SS: '%S',
};
const NAMES: Readonly<Record<string, string>> = { MONTH: '%B', MON: '%b', DAY: '%A', DY: '%a' };

/** The elements of a literal format as they are written; fails by name for what it cannot hold. */
function elementsOf(ctx: Context, cast: ResolvedCast): readonly string[] {
  const { format, span } = cast;
  const text = format?.kind === 'literal' ? format.value : null;
  if (text === null) return ctx.unsupported('CAST with a FORMAT that is no literal', span);
  if (text.length > LIMITS.formatCharacters) return ctx.unsupported('A format of so many characters in CAST', span);
  const elements: string[] = [];
  for (let at = 0; at < text.length;) {
    ELEMENT.lastIndex = at;
    const [element] = ELEMENT.exec(text) ?? [];
    if (element === undefined)
      return ctx.unsupported(`The format element ${JSON.stringify(text.slice(at, at + 5))} in CAST`, span);
    if (elements.push(element) > LIMITS.formatElements)
      return ctx.unsupported('A format of so many elements in CAST', span);
    at += element.length;
  }
  return elements;
}

/** A cast with FORMAT; null where there is none between the types. @param input its operand in SQL */
export function formattedCast(ctx: Context, cast: ResolvedCast, input: string): string | null {
  const from = cast.input.type.kind;
  const to = cast.type.kind;
  if (from === 'BYTES' || to === 'BYTES') return ofBytes(ctx, cast);
  if (to === 'STRING' && from !== 'STRING') return written(ctx, cast, input);
  if (from === 'STRING') return read(ctx, cast, input);
  return null;
}

/** The cast as the calls are that formats and time zones are printed for. */
function callOf(ctx: Context, { type, safe, span }: ResolvedCast): Call {
  return {
    ...{ name: 'CAST', args: [], named: {}, part: null, type, safe, span, isLarge: false },
    fail: (failure) => (safe ? 'NULL' : fail(failure, span)),
    overload: () => fail('size', span),
    bind: (values, body) => ctx.bind(values, body),
    now: () => ctx.now(),
    unsupported: (what) => ctx.unsupported(what, span),
  };
}

/** Its AT TIME ZONE, as from `zoneOf`; one that is unknown fails, or is NULL under SAFE_CAST. */
function zoneOfCast(ctx: Context, cast: ResolvedCast): string | null {
  const { timeZone: expr } = cast;
  if (expr === null) return null;
  const call = callOf(ctx, cast);
  const constant = expr.kind === 'literal' ? expr.value : null;
  if (constant !== null && timeZone(constant) === null) return `CAST(${call.fail('zone')} AS VARCHAR)`;
  const zone = knownZone(call, { sql: printExpr(ctx, expr), constant });
  return zoneOf(zone, expr);
}

// ---------------------------------------------------------------------------- as text

function written(ctx: Context, cast: ResolvedCast, input: string): string | null {
  const { kind } = cast.input.type;
  if (NUMBERS.has(kind)) return writtenNumber(ctx, cast, input);
  if (kind !== 'DATE' && kind !== 'DATETIME' && kind !== 'TIME' && kind !== 'TIMESTAMP')
    return ctx.unsupported('CAST of this type with FORMAT', cast.span);
  const elements = elementsOf(ctx, cast);
  const wrong = elements.some((element) => {
    const name = element.toUpperCase();
    if (DATE_ELEMENT.test(name)) return kind === 'TIME';
    if (TIME_ELEMENT.test(name)) return kind === 'DATE';
    return ZONE_ELEMENT.test(name) && kind !== 'TIMESTAMP';
  });
  const call = callOf(ctx, cast);
  const zone = zoneOfCast(ctx, cast);
  return ctx.bind([input], (x) => {
    if (wrong) return `CAST(CASE WHEN ${x} IS NOT NULL THEN ${call.fail('argument')} END AS VARCHAR)`;
    const civil =
      kind === 'DATE'
        ? `CAST(${x} AS TIMESTAMP)`
        : kind === 'TIME'
          ? `(DATE '1970-01-01' + ${x})`
          : kind === 'TIMESTAMP'
            ? toCivil(x, zone)
            : x;
    return ctx.bind([civil], (t) => joined(elements, t, x));
  });
}

const NUMBERS: ReadonlySet<string> = new Set(['INT64', 'FLOAT64', 'NUMERIC', 'BIGNUMERIC']);

function writtenNumber(ctx: Context, cast: ResolvedCast, input: string): string {
  const { format, timeZone: zone, span } = cast;
  if (format === null || zone !== null) return ctx.unsupported('CAST of a number AT TIME ZONE', span);
  if (format.kind === 'literal' && /TM|RN/i.test(format.value ?? ''))
    return ctx.unsupported('CAST of a number with the FORMAT elements TM and RN', span);
  const { kind } = cast.input.type;
  const text = kind === 'BIGNUMERIC' ? ctx.bind([input], (x) => numericText(x, kind)) : `CAST(${input} AS VARCHAR)`;
  const given = [
    { sql: printExpr(ctx, format), sized: 'text' as const },
    { sql: text, sized: 'text' as const },
    { sql: String(cast.input.type.kind === 'FLOAT64') },
  ];
  return `substr(${ownFunction(callOf(ctx, cast), 'lq_format_number', given, { text: true, empty: 'argument' })}, 2)`;
}

function joined(elements: readonly string[], civil: string, instant: string): string {
  const pieces: string[] = [];
  let direct = '';
  const flush = (): void => {
    if (direct !== '') pieces.push(`strftime(${civil}, ${quoteText(direct)})`);
    direct = '';
  };
  for (const element of elements) {
    const name = element.toUpperCase();
    if (DIRECT[name] !== undefined) direct += DIRECT[name];
    else if (/^["\-./,';: ]/.test(element)) direct += literalOf(element).replaceAll('%', '%%');
    else {
      flush();
      pieces.push(computed(element, name, civil, instant));
    }
  }
  flush();
  if (pieces.length === 0) return `CASE WHEN ${civil} IS NOT NULL THEN '' END`;
  return `(${pieces.join(' || ')})`;
}

function literalOf(element: string): string {
  return element.startsWith('"') ? element.slice(1, -1).replace(/\\(.)/gs, '$1') : element;
}

function computed(element: string, name: string, civil: string, instant: string): string {
  if (NAMES[name] !== undefined) return inCaseOf(element, `strftime(${civil}, '${NAMES[name]}')`);
  const year = /^(?:Y{1,3}|RR)$/.exec(name);
  if (year !== null) return `right(strftime(${civil}, '%Y'), ${year[0].length})`;
  if (name.startsWith('FF')) return `left(strftime(${civil}, '%f') || '000', ${name.slice(2)})`;
  const offset = `date_diff('minute', ${instant}, ${civil})`;
  switch (name) {
    case 'D':
      return `CAST(dayofweek(${civil}) + 1 AS VARCHAR)`;
    case 'SSSSS':
      return `lpad(CAST(hour(${civil}) * 3600 + minute(${civil}) * 60 + second(${civil}) AS VARCHAR), 5, '0')`;
    case 'TZH':
      return `printf('%s%02d', CASE WHEN ${offset} < 0 THEN '-' ELSE '+' END, abs(${offset}) // 60)`;
    case 'TZM':
      return `printf('%02d', abs(${offset}) % 60)`;
    default: {
      const dots = name.includes('.') ? '.' : '';
      const meridian = `CASE WHEN hour(${civil}) < 12 THEN 'A${dots}M${dots}' ELSE 'P${dots}M${dots}' END`;
      return /^[ap]/.test(element) ? `lower(${meridian})` : meridian;
    }
  }
}

/** `MON`, `Mon` and `mon`: the first two letters say in which letters a name is written. */
function inCaseOf(element: string, name: string): string {
  if (/^[a-z]/.test(element)) return `lower(${name})`;
  return /^[A-Z][a-z]/.test(element) ? name : `upper(${name})`;
}

// ---------------------------------------------------------------------------- from text

/** Elements that are read: the part of a time that each gives, and what it takes of a text, which is less than PARSE_TIMESTAMP. */
const READ: Readonly<Record<string, readonly [field: string, pattern: string]>> = {
  YYYY: ['year', '[0-9]{1,4}'],
  MM: ['month', '[0-9]{1,2}'],
  DD: ['day', '[0-9]{1,2}'],
  HH24: ['hour', '2[0-3]|[01]?[0-9]'],
  MI: ['minute', '[0-5]?[0-9]'],
  SS: ['second', '[0-5]?[0-9]'],
  'TZH:TZM': ['offset', '[+-](?:(?:0?[0-9]|1[0-3]):[0-5][0-9]|14:00)'],
};

/** What a text leaves out BigQuery takes from today, but for the day, which is the first: a date needs year and month here. */
function read(ctx: Context, cast: ResolvedCast, input: string): string | null {
  const { type, span } = cast;
  const { kind } = type;
  if (kind !== 'DATE' && kind !== 'DATETIME' && kind !== 'TIME' && kind !== 'TIMESTAMP')
    return ctx.unsupported('CAST to this type with FORMAT', span);
  const names = elementsOf(ctx, cast).map((element) => element.toUpperCase());
  const lacking = kind === 'TIME' ? [] : ['YYYY', 'MM'].filter((name) => !names.includes(name));
  if (lacking.length > 0) return ctx.unsupported(`CAST by a format without ${lacking[0]!}`, span);
  const pattern = readAs(ctx, cast, names);
  const call = callOf(ctx, cast);
  const zone = zoneOfCast(ctx, cast);
  const ofZone = (civil: string): string => (kind === 'TIMESTAMP' ? toInstant(call.bind, civil, zone) : civil);
  return ctx.bind([input], (s) => {
    const value = timeByPattern(call.bind, pattern, s, ofZone);
    const typed = kind === 'DATE' || kind === 'TIME' ? `CAST(${value} AS ${kind})` : value;
    return `CASE WHEN ${s} IS NULL THEN NULL ELSE coalesce(${typed}, ${call.fail('parse')}) END`;
  });
}

/** The pattern of the texts that are read. @param names elements in capitals */
function readAs(ctx: Context, { span }: ResolvedCast, names: readonly string[]): TimePattern {
  const joint = names
    .join('\0')
    .replace('TZH\0:\0TZM', 'TZH:TZM')
    .replace(/SS\0\.\0FF([1-9])/, 'SS.FF$1')
    .split('\0');
  const fields: string[] = [];
  const pieces = joint.map((name): string => {
    const isTwice = /^[A-Z]/.test(name) && joint.indexOf(name) !== joint.lastIndexOf(name);
    const [field, pattern] = name.startsWith('SS.FF') ? withFraction(name) : (READ[name] ?? []);
    if (field !== undefined && !isTwice) {
      fields.push(field);
      return `(${pattern ?? ''})`;
    }
    if (name === ' ') return '\\s+';
    if (/^[-./,';:]$/.test(name)) return `\\${name}`;
    return ctx.unsupported(`Reading the format element ${name}${isTwice ? ' twice' : ''} by CAST`, span);
  });
  if (joint[0] === ' ' || joint.at(-1) === ' ') return ctx.unsupported('CAST by a format with blanks around it', span);
  return { pattern: `^(\\s*${pieces.join('')}\\s*)$`, fields };
}

function withFraction(name: string): readonly [field: string, pattern: string] {
  return ['second', `[0-5]?[0-9]\\.[0-9]{1,${name.slice(5)}}`];
}

// ---------------------------------------------------------------------------- BYTES

const OF_BYTES: Readonly<Record<string, string>> = { HEX: 'TO_HEX', BASE64: 'TO_BASE64' };
const TO_BYTES: Readonly<Record<string, string>> = { HEX: 'FROM_HEX', BASE64: 'FROM_BASE64' };

function ofBytes(ctx: Context, cast: ResolvedCast): string | null {
  const { input, format, type, safe, span } = cast;
  const kinds = `${input.type.kind}>${type.kind}`;
  if (kinds !== 'BYTES>STRING' && kinds !== 'STRING>BYTES') return null;
  const name = format?.kind === 'literal' ? (format.value ?? '').toUpperCase() : '';
  const called = (type.kind === 'BYTES' ? TO_BYTES : OF_BYTES)[name];
  if (called === undefined) return ctx.unsupported('CAST of BYTES with a FORMAT other than HEX and BASE64', span);
  return printExpr(ctx, { kind: 'call', function: called, safe, args: [input], named: {}, part: null, type, span });
}
