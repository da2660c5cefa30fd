/** `severityOf` as an expression of GoogleSQL, over the fields that the rows have. */
import { type Json, type JsonObject, member, recordIn } from './exact-json';
import type { NamedType, SqlType } from '@logquay/googlesql/types';

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

/** The severity of a row of `alias` as a STRING, NULL where it says nothing. null: no field tells it */
export function severityExpression(columns: readonly NamedType[], alias: string): string | null {
  const fields = (paths: readonly (readonly string[])[]): string[] =>
    paths.flatMap((path) => {
      const field = fieldExpression(columns, alias, path);
      return field === null ? [] : [field.sql];
    });
  const levels = fields(LEVEL_PATHS).flatMap((field) =>
    LEVEL_WORDS.map(
      ([severity, words]) =>
        `WHEN LOWER(CAST(${field} AS STRING)) IN (${words.map((word) => `'${word}'`).join(', ')}) THEN '${severity}'`,
    ),
  );
  const statuses = fields(STATUS_PATHS).flatMap((field) => {
    const status = `SAFE_CAST(CAST(${field} AS STRING) AS INT64)`;
    return [
      `WHEN ${status} BETWEEN 500 AND 599 THEN 'error'`,
      `WHEN ${status} BETWEEN 400 AND 499 THEN 'warning'`,
      `WHEN ${status} BETWEEN 100 AND 399 THEN 'info'`,
    ];
  });
  const cases = [...levels, ...statuses];
  return cases.length === 0 ? null : `CASE ${cases.join(' ')} END`;
}

/**
 * A nested field of a row, of the first record of each array. null: there is no such field, or it is a record itself
 */
export function fieldExpression(
  columns: readonly NamedType[],
  alias: string,
  path: readonly string[],
): { readonly sql: string; readonly type: SqlType } | null {
  let sql = alias;
  let fields: readonly { readonly name: string | null; readonly type: SqlType }[] = columns;
  let type: SqlType | null = null;
  for (const name of path) {
    const field = fields.find((one) => one.name === name);
    if (field === undefined) return null;
    sql += `${type?.kind === 'ARRAY' ? '[SAFE_OFFSET(0)]' : ''}.\`${name.replace(/[\\`]/g, '\\$&')}\``;
    ({ type } = field);
    const record = type.kind === 'ARRAY' ? type.element : type;
    fields = record.kind === 'STRUCT' ? record.fields : [];
  }
  return type === null || fields.length > 0 ? null : { sql, type };
}
