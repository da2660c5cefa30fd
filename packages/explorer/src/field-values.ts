/** The fields of rows, and the values that they have most often. */
import { typeText, type NamedType, type StructField } from '@logquay/googlesql/types';
import { isObject, type Json, type JsonObject, recordIn, writeExactly } from './exact-json';
import { valueAt } from './severity';

export interface Field {
  /** Names with dots. */
  readonly path: string;
  readonly names: readonly string[];
  /** Empty: not known. */
  readonly type: string;
}

const MOST_FIELDS = 500;

/** The fields of the types, records left out; without types those of the rows. */
export function fieldsOf(types: readonly NamedType[] | null, rows: readonly JsonObject[]): readonly Field[] {
  const found: Field[] = [];
  if (types !== null) collectTypes(types, [], found);
  else for (const row of rows.slice(0, 50)) collectValues(row, [], found, new Set(found.map(({ path }) => path)));
  return found.slice(0, MOST_FIELDS);
}

function collectTypes(fields: readonly (NamedType | StructField)[], owner: readonly string[], found: Field[]): void {
  for (const { name, type } of fields) {
    if (name === null || found.length >= MOST_FIELDS) continue;
    const names = [...owner, name];
    const record = type.kind === 'ARRAY' ? type.element : type;
    if (record.kind === 'STRUCT') collectTypes(record.fields, names, found);
    else found.push({ path: names.join('.'), names, type: typeText(type) });
  }
}

function collectValues(row: JsonObject, owner: readonly string[], found: Field[], seen: Set<string>): void {
  for (const [name, value] of Object.entries(row)) {
    const names = [...owner, name];
    const path = names.join('.');
    const record = recordIn(value);
    if (record !== null && names.length < 8) collectValues(record, names, found, seen);
    else if (!seen.has(path) && found.length < MOST_FIELDS) {
      seen.add(path);
      found.push({ path, names, type: '' });
    }
  }
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
