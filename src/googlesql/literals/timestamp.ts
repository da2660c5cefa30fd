/** TIMESTAMP from text, as CAST and literals read it with the default zone UTC. */
import { civilMicros, timestampParts } from './civil';
import { timeZone, toUtc } from './time-zone';

/** The first and the last instant of TIMESTAMP, in microseconds since the epoch. */
export const FIRST_INSTANT = -62_135_596_800_000_000n;
export const LAST_INSTANT = 253_402_300_799_999_999n;

/**
 * Microseconds since the epoch, or null where the text is not a timestamp. After the time there may be `Z`, an offset
 * (`+05`, `-5:30`, `+0530`), ` UTC` with or without an offset, or a space and a zone's name. A date alone takes a
 * space and an offset, nothing else.
 */
export function timestampMicros(text: string): bigint | null {
  const parts = timestampParts(text);
  if (parts === null) return null;
  const offsetAt = zoneOf(parts.zone, parts.hasTime);
  if (offsetAt === null) return null;
  const micros = toUtc(civilMicros(parts.civil), offsetAt);
  return micros < FIRST_INSTANT || micros > LAST_INSTANT ? null : micros;
}

function zoneOf(text: string, hasTime: boolean): ((utc: bigint) => bigint) | null {
  if (text === '') return UTC;
  if (!hasTime) return /^[ Tt][+-]/.test(text) ? timeZone(text.slice(1)) : null;
  const rest = text.startsWith(' UTC') ? text.slice(4) : text;
  if (rest === '' || rest === 'Z' || rest === 'z') return UTC;
  if (/^[+-]/.test(rest)) return timeZone(rest);
  return /^ [^+-]/.test(rest) ? timeZone(rest.slice(1)) : null;
}

const UTC = (): bigint => 0n;
