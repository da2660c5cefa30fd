/** How grave a row is, by the role that tells it, in the page and as an expression of GoogleSQL. */
import {
  type Level,
  levelCondition,
  levelOf,
  type NamedType,
  type SeverityRole,
  type SqlType,
} from '@logquay/googlesql/types';
import { type JsonObject, valueAt } from './exact-json';

export type Severity = 'error' | 'warning' | 'info' | 'debug';

/** Gravest first. */
const LEVELS_OF: Readonly<Record<Severity, readonly Level[]>> = {
  error: ['emergency', 'alert', 'critical', 'error'],
  warning: ['warning'],
  info: ['notice', 'info'],
  debug: ['debug'],
};
export const SEVERITIES = Object.keys(LEVELS_OF) as Severity[];

/** null: the row says nothing of it. */
export function severityOf(row: JsonObject, role: SeverityRole | null): Severity | null {
  return role === null ? null : severityOfValue(role, valueAt(row, role.path));
}

export function severityOfValue({ scale }: Pick<SeverityRole, 'scale'>, value: unknown): Severity | null {
  const level = levelOf(scale, value);
  return level === null ? null : (SEVERITIES.find((one) => LEVELS_OF[one].includes(level)) ?? null);
}

/** The severity of a row of `alias` as a STRING, NULL where it says nothing. null: no field tells it */
export function severityExpression(
  columns: readonly NamedType[],
  role: SeverityRole | null,
  alias: string,
): string | null {
  const field = role === null ? null : fieldExpression(columns, alias, role.path);
  if (role === null || field === null) return null;
  const cases = SEVERITIES.map((one) => `WHEN ${levelCondition(field.sql, role, LEVELS_OF[one])} THEN '${one}'`);
  return `CASE ${cases.join(' ')} END`;
}

const quoted = (name: string): string => `\`${name.replace(/[\\`]/g, '\\$&')}\``;
const literal = (text: string): string => `'${text.replace(/[\\']/g, '\\$&').replace(/\n/g, '\\n')}'`;

/**
 * A nested field of a row: of the first record of each array, beside the key of a list of pairs, the text of a member of JSON.
 * null: there is no such field, or it is a record itself
 */
export function fieldExpression(
  columns: readonly NamedType[],
  alias: string,
  path: readonly string[],
): { readonly sql: string; readonly type: SqlType } | null {
  let sql = alias;
  let fields: readonly { readonly name: string | null; readonly type: SqlType }[] = columns;
  let type: SqlType | null = null;
  for (const [i, name] of path.entries()) {
    const field = fields.find((one) => one.name === name);
    if (field === undefined) {
      if (type?.kind !== 'ARRAY') return null;
      const value = fields.find((one) => one.name === 'value');
      if (value === undefined || !fields.some((one) => one.name === 'key')) return null;
      const key = literal(path.slice(i).join('.'));
      return { sql: `(SELECT p.value FROM UNNEST(${sql}) AS p WHERE p.key = ${key} LIMIT 1)`, type: value.type };
    }
    sql += `${type?.kind === 'ARRAY' ? '[SAFE_OFFSET(0)]' : ''}.${quoted(name)}`;
    ({ type } = field);
    if (type.kind === 'JSON' && i < path.length - 1) {
      const keys = path.slice(i + 1);
      // One in the other, or one key with dots.
      const paths = keys.length > 1 ? [keys, [keys.join('.')]] : [keys];
      const values = paths.map((names) => {
        const steps = names.map((one) => `.${JSON.stringify(one)}`).join('');
        return `JSON_VALUE(${sql}, ${literal(`$${steps}`)})`;
      });
      return {
        sql: values.length > 1 ? `COALESCE(${values.join(', ')})` : (values[0] ?? ''),
        type: { kind: 'STRING' },
      };
    }
    const record = type.kind === 'ARRAY' ? type.element : type;
    fields = record.kind === 'STRUCT' ? record.fields : [];
  }
  return type === null || fields.length > 0 ? null : { sql, type };
}
