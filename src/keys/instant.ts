import { secondsOf } from '../time/calendar';
import { readInstant } from '../time/instant';

const INSTANT = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d{1,6})?)?(Z|[+-]\d{2}:\d{2})?)?$/;
const PERIOD = /^([1-9]\d{0,4})([mhdw])$/;
const UNITS = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };

/** Milliseconds since the epoch of an ISO 8601 date or instant, to the second, UTC without a zone; null: not valid. */
export function readExpiry(text: string): number | null {
  const micros = INSTANT.test(text) ? readInstant(text) : 'spelling';
  return typeof micros === 'bigint' ? secondsOf(micros) * 1000 : null;
}

/** An instant as above, or a period from now: `30m`, `12h`, `90d`, `4w`. */
export function readExpiryOption(text: string, now: number): number | null {
  const period = PERIOD.exec(text);
  if (period === null) return readExpiry(text);
  return now + Number(period[1]) * UNITS[period[2] as keyof typeof UNITS];
}
