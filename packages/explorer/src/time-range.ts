import { readInstant } from '@logquay/googlesql/types';

import type { Json } from './exact-json';

export type Zone = 'utc' | 'local';

/** Microseconds between the years 1 and 9999, as log tables count a TIMESTAMP; what is shorter is some other number. */
const MICROS = /^-?\d{14,18}$/;
const ISO = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d/;

/** The instant of a cell in microseconds, by its column's type. null: it holds none */
export function microsOf(value: Json | undefined): bigint | null {
  if (typeof value === 'number' || typeof value === 'bigint') {
    const text = String(value);
    return MICROS.test(text) ? BigInt(text) : null;
  }
  if (typeof value !== 'string' || value.length > 40 || !ISO.test(value)) return null;
  // A DATETIME has no zone: log tables count in UTC.
  const micros = readInstant(value);
  return typeof micros === 'bigint' ? micros : null;
}

/** `2026-11-22 14:41:46.495`, in the zone; with `precise` to the microsecond and with the zone. */
export function writeInstant(micros: bigint, zone: Zone, precise = false): string {
  const milliseconds = Number(floorDiv(micros, 1000n));
  const shifted = zone === 'utc' ? milliseconds : milliseconds - offset(milliseconds) * 60_000;
  const date = new Date(shifted);
  if (Number.isNaN(date.getTime())) return String(micros);
  const text = date.toISOString().replace('T', ' ').slice(0, -1);
  if (!precise) return text;
  const rest = String(micros - floorDiv(micros, 1000n) * 1000n).padStart(3, '0');
  return `${text}${rest} ${zoneName(milliseconds, zone)}`;
}

/** The value of a `datetime-local` field, to the second. */
export function toField(milliseconds: number, zone: Zone): string {
  return writeInstant(BigInt(Math.round(milliseconds)) * 1000n, zone)
    .slice(0, 19)
    .replace(' ', 'T');
}

/** Milliseconds since the epoch of a `datetime-local` field. NaN: it is empty */
export function fromField(text: string, zone: Zone): number {
  return Date.parse(zone === 'utc' ? `${text}Z` : text);
}

function offset(milliseconds: number): number {
  return new Date(milliseconds).getTimezoneOffset();
}

/** `UTC`, or what the machine's zone is ahead of it at an instant: `+05:30`. */
export function zoneName(milliseconds: number, zone: Zone): string {
  if (zone === 'utc') return 'UTC';
  const minutes = -offset(milliseconds);
  const size = Math.abs(minutes);
  const two = (n: number): string => String(n).padStart(2, '0');
  return `${minutes < 0 ? '-' : '+'}${two(Math.floor(size / 60))}:${two(size % 60)}`;
}

function floorDiv(a: bigint, b: bigint): bigint {
  const quotient = a / b;
  return a % b < 0n ? quotient - 1n : quotient;
}

/** The stretch of time that is looked at: relative to now, or between two instants. Instants are milliseconds since the epoch. */
export type TimeRange =
  | { readonly kind: 'last'; readonly milliseconds: number }
  | { readonly kind: 'between'; readonly start: number; readonly end: number };

export interface Bounds {
  readonly start: number;
  readonly end: number;
}

const MINUTE = 60_000;
const UNITS: Readonly<Record<string, number>> = {
  s: 1000,
  m: MINUTE,
  h: 60 * MINUTE,
  d: 1440 * MINUTE,
  w: 10_080 * MINUTE,
};
const LONGEST = 3660 * 1440 * MINUTE;

/** The ranges that are offered, shortest first. */
export const OFFERED: readonly (readonly [text: string, label: string])[] = [
  ['5m', 'Last 5 minutes'],
  ['15m', 'Last 15 minutes'],
  ['1h', 'Last hour'],
  ['6h', 'Last 6 hours'],
  ['1d', 'Last 24 hours'],
  ['3d', 'Last 3 days'],
  ['7d', 'Last 7 days'],
  ['30d', 'Last 30 days'],
];

/** Reads what `writeRange` wrote: `15m` (also `now-15m`), or two ISO instants with a slash between them. null: neither */
export function readRange(text: string): TimeRange | null {
  const relative = /^(?:now\s*-\s*)?(\d{1,9})\s*([smhdw])$/.exec(text.trim());
  if (relative !== null) {
    const milliseconds = Number(relative[1]) * (UNITS[relative[2] ?? ''] ?? 0);
    return milliseconds > 0 && milliseconds <= LONGEST ? { kind: 'last', milliseconds } : null;
  }
  const [start = NaN, end = NaN] = text.length > 80 ? [] : text.split('/').map((one) => Date.parse(one));
  return start < end ? { kind: 'between', start, end } : null;
}

export function writeRange(range: TimeRange): string {
  if (range.kind === 'between') return `${new Date(range.start).toISOString()}/${new Date(range.end).toISOString()}`;
  for (const unit of ['d', 'h', 'm', 's']) {
    const count = range.milliseconds / (UNITS[unit] ?? 1);
    if (Number.isInteger(count)) return `${count}${unit}`;
  }
  return `${Math.ceil(range.milliseconds / 1000)}s`;
}

/** @param now milliseconds since the epoch */
export function boundsOf(range: TimeRange, now: number): Bounds {
  if (range.kind === 'last') return { start: now - range.milliseconds, end: now };
  return { start: range.start, end: range.end };
}

/** The range twice as long around the same middle; one that follows the clock goes on to. */
export function widened(range: TimeRange, now: number): TimeRange {
  if (range.kind === 'last') return { kind: 'last', milliseconds: Math.min(LONGEST, range.milliseconds * 2) };
  const half = (range.end - range.start) / 2;
  return { kind: 'between', start: range.start - half, end: Math.min(Math.max(now, range.end), range.end + half) };
}

/** The range of the same length before or after: -1 or 1. Never beyond now, where it follows the clock. */
export function shifted(range: TimeRange, direction: -1 | 1, now: number): TimeRange {
  const { start, end } = boundsOf(range, now);
  const step = (end - start) * direction;
  return { kind: 'between', start: start + step, end: end + step };
}
