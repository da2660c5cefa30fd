/**
 * Dates and times as GoogleSQL reads them from text: `YYYY-[M]M-[D]D`, then ` ` or `T` and `[H]H:[M]M:[S]S[.ffffff]`.
 * Nothing may be missing, nothing may follow, and no space is skipped.
 */

/** A date and a time of day without a zone. `micros` counts within the second; `second` may be 60. */
export interface Civil {
  readonly year: number;
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
  readonly micros: number;
}

const DATE = '(\\d{4})-(\\d{1,2})-(\\d{1,2})';
const TIME = '(\\d{1,2}):(\\d{1,2}):(\\d{1,2})(?:\\.(\\d{1,6}))?';
const DATE_TEXT = new RegExp(`^${DATE}$`);
const TIME_TEXT = new RegExp(`^${TIME}$`);
const DATETIME_TEXT = new RegExp(`^${DATE}(?:[ Tt]${TIME})?$`);
const TIMESTAMP_TEXT = new RegExp(`^${DATE}(?:[ Tt]${TIME})?(.*)$`, 's');

/** `2026-01-31`, or null where the text is not a date. */
export function dateText(text: string): string | null {
  const match = DATE_TEXT.exec(text);
  const civil = match === null ? null : civilOf(match.slice(1));
  return civil !== null && isInYears(civil) ? printDate(civil) : null;
}

/** `12:34:56.5`, or null. A 60th second is the next minute's first, whatever its fraction, as the engine counts it. */
export function timeText(text: string): string | null {
  const match = TIME_TEXT.exec(text);
  const civil = match === null ? null : civilOf(['1970', '1', '1', ...match.slice(1)]);
  return civil === null ? null : printTime(withoutLeapSecond(civil));
}

/** `2026-01-31T12:34:56.5`, or null. */
export function datetimeText(text: string): string | null {
  const match = DATETIME_TEXT.exec(text);
  const civil = match === null ? null : civilOf(match.slice(1));
  if (civil === null) return null;
  const exact = withoutLeapSecond(civil);
  return isInYears(exact) ? `${printDate(exact)}T${printTime(exact)}` : null;
}

/** The date and time that a timestamp's text starts with, and what follows: its zone, or nothing. */
export function timestampParts(text: string): { civil: Civil; hasTime: boolean; zone: string } | null {
  const match = TIMESTAMP_TEXT.exec(text);
  if (match === null) return null;
  const civil = civilOf(match.slice(1, 8));
  return civil === null ? null : { civil, hasTime: match[4] !== undefined, zone: match[8] ?? '' };
}

/** Microseconds from the epoch to `civil` as if its clock showed UTC. */
export function civilMicros(civil: Civil): bigint {
  const date = new Date(0);
  date.setUTCFullYear(civil.year, civil.month - 1, civil.day);
  date.setUTCHours(civil.hour, civil.minute, civil.second);
  return BigInt(date.getTime()) * 1000n + BigInt(civil.micros);
}

function civilOf(parts: readonly (string | undefined)[]): Civil | null {
  const at = (i: number): number => Number(parts[i] ?? 0);
  const civil: Civil = {
    year: at(0),
    month: at(1),
    day: at(2),
    hour: at(3),
    minute: at(4),
    second: at(5),
    micros: Number((parts[6] ?? '').padEnd(6, '0')),
  };
  return valid(civil) ? civil : null;
}

/** In year 0 too: its last minute may have a 60th second. */
function valid({ year, month, day, hour, minute, second }: Civil): boolean {
  if (month < 1 || month > 12 || day < 1 || hour > 23 || minute > 59 || second > 60) return false;
  const date = new Date(0);
  date.setUTCFullYear(year, month, 0);
  return day <= date.getUTCDate();
}

const isInYears = ({ year }: Civil): boolean => year >= 1 && year <= 9999;

function withoutLeapSecond(civil: Civil): Civil {
  if (civil.second < 60) return civil;
  const date = new Date(Number(civilMicros(civil) / 1000n));
  return {
    year: date.getUTCFullYear(),
    month: date.getUTCMonth() + 1,
    day: date.getUTCDate(),
    hour: date.getUTCHours(),
    minute: date.getUTCMinutes(),
    second: date.getUTCSeconds(),
    micros: 0,
  };
}

const pad = (value: number, width: number): string => String(value).padStart(width, '0');

const printDate = ({ year, month, day }: Civil): string => `${pad(year, 4)}-${pad(month, 2)}-${pad(day, 2)}`;

function printTime({ hour, minute, second, micros }: Civil): string {
  const fraction = micros === 0 ? '' : `.${pad(micros, 6).replace(/0+$/, '')}`;
  return `${pad(hour, 2)}:${pad(minute, 2)}:${pad(second, 2)}${fraction}`;
}
