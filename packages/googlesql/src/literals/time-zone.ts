/** Time zones as GoogleSQL names them: `+05:30`, `-8`, `UTC+3`, or a name of the zone database. */
import { LRUCache } from 'lru-cache';

const OFFSET = /^(?:UTC)?([+-])(\d{1,2})(?::?(\d{1,2}))?$/;
const MAX_OFFSET_MINUTES = 14 * 60;

/** A function from UTC microseconds to the zone's offset in microseconds, or null for an unknown zone. */
export function timeZone(name: string): ((utc: bigint) => bigint) | null {
  const match = OFFSET.exec(name);
  if (match !== null) {
    const minutes = Number(match[2]) * 60 + Number(match[3] ?? 0);
    if (minutes > MAX_OFFSET_MINUTES || Number(match[3] ?? 0) > 59) return null;
    const offset = BigInt(match[1] === '-' ? -minutes : minutes) * 60_000_000n;
    return () => offset;
  }
  const clock = clockOf(name);
  if (clock === null) return null;
  return (utc) => {
    const millis = utc / 1000n - (utc % 1000n < 0n ? 1n : 0n);
    return BigInt(clock(Number(millis)) - Math.floor(Number(millis) / 1000) * 1000) * 1000n;
  };
}

/**
 * UTC microseconds of what a clock in the zone shows. Where the clock shows a time twice, the first; where it skips
 * it, the offset before the change counts on.
 */
export function toUtc(local: bigint, offsetAt: (utc: bigint) => bigint): bigint {
  const day = 86_400_000_000n;
  const before = offsetAt(local - day);
  const early = local - before;
  const after = offsetAt(early);
  if (after === before) return early;
  const late = local - after;
  return offsetAt(late) === after ? late : early;
}

/** From UTC milliseconds to what a zone's clock shows, in whole seconds, as milliseconds of a UTC clock. */
type Clock = (utcMillis: number) => number;

/** By the names that there are: each takes as long to look for as a short query takes to be translated. */
const CLOCKS = new LRUCache<string, Clock>({ max: 64 });

function clockOf(name: string): Clock | null {
  const clock = CLOCKS.get(name) ?? newClock(name);
  if (clock !== null) CLOCKS.set(name, clock);
  return clock;
}

function newClock(name: string): Clock | null {
  const known = KNOWN.get(name.toLowerCase());
  if (!/^[A-Za-z]/.test(name) || name === name.toLowerCase() || (known !== undefined && known !== name)) return null;
  let format: Intl.DateTimeFormat;
  try {
    format = new Intl.DateTimeFormat('en-US', {
      timeZone: name,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
      era: 'short',
    });
  } catch {
    return null;
  }
  return (utcMillis) => {
    const part: Partial<Record<Intl.DateTimeFormatPartTypes, string>> = {};
    for (const { type, value } of format.formatToParts(utcMillis)) part[type] = value;
    const year = Number(part.year);
    const date = new Date(0);
    date.setUTCFullYear(part.era === 'BC' ? 1 - year : year, Number(part.month) - 1, Number(part.day));
    return date.setUTCHours(Number(part.hour), Number(part.minute), Number(part.second));
  };
}

/** Names are spelt exactly, although JavaScript would forgive. */
const KNOWN: ReadonlyMap<string, string> = new Map(
  Intl.supportedValuesOf('timeZone').map((name) => [name.toLowerCase(), name]),
);
