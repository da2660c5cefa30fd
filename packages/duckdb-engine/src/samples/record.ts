import type { RestField } from '@logquay/googlesql/types';
import { storedType } from '../data/field-sql';
import { quoteName, quoteText } from '../sql';

/** SQL for a field; an object for a record; `when`: the record is there in those rows only. */
export type Value = string | Shape | Optional;
export interface Shape {
  readonly [field: string]: Value;
}
class Optional {
  constructor(
    readonly condition: string,
    readonly value: Shape,
  ) {}
}

/** A record that rows have where the SQL condition holds. */
export function when(condition: string, value: Shape): Optional {
  return new Optional(condition, value);
}

/**
 * The value of a field: lists of one record as the log pipeline stores them, [] and NULL for what the shape leaves out.
 *
 * @param asElements the lists of `singleLists` as their elements
 */
export function fieldSql(field: RestField, value: Value | undefined, asElements: boolean): string {
  const type = storedType(field);
  if (value === undefined) return field.mode === 'REPEATED' ? `CAST([] AS ${type})` : `CAST(NULL AS ${type})`;
  if (value instanceof Optional) {
    return `CASE WHEN ${value.condition} THEN ${fieldSql(field, value.value, false)} ELSE ${fieldSql(field, undefined, false)} END`;
  }
  if (typeof value === 'string') return `CAST(${value} AS ${type})`;
  for (const name of Object.keys(value)) {
    if (!field.fields.some((inner) => inner.name === name)) throw new Error(`${field.name} has no field ${name}`);
  }
  const parts = field.fields.map(
    (inner) => `${quoteName(inner.name)} := ${fieldSql(inner, value[inner.name], asElements)}`,
  );
  const record = `struct_pack(${parts.join(', ')})`;
  return field.mode === 'REPEATED' && !asElements ? `[${record}]` : record;
}

/** Paths of the lists that have one element in every row. */
export function singleLists(fields: readonly RestField[], shape: Shape, prefix = ''): readonly string[] {
  return fields.flatMap((field) => {
    const [path, value] = [`${prefix}${field.name}`, shape[field.name]];
    if (value === undefined || typeof value === 'string' || value instanceof Optional) return [];
    return [...(field.mode === 'REPEATED' ? [path] : []), ...singleLists(field.fields, value, `${path}.`)];
  });
}

/**
 * SQL expressions that pick values for the sample row number `i`. A pick depends on the row, its table (column `salt`)
 * and the name of the pick alone: the same rows on every start, but for the clock.
 */

/** One of the texts; an item with a weight comes up so many times as often, and null is SQL NULL. */
export function pick(name: string, items: readonly (string | null | readonly [string | null, number])[]): string {
  const texts = items.flatMap((item) => {
    const [text, weight] = typeof item === 'object' && item !== null ? item : [item, 1];
    return Array.from({ length: weight }, () => (text === null ? 'NULL' : quoteText(text)));
  });
  return pickSql(name, texts);
}

/** One of the SQL expressions. Each is evaluated for every row: constants and columns, please. */
function pickSql(name: string, expressions: readonly string[]): string {
  return `[${expressions.join(', ')}][${below(name, expressions.length)} + 1]`;
}

/** An integer from 0 up to, not including, `bound`. */
export function below(name: string, bound: number): string {
  return `(${hash(name)} % ${bound})::BIGINT`;
}

/** An integer between both, inclusive. */
export function between(name: string, low: number, high: number): string {
  return `(${low} + ${below(name, high - low + 1)})`;
}

/** True for so many rows of a hundred. */
export function chance(name: string, percent: number): string {
  return `(${hash(name)} % 100 < ${percent})`;
}

/** Lower-case hexadecimal digits, at most 32. */
export function hex(name: string, digits: number): string {
  return `left(md5(concat(salt, i, ${quoteText(name)})), ${digits})`;
}

export function uuid(name: string): string {
  return `CAST(CAST(md5(concat(salt, i, ${quoteText(name)})) AS UUID) AS VARCHAR)`;
}

/** Text with `{column}` places, as SQL. A NULL comes out empty. */
export function text(template: string): string {
  const parts = template.split(/\{(\w+)\}/).map((part, i) => (i % 2 === 1 ? part : part === '' ? '' : quoteText(part)));
  return `concat(${parts.filter((part) => part !== '').join(', ')})`;
}

function hash(name: string): string {
  return `hash(i, salt, ${quoteText(name)})`;
}

/** Callers, their addresses and clients. Addresses are from the documentation ranges, names from reserved domains. */

const AGENTS = [
  'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36',
  'Mozilla/5.0 (iPhone; CPU iPhone OS 19_1 like Mac OS X) AppleWebKit/605.1.15 Mobile/15E148',
  'Mozilla/5.0 (X11; Linux x86_64; rv:143.0) Gecko/20100101 Firefox/143.0',
  'node',
  'curl/8.14.1',
  'Dart/3.9 (dart:io)',
  'python-httpx/0.28.1',
] as const;

const CLIENT_LIBRARIES = ['client-js/2.58.0', 'client-js/2.57.4', 'client-flutter/2.10.0', null, null] as const;

const PEOPLE = ['ada', 'grace', 'linus', 'margaret', 'ken', 'radia'] as const;

/** Of every place: country, continent, city, region, region code, time zone, airport, network number, network. */
const PLACES = [
  ['DE', 'EU', 'Frankfurt am Main', 'Hesse', 'HE', 'Europe/Berlin', 'FRA', 64496, 'Example Netz'],
  ['GB', 'EU', 'London', 'England', 'ENG', 'Europe/London', 'LHR', 64497, 'Example Telecom'],
  ['US', 'NA', 'Ashburn', 'Virginia', 'VA', 'America/New_York', 'IAD', 64498, 'Example Cable'],
  ['US', 'NA', 'San Jose', 'California', 'CA', 'America/Los_Angeles', 'SJC', 64499, 'Example Fiber'],
  ['SG', 'AS', 'Singapore', 'Singapore', 'SG', 'Asia/Singapore', 'SIN', 64500, 'Example Broadband'],
  ['BR', 'SA', 'São Paulo', 'São Paulo', 'SP', 'America/Sao_Paulo', 'GRU', 64501, 'Exemplo Telecom'],
] as const;

/** Columns `ip`, `agent`, `library`, `person`, `person_id`. */
export const VISITOR: Readonly<Record<string, string>> = {
  ip: pickSql('ip', [
    `concat('203.0.113.', hash(i, 'ip1') % 254 + 1)`,
    `concat('198.51.100.', hash(i, 'ip2') % 254 + 1)`,
    `concat('192.0.2.', hash(i, 'ip3') % 254 + 1)`,
    `concat('2001:db8::', lower(to_hex(hash(i, 'ip4') % 65535)))`,
  ]),
  agent: pick('agent', AGENTS),
  library: pick('library', CLIENT_LIBRARIES),
  person: pick('person', PEOPLE),
};

/** Column `place`, to be read with `placeField`. */
export const PLACE: Readonly<Record<string, string>> = {
  place: `(hash(i, salt, 'place') % ${PLACES.length})::BIGINT + 1`,
};

/** A person keeps one id. Needs column `person`. */
export const PERSON_ID = `CAST(CAST(md5(person) AS UUID) AS VARCHAR)`;

const PLACE_FIELDS = [
  'country',
  'continent',
  'city',
  'region',
  'regionCode',
  'timezone',
  'colo',
  'asn',
  'network',
] as const;

export function placeField(name: (typeof PLACE_FIELDS)[number]): string {
  const index = PLACE_FIELDS.indexOf(name);
  const items = PLACES.map((place) => {
    const item = place[index]!;
    return typeof item === 'number' ? String(item) : `'${item}'`;
  });
  return `[${items.join(', ')}][place]`;
}

/** The instant as the header `Date` writes it. */
export const HTTP_DATE = `strftime(t, '%a, %d %b %Y %H:%M:%S GMT')`;
/** ISO 8601 with milliseconds, as the services write time into their own records. */
export const ISO_MILLIS = `strftime(t, '%Y-%m-%dT%H:%M:%S.%gZ')`;
