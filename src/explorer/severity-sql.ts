/** `severityOf` as an expression of GoogleSQL, over the fields that the rows have. */
import type { NamedType, SqlType } from '../googlesql/types';
import { LEVEL_PATHS, LEVEL_WORDS, STATUS_PATHS } from './severity';

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
