/** The stored queries that `logquay init` writes over a table. */
import { randomUUID } from 'node:crypto';

import { stringify } from 'yaml';
import { writtenName } from '@logquay/googlesql/syntax';

import type { TimePartitions } from '@logquay/duckdb-engine/contract';
import {
  type FieldPath,
  followPath,
  levelCondition,
  LEVELS,
  pathText,
  type Roles,
  segmentsOf,
  type SeverityRole,
  type TableSchema,
  textInJson,
  timeExpression,
  type TimeRole,
} from '@logquay/googlesql/types';
import { SOFT_RESERVED } from '../../endpoints/declaration';
import { fieldOf, partitionBound, pruningBounds, suffixBounds } from '../../endpoints/time-bounds';
import { cteName } from '../../endpoints/tables-endpoint';
import { RESERVED } from '../../keys/key';

/** A table as an endpoint is to read it. */
export interface ShapedTable extends TableSchema {
  /** What the table holds, in a sentence. */
  readonly about: string;
  /** The columns that play a part. */
  readonly roles: Roles;
  /** On BigQuery, by another time than the rows'; null: by none that is known. */
  readonly partitions: TimePartitions | null;
  /** Whether the name stands for one table for each day: `events_*`. */
  readonly daily: boolean;
}

/** The parameter that says whose rows are read. */
export interface Tenant {
  readonly parameter: string;
  readonly type: 'string' | 'integer';
  readonly path: FieldPath;
}

/** What can be said for the one who typed it. */
export class InitError extends Error {
  override readonly name = 'InitError';
}

/**
 * @param hint behind what is said of a field that is not there
 * @throws InitError for such a field, or for one that a key cannot pin
 */
export function tenantOf({ name, columns }: TableSchema, written: string, hint = ''): Tenant {
  const segments = segmentsOf(written) ?? [];
  // What has no column of its own has no type either.
  const typed = columns.filter((column) => column.name !== '_rest');
  const path = followPath(typed, segments);
  if (path === null) {
    const names = typed.map((column) => column.name).join(', ');
    throw new InitError(`--tenant: ${name} has no field ${written}. Its columns are ${names}.${hint}`);
  }
  const { kind } =
    path.kind === 'field' ? path.type : path.kind === 'json' ? STRING : (path.member ?? path.pair.value).type;
  if (kind !== 'STRING' && kind !== 'INT64')
    throw new InitError(`--tenant: ${written} is of type ${kind}. Allowed is a field of texts or whole numbers.`);
  const parameter = (segments.at(-1) ?? '').replace(/\W/g, '_').replace(/^(?=\d|$)/, '_');
  if (TAKEN.has(parameter.toLowerCase())) throw new InitError(`--tenant: a parameter cannot be called ${parameter}.`);
  return { parameter, type: kind === 'STRING' ? 'string' : 'integer', path };
}

const STRING = { kind: 'STRING' } as const;
/** Names that the endpoint has for something else. */
const TAKEN: ReadonlySet<string> = new Set([...RESERVED, ...SOFT_RESERVED, 'iso_timestamp_start', 'iso_timestamp_end']);

/** Whether a row is the tenant's. */
function isOwn({ parameter, path }: Tenant): string {
  const value = `@${parameter}`;
  const { steps } = path;
  let field = 't';
  let open = '';
  let inner = 0;
  for (const { name, type } of steps) {
    field = `${field}.${writtenName(name)}`;
    if (type.kind !== 'ARRAY') continue;
    const alias = `e${String(++inner)}`;
    open += `EXISTS (SELECT 1 FROM UNNEST(${field}) AS ${alias} WHERE `;
    field = alias;
  }
  const close = ')'.repeat(inner);
  if (path.kind === 'json') return `${open}${textInJson(field, path.keys)} = ${value}${close}`;
  if (path.kind === 'field') return `${open}${field} = ${value}${close}`;
  const { pair, key, member } = path;
  const found = [field, writtenName(pair.value.name), ...(member === null ? [] : [writtenName(member.name)])].join('.');
  return `${open}${field}.${writtenName(pair.key.name)} = '${key.replace(/['\\]/g, '\\$&')}' AND ${found} = ${value}${close}`;
}

/** Rows and their columns that play a part. */
export interface EndpointText {
  readonly sql: string;
  readonly cte: string;
  readonly roles: Roles;
}

/** Rows of a table, newest first, with a sandbox over them. */
export function rowsEndpoint(table: ShapedTable, name: string, tenant: Tenant | null): EndpointText {
  const { roles } = table;
  const { time } = roles;
  const cte = cteOf(table.name);
  const order = time === null ? '' : `\nORDER BY ${fieldOf(time)} DESC`;
  const settings = { name, description: table.about, max_rows: 1000, sandbox: true, ...logOf(roles) };
  const sql = `${headOf(table, settings, roles, tenant)}
${bodyOf(table, cte, roles, tenant)}
SELECT * FROM ${cte} AS t${order}
LIMIT 100
`;
  return { sql, cte, roles };
}

/**
 * How many rows there are by hour and severity, oldest first.
 *
 * @param by a column to count by; null: the severity, or nothing where there is none
 */
export function countsEndpoint(
  table: ShapedTable,
  name: string,
  tenant: Tenant | null,
  by: string | null,
): EndpointText {
  const { roles } = table;
  const { time } = roles;
  const cte = cteOf(table.name);
  const group = by ?? (countable(roles) === null ? null : 'severity');
  const hour = time === null ? [] : [`TIMESTAMP_TRUNC(${instantOf(time)}, HOUR) AS hour`];
  const counted = by === null ? severityOf(roles) : [`t.${writtenName(by)} AS ${writtenName(by)}`];
  const columns = [...hour, ...counted];
  const keys = columns.map((_, i) => String(i + 1)).join(', ');
  const what = [...(group === null ? [] : [group]), ...(time === null ? [] : ['hour'])].join(' and ');
  const description = `Rows of ${table.name} by ${what}, oldest first.`;
  const settings = { name, description, max_rows: 10_000 };
  const grouped = keys === '' ? '' : `\nGROUP BY ${keys}\nORDER BY ${keys}`;
  const sql = `${headOf(table, settings, roles, tenant)}
${bodyOf(table, cte, roles, tenant)}
SELECT ${[...columns, 'COUNT(*) AS count'].join(',\n  ')}
FROM ${cte} AS t${grouped}
`;
  return { sql, cte, roles };
}

function instantOf(time: TimeRole): string {
  const found = timeExpression(fieldOf(time), time);
  return time.type.kind === 'DATETIME' ? `TIMESTAMP(${found})` : found;
}

/** The severity, where a row has one at most. */
export function countable({ severity }: Roles): SeverityRole | null {
  return severity === null || severity.type.kind === 'ARRAY' || severity.path.length > 1 ? null : severity;
}

/** As a word, whatever it is written as. */
function severityOf(roles: Roles): readonly string[] {
  const severity = countable(roles);
  if (severity === null) return [];
  const field = fieldOf(severity);
  if (severity.scale === 'words' && severity.type.kind === 'STRING') return [`LOWER(TRIM(${field})) AS severity`];
  const text = severity.type.kind === 'JSON' ? `LAX_STRING(${field})` : field;
  const cases = LEVELS.map((level) => `    WHEN ${levelCondition(text, severity, [level])} THEN '${level}'`);
  return [`CASE\n${cases.filter((one) => !one.includes('WHEN FALSE')).join('\n')}\n  END AS severity`];
}

/** Files of stored queries must not have a CTE with the name of a table that the query reads. */
function cteOf(table: string): string {
  const plain = cteName(table.replace(/_?\*$/, ''));
  return plain.toLowerCase() === table.toLowerCase() ? `${plain}_rows` : plain;
}

function logOf({ time, message, severity, trace }: Roles): object {
  const log = {
    ...(time === null
      ? {}
      : { time: time.unit === null ? pathText(time.path) : { column: pathText(time.path), unit: time.unit } }),
    ...(message === null ? {} : { message: pathText(message.path) }),
    ...(severity === null ? {} : { severity: pathText(severity.path) }),
    ...(trace === null ? {} : { trace: pathText(trace.path) }),
  };
  return Object.keys(log).length === 0 ? {} : { log };
}

function headOf(table: ShapedTable, settings: object, { time }: Roles, tenant: Tenant | null): string {
  const timed = time !== null || table.partitions !== null || table.daily;
  const params = {
    ...(tenant === null
      ? {}
      : { [tenant.parameter]: { type: tenant.type, required: true, description: 'Whose rows: a key can pin it.' } }),
    ...(timed
      ? {
          iso_timestamp_start: {
            type: 'timestamp',
            // BigQuery refuses a query that bounds no partitions.
            ...(table.partitions?.required === true ? { default_lookback: '7d' } : {}),
            description: 'Rows strictly after this instant. Empty means no bound.',
          },
          iso_timestamp_end: {
            type: 'timestamp',
            description: 'Rows at or before this instant. Empty means no bound.',
          },
        }
      : {}),
  };
  const all = { id: randomUUID(), ...settings, ...(Object.keys(params).length === 0 ? {} : { params }) };
  return `/*\n${stringify(all, { lineWidth: 120 }).replaceAll('*/', '* /')}*/`;
}

const WHY_BOUNDS = `-- A bare column that is compared with parameters and constants lets BigQuery leave partitions out; '' is no bound.`;

function bodyOf(table: ShapedTable, cte: string, { time }: Roles, tenant: Tenant | null): string {
  const { name, partitions, daily, columns } = table;
  const kind = columns.find((column) => column.name === partitions?.column)?.type.kind ?? '';
  const isOther = partitions !== null && partitions.column !== time?.path.join('.');
  const conditions = [
    ...(tenant === null ? [] : [isOwn(tenant)]),
    ...(daily ? suffixBounds() : []),
    ...(isOther ? [partitionBound(partitions.column, kind)] : []),
    ...(time === null ? [] : pruningBounds(time)),
  ];
  const where = conditions.length === 0 ? '' : `\n  WHERE ${conditions.join('\n    AND ')}`;
  const why = conditions.length > (tenant === null ? 0 : 1) ? `${WHY_BOUNDS}\n` : '';
  return `${why}WITH ${cte} AS (\n  SELECT t.*\n  FROM ${writtenName(name)} AS t${where}\n)`;
}
