import { instantText, readInstant } from '../../time/instant';

const DATE = /^\d{4}-\d{2}-\d{2}$/;
const INSTANT = /^\d{4}-\d{2}-\d{2}([Tt ]\d{2}:\d{2}(:\d{2}([.,]\d{1,6})?)?([Zz]|[+\- ]\d{2}(:?\d{2})?)?)?$/;

/** `YYYY-MM-DD` of a day that exists, from year 1 to 9999; null for anything else. */
export function readDateText(text: string): string | null {
  return DATE.test(text) && typeof readInstant(text) === 'bigint' ? text : null;
}

/**
 * The instant that the text names, UTC where it names no zone, as `YYYY-MM-DDTHH:MM:SS.ffffffZ`; null for anything else.
 * 24:00 and second 60 are refused: BigQuery knows neither. In UTC it is within the years 1 to 9999, TIMESTAMP's range.
 */
export function readInstantText(text: string): string | null {
  const micros = INSTANT.test(text) ? readInstant(text) : 'spelling';
  return typeof micros === 'bigint' ? instantText(micros) : null;
}
