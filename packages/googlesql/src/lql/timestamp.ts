import { isInCalendar } from '../time/calendar';
import { readInstant } from '../time/instant';
import { excerpt, LqlError } from './lql-error';
import { type Comparison, type Instant, OPERATORS, type Origin } from './rules';
import type { Piece } from './scanner';
import { readShorthand, type Shorthand, shorthandText, windowOf } from './shorthand';

/** A written moment, or why what was written is not one. */
export type Moment = (Instant & { readonly origin: Origin }) | { readonly fault: string };

const CIVIL =
  /^[0-9]{4}-[0-9]{2}-[0-9]{2}(?:T([0-9]{2}:[0-9]{2}:[0-9]{2})(?:\.[0-9]{1,6})?(Z|[+-][0-9]{2}:[0-9]{2})?)?$/;
const UNIX = /^(?:[0-9]{10}|[0-9]{13}|[0-9]{16})$/;

/** Whether the text is spelt like a date or a datetime; the calendar is not asked. */
export function isDateSpelling(text: string): boolean {
  return CIVIL.test(text);
}

function isMomentSpelling(text: string): boolean {
  return UNIX.test(text) || CIVIL.test(text);
}

/**
 * A date (its midnight), a datetime with or without zone (without: UTC), or Unix time in seconds, milliseconds or
 * microseconds, told apart by width, of which everything below the millisecond is cut off. null: not spelt like one.
 */
export function readMoment(text: string): Moment | null {
  if (UNIX.test(text)) {
    const milliseconds = BigInt(text.slice(0, 13).padEnd(13, '0'));
    return { micros: milliseconds * 1000n, origin: 'absolute' };
  }
  const [spelt, clock, zone] = CIVIL.exec(text) ?? [];
  if (spelt === undefined) return null;
  const micros = readInstant(text);
  if (micros === 'spelling' || micros === 'time') return { fault: 'not a calendar date/time' };
  // -00:00 says "offset unknown" (RFC 3339, 4.3), which no filter can use.
  if (micros === 'zone' || zone === '-00:00') return { fault: 'bad UTC offset' };
  if (micros === 'range') return { fault: 'outside the calendar (years 1 to 9999, UTC)' };
  return { micros, origin: zone !== undefined ? 'absolute' : clock === undefined ? 'date' : 'local' };
}

/** What a `t:` clause says. */
export type TimeTest = { readonly origin: Origin; readonly shorthand: string | null } & (
  | { readonly operator: Comparison; readonly value: Instant }
  | { readonly operator: 'range'; readonly values: readonly [Instant, Instant] }
);

const HINT =
  'Write a date 2024-03-17, a datetime 2024-03-17T13:47:02Z, Unix time of 10, 13 or 16 digits, a range a..b, or a shorthand.';
const SHORTHANDS = ['now', 'today', 'yesterday', 'this@<unit>', 'last@<number><unit>'];

/** Each part of a date and time may be `{from..to}`; at least one is, or the text would be a plain moment. */
const BRACED = bracedPattern();

function bracedPattern(): RegExp {
  const either = (digits: string) => `(?:${digits}|\\{${digits}\\.\\.${digits}\\})`;
  const [four, two, fraction] = ['[0-9]{4}', '[0-9]{2}', '[0-9]{1,6}'].map(either) as [string, string, string];
  const clock = `T${two}:${two}:${two}(?:\\.${fraction})?(?:Z|[+-][0-9]{2}:[0-9]{2})?`;
  return new RegExp(`^${four}-${two}-${two}(?:${clock})?$`);
}

/**
 * Reads what follows `t:`.
 *
 * @param written everything up to the next separator, comparison included
 * @param clock now, in microseconds
 */
export function readTimeTest(written: Piece, clock: bigint): TimeTest {
  const fail = (message: string) => new LqlError('bad_timestamp', message, written.span, { hint: HINT });
  const [sign, operator] = OPERATORS.find(([sign]) => `:${written.text}`.startsWith(sign)) ?? [':', '=' as const];
  if (operator === '~' || operator === 'list_includes' || operator === 'list_includes_regex') {
    throw fail(`operator ${sign.slice(1)} does not apply to the timestamp`);
  }
  const text = written.text.slice(sign.length - 1);
  if (text === '') throw fail('timestamp value expected');

  const at = (moment: Moment | null): Instant & { origin: Origin } => {
    if (moment === null) throw notATimestamp(written, text);
    if ('fault' in moment) throw fail(moment.fault);
    return moment;
  };
  const interval = () => {
    if (operator !== '=') throw onlyColonBeforeRange(written);
  };

  const shorthand = readShorthand(text);
  if (shorthand !== null) {
    if (shorthand.kind !== 'now') interval();
    return relative(shorthand, operator, clock, fail);
  }
  if (BRACED.test(text) && text.includes('{')) {
    interval();
    const [start, end] = ['$1', '$2'].map((side) => at(readMoment(text.replace(/\{([0-9]+)\.\.([0-9]+)\}/g, side))));
    return span(start as Instant & { origin: Origin }, end as Instant & { origin: Origin });
  }
  const dots = text.indexOf('..');
  if (dots >= 0) {
    const bounds = [text.slice(0, dots), text.slice(dots + 2)] as const;
    if (!bounds.every(isMomentSpelling)) throw notATimestamp(written, text);
    interval();
    const [from, to] = [at(readMoment(bounds[0])), at(readMoment(bounds[1]))];
    if (from.origin !== to.origin) {
      throw new LqlError('mixed_range', 'range bounds must be of the same kind', written.span, {
        hint: 'Write both as dates, both as datetimes without zone, or both with a zone (or in Unix time).',
      });
    }
    const values = [{ micros: from.micros }, { micros: to.micros }] as const;
    return { operator: 'range', values, origin: from.origin, shorthand: null };
  }
  const { micros, origin } = at(readMoment(text));
  return { operator, value: { micros }, origin, shorthand: null };
}

/** Braces make one interval from all left values to all right values; equal ends are a single instant. */
function span(start: Instant & { origin: Origin }, end: Instant & { origin: Origin }): TimeTest {
  const common = { origin: start.origin, shorthand: null };
  if (start.micros === end.micros) return { ...common, operator: '=', value: { micros: start.micros } };
  return { ...common, operator: 'range', values: [{ micros: start.micros }, { micros: end.micros }] };
}

function relative(
  shorthand: Shorthand,
  operator: Comparison,
  clock: bigint,
  fail: (message: string) => LqlError,
): TimeTest {
  const [from, to] = windowOf(shorthand, clock);
  if (!isInCalendar(from) || !isInCalendar(to)) throw fail('shorthand reaches outside the calendar');
  const common = { origin: 'absolute', shorthand: shorthandText(shorthand) } as const;
  if (shorthand.kind === 'now') return { ...common, operator, value: { micros: to } };
  return { ...common, operator: 'range', values: [{ micros: from }, { micros: to }] };
}

function notATimestamp(written: Piece, text: string): LqlError {
  const message = `"${excerpt(text)}" is not a timestamp, range or shorthand`;
  return new LqlError('bad_timestamp', message, written.span, { hint: HINT, allowed: SHORTHANDS });
}

/** The error of an interval behind another operator than the plain colon, on fields too. */
export function onlyColonBeforeRange(written: Piece): LqlError {
  return new LqlError('operator_on_range', 'only ":" can precede a range', written.span, {
    hint: 'Drop the operator, or compare with one end of the range.',
  });
}
