/**
 * Starts that lie a fixed time before now: `default_lookback` (docs/endpoints.md). They are on full hours, so that requests of
 * one hour have the same start, and share results.
 */
import { readInstantText } from './instant';

/** Whole hours or days, as written. */
const LOOKBACK = /^([1-9]\d{0,5})([hd])$/;

/** A hundred years: the start of any clock that a service runs by is an instant. */
const MOST_HOURS = 876_000;
const HOUR_MILLISECONDS = 3_600_000;
const HOUR_MICROSECONDS = 3_600_000_000n;
const FIRST_INSTANT = '0001-01-01T00:00:00.000000Z';

/** Whether a duration is one, and not too long. */
export function isLookback(written: string): boolean {
  return hoursOf(written) <= MOST_HOURS;
}

/** The hour of an instant, counted from the epoch. @param now microseconds since the epoch */
export function hourOf(now: bigint): number {
  const hours = now / HOUR_MICROSECONDS;
  return Number(now < hours * HOUR_MICROSECONDS ? hours - 1n : hours);
}

/**
 * The start that lies `lookback` before the full hour that `hour` began with, as a parameter is bound.
 *
 * @param lookback that `isLookback`
 */
export function startBefore(lookback: string, hour: number): string {
  const start = new Date((hour - hoursOf(lookback)) * HOUR_MILLISECONDS);
  return readInstantText(start.toISOString()) ?? FIRST_INSTANT;
}

/** Infinity: it is not of the form. */
function hoursOf(written: string): number {
  const [, count, unit] = LOOKBACK.exec(written) ?? [];
  return count === undefined ? Infinity : Number(count) * (unit === 'd' ? 24 : 1);
}
