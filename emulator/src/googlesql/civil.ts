/** Civil times between ISO text and numbers. All are in the proleptic Gregorian calendar; micros are since the epoch, UTC. */

const MICROS = 1_000_000n;

/** Floor division: the remainder is never negative. */
export function floorDivide(a: bigint, b: bigint): [quotient: bigint, remainder: bigint] {
  const remainder = ((a % b) + b) % b;
  return [(a - remainder) / b, remainder];
}

const pad = (value: number, width = 2) => String(value).padStart(width, '0');

/** A fraction of a second as `.123456`; '' for none. */
function fraction(micros: number): string {
  return micros === 0 ? '' : `.${pad(micros, 6)}`;
}

/** `2024-01-02` for days since the epoch. */
export function dateText(days: number): string {
  const date = new Date(days * 86_400_000);
  return `${pad(date.getUTCFullYear(), 4)}-${pad(date.getUTCMonth() + 1)}-${pad(date.getUTCDate())}`;
}

export function timeText(hour: number, minute: number, second: number, micros: number): string {
  return `${pad(hour)}:${pad(minute)}:${pad(second)}${fraction(micros)}`;
}

/** `2024-01-02T03:04:05.000006`, without a zone. */
export function civilText(micros: bigint): string {
  const [seconds, rest] = floorDivide(micros, MICROS);
  const date = new Date(Number(seconds) * 1000);
  const day = dateText(Math.floor(Number(seconds) / 86_400));
  return `${day}T${timeText(date.getUTCHours(), date.getUTCMinutes(), date.getUTCSeconds(), Number(rest))}`;
}

const DATE = /^(\d{4})-(\d{1,2})-(\d{1,2})$/;
const TIME = /^(\d{1,2}):(\d{1,2}):(\d{1,2})(?:\.(\d{1,6})\d*)?$/;
const ZONE = /^(.*?)\s*(?:(Z|UTC)|([+-])(\d{1,2})(?::?(\d{2}))?)$/i;

/** Days since the epoch; null for a text that is no date. */
export function parseDate(text: string): number | null {
  const m = DATE.exec(text);
  if (m === null) return null;
  const [year, month, day] = [Number(m[1]), Number(m[2]), Number(m[3])];
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  const exact = date.getUTCFullYear() === year && date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
  return exact ? date.getTime() / 86_400_000 : null;
}

/** Microseconds since midnight; null for a text that is no time. */
export function parseTime(text: string): bigint | null {
  const m = TIME.exec(text);
  if (m === null) return null;
  const [hour, minute, second] = [Number(m[1]), Number(m[2]), Number(m[3])];
  if (hour > 23 || minute > 59 || second > 59) return null;
  return BigInt(hour * 3600 + minute * 60 + second) * MICROS + BigInt((m[4] ?? '').padEnd(6, '0'));
}

/** Microseconds of a DATETIME text, as if it were UTC; a date alone is its midnight. */
export function parseCivil(text: string): bigint | null {
  const [date = '', time] = text.trim().split(/[ T]/i, 2);
  const days = parseDate(date);
  const micros = time === undefined ? 0n : parseTime(time);
  return days === null || micros === null ? null : BigInt(days) * 86_400n * MICROS + micros;
}

/** Microseconds of a TIMESTAMP text: with an offset, `Z`, `UTC`, or none (UTC). Zones by name are not read. */
export function parseInstant(text: string): bigint | null {
  const trimmed = text.trim();
  // A bare date ends in what looks like an offset.
  const zone = DATE.test(trimmed) ? null : ZONE.exec(trimmed);
  const civil = parseCivil(zone?.[1] ?? trimmed);
  if (civil === null || zone === null || zone[3] === undefined) return civil;
  const minutes = BigInt(Number(zone[4]) * 60 + Number(zone[5] ?? 0));
  return civil - (zone[3] === '-' ? -1n : 1n) * minutes * 60n * MICROS;
}
