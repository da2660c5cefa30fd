/** How grave a row is, by the role that tells it, in the page and as an expression of GoogleSQL. */
import {
  quotedName,
  fieldsOf,
  followPath,
  type Level,
  levelCondition,
  levelOf,
  type NamedType,
  type SeverityRole,
  type SqlType,
  textInJson,
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
  const found = followPath(columns, path);
  if (found === null) return null;
  const sql = found.steps.reduce((owner, { name }, i) => {
    const isList = found.steps[i - 1]?.type.kind === 'ARRAY';
    return `${owner}${isList ? '[SAFE_OFFSET(0)]' : ''}.${quotedName(name)}`;
  }, alias);
  if (found.kind === 'json') return { sql: textInJson(sql, found.keys), type: { kind: 'STRING' } };
  const type = found.kind === 'field' ? found.type : (found.member ?? found.pair.value).type;
  if (fieldsOf(type).length > 0) return null;
  if (found.kind === 'field') return { sql, type };
  const { key, pair, member } = found;
  const value = [pair.value, ...(member === null ? [] : [member])].map(({ name }) => `.${quotedName(name)}`).join('');
  const condition = `p.${quotedName(pair.key.name)} = ${literal(key)}`;
  return { sql: `(SELECT p${value} FROM UNNEST(${sql}) AS p WHERE ${condition} LIMIT 1)`, type };
}
