/** What rows have beside the columns of a table that takes all they have: one JSON column, with the same nesting. */
import type { RestField } from '@logquay/googlesql/types';
import { printLine } from './json-line';
import { type JsonObject, strictValue } from './strict-row';

const REST = '_rest';
/** The column of a field that has that name. */
const FIELD = '_rest_';
export const REST_FIELD: RestField = { name: REST, type: 'JSON', mode: 'NULLABLE', fields: [] };

/** Bytes of the JSON text in a row. */
export const MOST_REST = 64 * 1024;

/** Whether there is such a column. */
export function hasRest(fields: readonly RestField[]): boolean {
  return fields.some(({ name }) => name === REST);
}

/** A row without a field that has the name of that column. */
export function withoutRest(row: JsonObject): JsonObject {
  if (!Object.hasOwn(row, REST)) return row;
  return Object.fromEntries(Object.entries(row).map(([name, value]) => [name === REST ? FIELD : name, value]));
}

/**
 * The value of that column; undefined: the row has nothing beside the other columns.
 *
 * @returns `dropped`: members that there is no room for, or that are too deep
 */
export function restOf(
  fields: readonly RestField[],
  row: JsonObject,
): { readonly rest: JsonObject | undefined; readonly dropped: number } {
  let [dropped, bytes] = [0, 2];
  const kept: [string, unknown][] = [];
  for (const [name, value] of Object.entries(besideFields(fields, row) ?? {})) {
    const size = Buffer.byteLength(printLine({ [name]: value })) - 1;
    if (bytes + size > MOST_REST || strictValue('JSON', { [name]: value }) === undefined) dropped++;
    else {
      kept.push([name, value]);
      bytes += size;
    }
  }
  return { rest: kept.length === 0 ? undefined : Object.fromEntries(kept), dropped };
}

/** undefined: nothing. */
function besideFields(fields: readonly RestField[], record: JsonObject): JsonObject | undefined {
  const known = new Map(fields.map((field) => [field.name, field]));
  const beside = Object.entries(record).flatMap(([name, value]): [string, unknown][] => {
    const field = known.get(name);
    if (field === undefined) return value === null ? [] : [[name, value]];
    const inner = field.type === 'RECORD' ? besideItems(field.fields, value) : undefined;
    return inner === undefined ? [] : [[name, inner]];
  });
  return beside.length === 0 ? undefined : Object.fromEntries(beside);
}

/** Of a list: its elements, `{}` for those that have nothing beside the fields. */
function besideItems(fields: readonly RestField[], value: unknown): unknown {
  if (!Array.isArray(value)) return isObject(value) ? besideFields(fields, value) : undefined;
  const items = value.map((item) => (isObject(item) ? besideFields(fields, item) : undefined));
  return items.every((item) => item === undefined) ? undefined : items.map((item) => item ?? {});
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
