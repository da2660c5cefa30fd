/** Rows of the tests that `logquay init` writes, and what the endpoints have to make of them. */
import { Document, isMap, isSeq } from 'yaml';

import {
  keySpellings,
  levelOf,
  type NamedType,
  type RoleField,
  type Roles,
  type SqlType,
  type StructField,
  type TimeRole,
  PER_SECOND,
} from '@logquay/googlesql/types';
import { countable, type EndpointText, type ShapedTable, type Tenant } from './endpoint-text';

export type SampleRow = Readonly<Record<string, unknown>>;

/** Rows, and the table of tests that has them: of a wildcard the table of one day. */
export interface Sample {
  readonly table: string;
  readonly rows: readonly SampleRow[];
  /** A file beside the tests; null: they are written into the tests. */
  readonly file: string | null;
}

const HOUR = 3_600_000;
const FIRST = Date.parse('2026-01-02T10:00:00Z');
const SEVERITIES = {
  words: ['INFO', 'ERROR', 'INFO'],
  otel: [9, 17, 9],
  pino: [30, 50, 30],
  syslog: [6, 3, 6],
  http: [200, 500, 200],
} as const;

/** Three rows in the columns that play a part, an hour between them; the second one is another tenant's. */
export function madeUpRows(
  { columns }: ShapedTable,
  { time, message, severity }: Roles,
  tenant: Tenant | null,
): SampleRow[] {
  return [0, 1, 2].map((i) => {
    const row: Record<string, unknown> = {};
    if (time !== null) put(row, columns, time.path, timeValue(FIRST + i * HOUR, time));
    if (message !== null) put(row, columns, message.path, ['first', 'second', 'third'][i]);
    if (severity !== null) {
      const value = SEVERITIES[severity.scale][i] ?? 0;
      put(row, columns, severity.path, severity.type.kind === 'STRING' ? String(value) : value);
    }
    if (tenant !== null) put(row, columns, pathOf(tenant), tenantValue(tenant, i % 2), tenant);
    return row;
  });
}

/** The rows of a preset, of two tenants in turn where they do not say whose they are. */
export function withTenants(
  rows: readonly SampleRow[],
  { columns }: ShapedTable,
  tenant: Tenant | null,
): readonly SampleRow[] {
  if (tenant === null || rows.every((row) => tenantOfRow(row, tenant) !== undefined)) return rows;
  return structuredClone(rows).map((row: Record<string, unknown>, i) => {
    put(row, columns, pathOf(tenant), tenantValue(tenant, i % 2), tenant);
    return row;
  });
}

function timeValue(milliseconds: number, { type, unit }: TimeRole): unknown {
  const text = new Date(milliseconds).toISOString().replace('.000Z', '');
  if (unit === null) return type.kind === 'DATETIME' ? text : `${text}Z`;
  return BigInt(milliseconds / 1000) * BigInt(PER_SECOND[unit]);
}

function tenantValue({ type }: Tenant, which: number): unknown {
  return type === 'integer' ? which + 1 : ['a', 'b'][which];
}

function pathOf({ path }: Tenant): readonly string[] {
  const steps = path.steps.map(({ name }) => name);
  return path.kind === 'json' ? [...steps, ...path.keys] : steps;
}

/** Sets a value in the records, lists and JSON of a row. */
function put(
  row: Record<string, unknown>,
  columns: readonly StructField[],
  [name = '', ...rest]: readonly string[],
  value: unknown,
  tenant: Tenant | null = null,
): void {
  const type = columns.find((column) => column.name === name)?.type;
  const list = type?.kind === 'ARRAY';
  if (rest.length === 0) {
    row[name] = list ? [tenant?.path.kind === 'pair' ? pairWith(tenant, value) : value] : value;
    return;
  }
  const known = list ? (row[name] as unknown[] | undefined)?.[0] : row[name];
  const inner = (known ?? {}) as Record<string, unknown>;
  row[name] = list ? [inner] : inner;
  put(inner, type === undefined ? [] : fieldsIn(type), rest, value, tenant);
}

function pairWith({ path }: Tenant, value: unknown): unknown {
  if (path.kind !== 'pair') return value;
  const { key, pair, member } = path;
  return { [pair.key.name]: key, [pair.value.name]: member === null ? value : { [member.name]: value } };
}

function fieldsIn(type: SqlType): readonly StructField[] {
  const record = type.kind === 'ARRAY' ? type.element : type;
  return record.kind === 'STRUCT' ? record.fields : [];
}

/** What a row has at the end of a path; of lists the first element. */
function valueAt(row: SampleRow, path: readonly string[]): unknown {
  return path.reduce<unknown>((inner, name) => {
    const one: unknown = Array.isArray(inner) ? inner[0] : inner;
    return (one as Readonly<Record<string, unknown>> | null | undefined)?.[name];
  }, row);
}

function tenantOfRow(row: SampleRow, tenant: Tenant): unknown {
  const { path } = tenant;
  if (path.kind === 'json') {
    const json = valueAt(
      row,
      path.steps.map(({ name }) => name),
    );
    const values = keySpellings(path.keys).map((keys) => valueAt({ json }, ['json', ...keys]));
    return values.find((value) => value !== undefined && value !== null);
  }
  const found = valueAt(row, pathOf(tenant));
  if (path.kind !== 'pair') return found;
  const pairs = found as readonly SampleRow[] | undefined;
  const value = pairs?.find((one) => one[path.pair.key.name] === path.key)?.[path.pair.value.name];
  return path.member === null ? value : (value as SampleRow | undefined)?.[path.member.name];
}

/** Milliseconds since the epoch. */
function timeOf(row: SampleRow, time: TimeRole): number {
  const value = valueAt(row, time.path);
  if (time.unit !== null) return (Number(value) / PER_SECOND[time.unit]) * 1000;
  const text = String(value);
  return Date.parse(/(?:Z|[+-]\d\d:\d\d)$/.test(text) ? text : `${text}Z`);
}

/** A file of tests. */
export function testFileText(table: ShapedTable, sample: Sample, tests: readonly object[]): string {
  const { file, rows } = sample;
  const names = new Set(rows.flatMap((row) => Object.keys(row)));
  const columns = table.columns.filter(({ name }) => names.has(name));
  const withoutEmpty = tests.map((test) => {
    const { params = {}, ...rest } = test as { readonly params?: object };
    return Object.keys(params).length === 0 ? rest : test;
  });
  const document = new Document(
    {
      // Behind all rows: a default of a start would count from now.
      clock: '2026-01-03T00:00:00Z',
      schema: { [sample.table]: { fields: columns.map(restField) } },
      tables: { [sample.table]: file === null ? rows : { file } },
      tests: withoutEmpty,
    },
    { aliasDuplicateObjects: false },
  );
  for (const place of [
    ['schema', sample.table, 'fields'],
    ['tables', sample.table],
  ]) {
    const list = document.getIn(place);
    if (isSeq(list)) for (const item of list.items) if (isMap(item)) item.flow = true;
  }
  return document.toString({ lineWidth: 120, flowCollectionPadding: true });
}

/** A column in the form of BigQuery's REST API. */
export function restField({ name, type }: NamedType): object {
  const item = type.kind === 'ARRAY' ? type.element : type;
  const fields = item.kind === 'STRUCT' ? item.fields : [];
  return {
    name,
    type: item.kind === 'STRUCT' ? 'RECORD' : item.kind,
    ...(type.kind === 'ARRAY' ? { mode: 'REPEATED' } : {}),
    ...(fields.length === 0 ? {} : { fields: fields.map((field) => restField({ ...field, name: field.name ?? '' })) }),
  };
}

/** Rows of the tenant of the first one, and a tenant of others. */
function owned(rows: readonly SampleRow[], tenant: Tenant | null) {
  if (tenant === null) return { rows, params: {}, other: null };
  const own = tenantOfRow(rows[0] ?? {}, tenant);
  const other = rows.map((row) => tenantOfRow(row, tenant)).find((value) => value !== own) ?? null;
  const mine = rows.filter((row) => tenantOfRow(row, tenant) === own);
  return { rows: mine, params: { [tenant.parameter]: own }, other };
}

export function testsOfRows({ roles, cte }: EndpointText, { rows }: Sample, tenant: Tenant | null): readonly object[] {
  const { time } = roles;
  const { rows: own, params, other } = owned(rows, tenant);
  const times = time === null ? [] : own.map((row) => timeOf(row, time));
  const instant = (milliseconds: number): string => new Date(milliseconds).toISOString();
  const [oldest, newest] = [Math.min(...times), Math.max(...times)];
  return [
    {
      name: 'gives the newest rows first',
      params,
      ...(time === null || time.path.length > 1
        ? { count: own.length }
        : {
            only: time.path,
            rows: [...own]
              .sort((a, b) => timeOf(b, time) - timeOf(a, time))
              .map((row) => ({ [time.path[0] ?? '']: valueAt(row, time.path) })),
          }),
    },
    ...(time === null
      ? []
      : [
          {
            name: 'is bounded in time, without the start and with the end',
            params: { ...params, iso_timestamp_start: instant(oldest), iso_timestamp_end: instant(newest) },
            count: times.filter((one) => one > oldest).length,
          },
        ]),
    {
      name: 'takes a query of the caller',
      params,
      sql: `SELECT COUNT(*) AS n FROM ${cte}`,
      rows: [{ n: own.length }],
    },
    ...testsOfTenant(params, other),
  ];
}

function testsOfTenant(own: object, other: unknown): readonly object[] {
  const [[parameter, value] = []] = Object.entries(own);
  if (parameter === undefined || other === null) return [];
  return [
    {
      name: 'refuses another tenant to a key that pins one',
      key: { pins: { [parameter]: String(value) } },
      params: { [parameter]: other },
      error: 'accessDenied',
    },
  ];
}

export function testsOfCounts(
  { roles }: EndpointText,
  { rows }: Sample,
  tenant: Tenant | null,
  by: string | null,
): readonly object[] {
  const { rows: own, params, other } = owned(rows, tenant);
  const counts = new Map<string, { readonly keys: object; count: number }>();
  for (const row of own) {
    const keys = keysOf(row, roles, by);
    const text = JSON.stringify(keys);
    const known = counts.get(text) ?? { keys, count: 0 };
    counts.set(text, { keys, count: known.count + 1 });
  }
  const counted = [...counts].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, { keys, count }]) => ({ ...keys, count }));
  return [{ name: 'counts the rows of each hour', params, rows: counted }, ...testsOfTenant(params, other)];
}

function keysOf(row: SampleRow, roles: Roles, by: string | null): object {
  const { time } = roles;
  const hour = time === null ? {} : { hour: `${new Date(timeOf(row, time)).toISOString().slice(0, 13)}:00:00Z` };
  if (by !== null) return { ...hour, [by]: row[by] };
  const severity = countable(roles);
  if (severity === null) return hour;
  const value = valueAt(row, severity.path);
  const isWord = severity.scale === 'words' && (severity as RoleField).type.kind === 'STRING';
  return { ...hour, severity: isWord ? String(value).trim().toLowerCase() : levelOf(severity.scale, value) };
}
