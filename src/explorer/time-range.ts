/** The stretch of time that is looked at: relative to now, or between two instants. Instants are milliseconds since the epoch. */
export type TimeRange =
  | { readonly kind: 'last'; readonly milliseconds: number }
  | { readonly kind: 'between'; readonly start: number; readonly end: number };

export interface Bounds {
  readonly start: number;
  readonly end: number;
}

const MINUTE = 60_000;
const UNITS: Readonly<Record<string, number>> = { s: 1000, m: MINUTE, h: 60 * MINUTE, d: 1440 * MINUTE };
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

/** Reads what `writeRange` wrote: `15m`, or two ISO instants with a slash between them. null: neither */
export function readRange(text: string): TimeRange | null {
  const relative = /^(\d{1,9})([smhd])$/.exec(text);
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

/** The range of the same length before or after: -1 or 1. Never beyond now, where it follows the clock. */
export function shifted(range: TimeRange, direction: -1 | 1, now: number): TimeRange {
  const { start, end } = boundsOf(range, now);
  const step = (end - start) * direction;
  return { kind: 'between', start: start + step, end: end + step };
}
