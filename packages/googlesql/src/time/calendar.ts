/**
 * The proleptic Gregorian calendar in UTC, years 1 to 9999 as in BigQuery. `Date` is not used: it stops at
 * milliseconds, takes 30 February and reads two-digit years as 19xx.
 */

export const SECOND = 1_000_000n;
export const DAY_SECONDS = 86_400;

/** The first and the last microsecond that a TIMESTAMP can hold. */
const FIRST = BigInt(daysOf(1, 1, 1) * DAY_SECONDS) * SECOND;
const LAST = BigInt(daysOf(10_000, 1, 1) * DAY_SECONDS) * SECOND - 1n;

export function isInCalendar(micros: bigint): boolean {
  return micros >= FIRST && micros <= LAST;
}

/** Days since 1970-01-01; counts from March so that the leap day is the last of its year. */
export function daysOf(year: number, month: number, day: number): number {
  const y = month > 2 ? year : year - 1;
  const era = Math.floor(y / 400);
  const yearOfEra = y - era * 400;
  const dayOfYear = Math.floor((153 * ((month + 9) % 12) + 2) / 5) + day - 1;
  const dayOfEra = yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear;
  return era * 146_097 + dayOfEra - 719_468;
}

export function civilOf(days: number): { year: number; month: number; day: number } {
  const shifted = days + 719_468;
  const era = Math.floor(shifted / 146_097);
  const dayOfEra = shifted - era * 146_097;
  const yearOfEra = Math.floor(
    (dayOfEra - Math.floor(dayOfEra / 1460) + Math.floor(dayOfEra / 36_524) - Math.floor(dayOfEra / 146_096)) / 365,
  );
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const fromMarch = Math.floor((5 * dayOfYear + 2) / 153);
  const month = fromMarch < 10 ? fromMarch + 3 : fromMarch - 9;
  return {
    year: yearOfEra + era * 400 + (month <= 2 ? 1 : 0),
    month,
    day: dayOfYear - Math.floor((153 * fromMarch + 2) / 5) + 1,
  };
}

/** Whether there is such a day, in years 1 to 9999. */
export function isDay(year: number, month: number, day: number): boolean {
  return year >= 1 && year <= 9999 && month >= 1 && month <= 12 && day >= 1 && day <= daysInMonth(year, month);
}

export function daysInMonth(year: number, month: number): number {
  return month === 12 ? 31 : daysOf(year, month + 1, 1) - daysOf(year, month, 1);
}

/** Whole seconds since the epoch, rounded towards the past. */
export function secondsOf(micros: bigint): number {
  const seconds = micros / SECOND;
  return Number(micros % SECOND < 0n ? seconds - 1n : seconds);
}

/** `2024-03-17`, `13:47:02` and `.123456` (empty when zero) of a moment. */
export function partsOf(micros: bigint): { date: string; clock: string; fraction: string } {
  const seconds = secondsOf(micros);
  const days = Math.floor(seconds / DAY_SECONDS);
  const { year, month, day } = civilOf(days);
  const rest = seconds - days * DAY_SECONDS;
  const fraction = micros - BigInt(seconds) * SECOND;
  const two = (n: number) => String(n).padStart(2, '0');
  return {
    date: `${String(year).padStart(4, '0')}-${two(month)}-${two(day)}`,
    clock: `${two(Math.floor(rest / 3600))}:${two(Math.floor(rest / 60) % 60)}:${two(rest % 60)}`,
    fraction: fraction === 0n ? '' : `.${String(fraction).padStart(6, '0')}`,
  };
}

/** ISO 8601 in UTC, `2024-03-17T13:47:02Z`, with six fraction digits when they are not zero. */
export function isoText(micros: bigint): string {
  const { date, clock, fraction } = partsOf(micros);
  return `${date}T${clock}${fraction}Z`;
}
