/** Buckets of a histogram: equal stretches of time that begin at round instants. */
import type { Zone, Bounds } from '../time-range';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Lengths of a bucket in milliseconds. */
const STEPS = [
  ...[1, 2, 5, 10, 20, 50, 100, 200, 500],
  ...[1, 2, 5, 10, 15, 30].map((n) => n * SECOND),
  ...[1, 2, 5, 10, 15, 30].map((n) => n * MINUTE),
  ...[1, 2, 3, 6, 12].map((n) => n * HOUR),
  ...[1, 2, 7, 14, 28, 91, 364].map((n) => n * DAY),
];

export interface Buckets {
  /** Of the first bucket, in milliseconds since the epoch; at or before the start of the range. */
  readonly start: number;
  /** Milliseconds. */
  readonly step: number;
  readonly count: number;
}

/** The buckets of a range, in its zone: days begin at midnight there. @param most how many there may be */
export function bucketsOf({ start, end }: Bounds, zone: Zone, most: number): Buckets {
  const length = Math.max(1, end - start);
  const step = STEPS.find((one) => length / one <= most - 1) ?? Math.ceil(length / (most - 1));
  const shift = zone === 'utc' ? 0 : new Date(start).getTimezoneOffset() * MINUTE;
  const first = Math.floor((start - shift) / step) * step + shift;
  return { start: first, step, count: Math.max(1, Math.ceil((end - first) / step)) };
}

/** Instants of round times within the range, for the axis. @param most how many there may be */
export function ticksOf(bounds: Bounds, zone: Zone, most: number): readonly number[] {
  const { start, step, count } = bucketsOf(bounds, zone, Math.max(3, most));
  return Array.from({ length: count + 1 }, (_, i) => start + i * step).filter(
    (at) => at >= bounds.start && at <= bounds.end,
  );
}

/** A tick as text: as much of it as its distance to the next one tells. */
export function tickText(at: number, step: number, zone: Zone): string {
  const shift = zone === 'utc' ? 0 : new Date(at).getTimezoneOffset() * MINUTE;
  const text = new Date(at - shift).toISOString();
  if (step >= DAY) return text.slice(5, 10);
  if (step >= MINUTE) return text.slice(11, 16) === '00:00' ? text.slice(5, 10) : text.slice(11, 16);
  return step >= SECOND ? text.slice(11, 19) : text.slice(14, 23);
}
