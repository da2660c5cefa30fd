/** Values of the four types of dates and times, from the texts of their literals. */
import type { SqlType } from '../types';
import { datetimeText, dateText, timeText } from './civil';
import { timestampMicros } from './timestamp';

const READERS = {
  DATE: dateText,
  TIME: timeText,
  DATETIME: datetimeText,
  TIMESTAMP: (text: string) => timestampMicros(text)?.toString() ?? null,
};

export type TemporalKind = keyof typeof READERS;

export function isTemporal(kind: SqlType['kind']): kind is TemporalKind {
  return Object.hasOwn(READERS, kind);
}

/** The canonical value: ISO text, of a TIMESTAMP its microseconds since the epoch; null: no value of that type. */
export function temporalValue(kind: TemporalKind, text: string): string | null {
  return READERS[kind](text);
}
