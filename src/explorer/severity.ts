import { type Json, type JsonObject, member, recordIn } from './exact-json';

export type Severity = 'error' | 'warning' | 'info' | 'debug';

/** Gravest first. */
export const SEVERITIES: readonly Severity[] = ['error', 'warning', 'info', 'debug'];

/** Where a row tells its level, and where the status of a response; the first that does counts. */
export const LEVEL_PATHS: readonly (readonly string[])[] = [
  ['level'],
  ['severity'],
  ['metadata', 'level'],
  ['metadata', 'parsed', 'error_severity'],
];
export const STATUS_PATHS: readonly (readonly string[])[] = [
  ['metadata', 'response', 'status_code'],
  ['status_code'],
  ['metadata', 'status'],
];

/** Levels in lower case, as services call them. */
export const LEVEL_WORDS: readonly (readonly [Severity, readonly string[]])[] = [
  ['error', ['error', 'fatal', 'panic', 'crit', 'critical', 'alert', 'emerg', 'emergency']],
  ['warning', ['warn', 'warning']],
  ['debug', ['debug', 'trace', 'debug1', 'debug2', 'debug3', 'debug4', 'debug5']],
  ['info', ['info', 'log', 'notice', 'statement']],
];

const BY_WORD: ReadonlyMap<string, Severity> = new Map(
  LEVEL_WORDS.flatMap(([severity, words]) => words.map((word) => [word, severity] as const)),
);

/** How grave a row is, by its level or by its response's status. null: it says nothing of that */
export function severityOf(row: JsonObject): Severity | null {
  for (const path of LEVEL_PATHS) {
    const level = valueAt(row, path);
    const found = typeof level === 'string' ? BY_WORD.get(level.toLowerCase()) : undefined;
    if (found !== undefined) return found;
  }
  const status = STATUS_PATHS.map((path) => Number(valueAt(row, path))).find((one) => one >= 100 && one < 600);
  if (status === undefined) return null;
  return status >= 500 ? 'error' : status >= 400 ? 'warning' : 'info';
}

/** A nested value, through lists of one record. */
export function valueAt(row: JsonObject, path: readonly string[]): Json | undefined {
  let value: Json | undefined = row;
  for (const name of path) value = member(recordIn(value), name);
  return value;
}
