/**
 * A TIMESTAMP of the REST API as microseconds since the epoch. Asked for integers, BigQuery sends integers; services
 * beside it send seconds with a fraction or an exponent, or a date and time as text inside records.
 */
import { isInCalendar } from '../../time/calendar';
import { instantText, readInstant } from '../../time/instant';
import { MalformedRow } from './malformed';

const INTEGER = /^-?\d{1,20}$/;
const SECONDS = /^(-?)(\d+)(?:\.(\d*))?(?:[eE]([+-]?\d{1,2}))?$/;
const DATE_TIME = /^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}:\d{2}(\.\d{1,12})?(\s*(Z|UTC)|\s*[+-]\d{2}(:?\d{2})?)?$/;

/** @throws MalformedRow for text of none of these forms. */
export function timestampMicros(text: string): bigint {
  if (INTEGER.test(text)) return BigInt(text);
  const seconds = SECONDS.exec(text);
  if (seconds !== null) return fromSeconds(seconds);
  const micros = DATE_TIME.test(text) ? readInstant(text.replace(/\s+(?=[+\-ZU])/, '')) : 'spelling';
  if (typeof micros !== 'bigint') throw new MalformedRow();
  return micros;
}

/** ISO 8601 text in UTC with six digits of a fraction. @throws MalformedRow beyond the years 1 to 9999 */
export function isoOfMicros(micros: bigint): string {
  if (!isInCalendar(micros)) throw new MalformedRow();
  return instantText(micros);
}

/** Seconds in decimal notation, shifted by its exponent and cut at the microsecond. */
function fromSeconds([, sign, whole = '', fraction = '', exponent = '0']: RegExpExecArray): bigint {
  const point = Math.max(whole.length + Number(exponent) + 6, 0);
  const digits = (whole + fraction).padEnd(point, '0').slice(0, point);
  const micros = BigInt(digits === '' ? '0' : digits);
  return sign === '-' ? -micros : micros;
}
