/** The fields of rows, and the values that they have most often. */
import {
  fieldsOf as membersOf,
  pairOf,
  type NamedType,
  type SqlType,
  type StructField,
} from '@logquay/googlesql/types';
import { isObject, type Json, type JsonObject, pairsIn, valueAt, writeExactly } from './exact-json';
import { microsOf } from './time-range';

export interface Field {
  /** Names with dots. */
  readonly path: string;
  readonly names: readonly string[];
  readonly type: SqlType;
}

const MOST_FIELDS = 500;

/** Rows that are looked at for what JSON and lists of pairs hold. */
const MOST_READ = 200;

/** The fields of the types, records left out; those within JSON, and of pairs, as the rows have them. */
export function fieldsOf(types: readonly NamedType[], rows: readonly JsonObject[] = []): readonly Field[] {
  const found: Field[] = [];
  collect(types, [], found, rows.slice(0, MOST_READ));
  return found;
}

function collect(
  fields: readonly (NamedType | StructField)[],
  owner: readonly string[],
  found: Field[],
  rows: readonly JsonObject[],
): void {
  for (const { name, type } of fields) {
    if (name === null || found.length >= MOST_FIELDS) continue;
    const names = [...owner, name];
    const inner = innerOf(type, names, rows);
    if (inner.length > 0) collect(inner, names, found, rows);
    else found.push({ path: names.join('.'), names, type });
  }
}

function innerOf(
  type: SqlType,
  names: readonly string[],
  rows: readonly JsonObject[],
): readonly (NamedType | StructField)[] {
  const record = type.kind === 'ARRAY' ? type.element : type;
  const pair = pairOf(type);
  if (pair === null && record.kind !== 'JSON') return membersOf(type);
  const values = rows.map((row) => valueAt(row, names));
  if (pair === null) return typesOfRows(values.filter(isObject));
  const keys = values.flatMap((value) => (Array.isArray(value) ? (pairsIn(value as readonly Json[]) ?? []) : []));
  return [...new Set(keys.map(({ key }) => key))].map((name) => ({ name, type: pair.value.type }));
}

/** Types of rows of which no analysis is known: any number of 16 digits might be a time, one that is called so is. */
export function typesOfRows(rows: readonly JsonObject[]): NamedType[] {
  const names = [...new Set(rows.slice(0, 100).flatMap((row) => Object.keys(row)))];
  return names.map((name) => ({
    name,
    type: typeOfValues(
      name,
      rows.slice(0, 50).map((row) => row[name]),
    ),
  }));
}

function typeOfValues(name: string, values: readonly (Json | undefined)[]): SqlType {
  const found = values.filter((value) => value !== null && value !== undefined);
  const [value] = found;
  if (Array.isArray(value)) {
    return {
      kind: 'ARRAY',
      element: typeOfValues(
        name,
        found.flatMap((one) => (Array.isArray(one) ? (one as readonly Json[]) : [])),
      ),
    };
  }
  if (isObject(value)) return { kind: 'STRUCT', fields: typesOfRows(found.filter((one) => isObject(one))) };
  if (/(?:^|_)(?:timestamp|time|at)$/i.test(name) && microsOf(value) !== null) return { kind: 'TIMESTAMP' };
  if (typeof value === 'boolean') return { kind: 'BOOL' };
  if (typeof value === 'string' || value === undefined) return { kind: 'STRING' };
  return found.every((one) => typeof one === 'bigint' || Number.isInteger(one))
    ? { kind: 'INT64' }
    : { kind: 'FLOAT64' };
}

export interface ValueCount {
  readonly value: Json;
  readonly count: number;
}

export interface TopValues {
  readonly values: readonly ValueCount[];
  /** Rows in which the field has a value. */
  readonly present: number;
  readonly distinct: number;
  readonly total: number;
}

/** UTF-16 units of a text that are compared. */
const LONGEST_VALUE = 300;

/** The values that are there most often. @param most how many */
export function topValues(rows: readonly JsonObject[], names: readonly string[], most: number): TopValues {
  const counts = new Map<string, { readonly value: Json; count: number }>();
  let present = 0;
  for (const row of rows) {
    const value = valueAt(row, names);
    if (value === undefined || value === null || isObject(value)) continue;
    present++;
    const short = typeof value === 'string' && value.length > LONGEST_VALUE ? value.slice(0, LONGEST_VALUE) : value;
    const key = writeExactly(short).slice(0, 2 * LONGEST_VALUE);
    const known = counts.get(key);
    if (known === undefined) counts.set(key, { value, count: 1 });
    else known.count++;
  }
  const values = [...counts.values()].sort((a, b) => b.count - a.count).slice(0, most);
  return { values, present, distinct: counts.size, total: rows.length };
}

export const isNumeric = ({ kind }: SqlType): boolean => /^(?:INT64|FLOAT64|NUMERIC|BIGNUMERIC)$/.test(kind);

/** Rows that are looked at for fields that have a value. */
export const MOST_LOOKED_AT = 2000;

/** Paths of the fields that have a value in some of the first rows. */
export function presentIn(rows: readonly JsonObject[], fields: readonly Field[]): ReadonlySet<string> {
  const missing = new Set(fields);
  const found = new Set<string>();
  for (const row of rows.slice(0, MOST_LOOKED_AT)) {
    for (const field of missing) {
      const value = valueAt(row, field.names);
      if (value === undefined || value === null || (Array.isArray(value) && value.length === 0)) continue;
      found.add(field.path);
      missing.delete(field);
    }
    if (missing.size === 0) break;
  }
  return found;
}

/** How numbers lie. null: there are none */
export function spreadOf(
  rows: readonly JsonObject[],
  names: readonly string[],
): Readonly<Record<string, number>> | null {
  const all = rows.flatMap((row) => {
    const value = valueAt(row, names);
    return typeof value === 'number' || typeof value === 'bigint' ? Number(value) : [];
  });
  if (all.length === 0) return null;
  const sorted = Float64Array.from(all).sort();
  const at = (part: number): number => sorted[Math.min(sorted.length - 1, Math.ceil(part * sorted.length) - 1)] ?? NaN;
  return { minimum: at(1 / sorted.length), median: at(0.5), p95: at(0.95), maximum: at(1) };
}

/** The column of a log whose rows have no message: all of the row. */
export const ROW = '*';

/** A field as LQL and the whole page write it. */
export function nameOf(path: string): string {
  return path === ROW ? 'row' : path.replace(/^metadata\./, 'm.');
}
