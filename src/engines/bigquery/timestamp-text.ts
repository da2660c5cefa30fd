/**
 * A TIMESTAMP of the REST API as microseconds since the epoch. Asked for integers, BigQuery sends integers; services
 * beside it send seconds with a fraction or an exponent, or a date and time as text inside records.
 */
import { MalformedRow } from './malformed';

const INTEGER = /^-?\d{1,20}$/;
const SECONDS = /^(-?)(\d+)(?:\.(\d*))?(?:[eE]([+-]?\d{1,2}))?$/;
const DATE_TIME =
  /^(\d{4})-(\d{2})-(\d{2})[T ](\d{2}):(\d{2}):(\d{2})(?:\.(\d{1,12}))?\s*(?:(?:Z|UTC)|([+-])(\d{2}):?(\d{2})?)?$/;

/** @throws MalformedRow for text of none of these forms. */
export function timestampMicros(text: string): bigint {
  if (INTEGER.test(text)) return BigInt(text);
  const seconds = SECONDS.exec(text);
  if (seconds !== null) return fromSeconds(seconds);
  const parts = DATE_TIME.exec(text);
  if (parts === null) throw new MalformedRow();
  return fromDateTime(parts);
}

/** ISO 8601 text in UTC with six digits of a fraction. @throws MalformedRow beyond the years 1 to 9999 */
export function isoOfMicros(micros: bigint): string {
  const fraction = ((micros % 1_000_000n) + 1_000_000n) % 1_000_000n;
  const date = new Date(Number((micros - fraction) / 1000n));
  if (Number.isNaN(date.getTime()) || date.getUTCFullYear() < 1 || date.getUTCFullYear() > 9999)
    throw new MalformedRow();
  return `${date.toISOString().slice(0, 19)}.${fraction.toString().padStart(6, '0')}Z`;
}

/** Seconds in decimal notation, shifted by its exponent and cut at the microsecond. */
function fromSeconds([, sign, whole = '', fraction = '', exponent = '0']: RegExpExecArray): bigint {
  const point = Math.max(whole.length + Number(exponent) + 6, 0);
  const digits = (whole + fraction).padEnd(point, '0').slice(0, point);
  const micros = BigInt(digits === '' ? '0' : digits);
  return sign === '-' ? -micros : micros;
}

function fromDateTime(parts: RegExpExecArray): bigint {
  const [year, month, day, hour, minute, second] = parts.slice(1, 7).map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  const [fraction = '', sign, offsetHours = '0', offsetMinutes = '0'] = parts.slice(7);
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  // Date carries the 31st of February and the 25th hour over.
  if (date.getUTCMonth() !== month - 1 || hour > 23 || minute > 59 || second > 59) throw new MalformedRow();
  date.setUTCHours(hour, minute, second);
  const offset = (Number(offsetHours) * 60 + Number(offsetMinutes)) * (sign === '-' ? -1 : 1);
  return BigInt(date.getTime() - offset * 60_000) * 1000n + BigInt(fraction.padEnd(6, '0').slice(0, 6));
}
