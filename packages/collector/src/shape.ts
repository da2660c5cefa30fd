import { longNumber, printLine, strictValue } from '@logquay/duckdb-engine/rows';
import type { RestField } from '@logquay/googlesql/types';

const PLAIN = /^[A-Za-z]\w{0,127}$/;
/** Beginnings that BigQuery has for itself. */
const RESERVED =
  /^(?:_TABLE_|_FILE_|_PARTITION|_ROW_TIMESTAMP|__ROOT__|_COLIDENTIFIER|_CHANGE_(?:SEQUENCE_NUMBER|TYPE|TIMESTAMP))/;
const LONGEST = 128;

/**
 * The column of a field, with Logflare's rules, so that queries written for its tables find it: other characters than letters,
 * digits and `_` become `_`, and each kind of change puts one more in front.
 */
export function columnName(field: string): string {
  if (PLAIN.test(field)) return field;
  const reserved = RESERVED.test(field);
  const dash = field.includes('-');
  const changes = [reserved, dash, !reserved && !dash && /^\d/.test(field), /[^\w-]/u.test(field)];
  const name = '_'.repeat(changes.filter(Boolean).length) + field.replace(/\W/gu, '_');
  return name.length > LONGEST ? `_${name.slice(0, LONGEST)}` : name;
}

export type JsonObject = Readonly<Record<string, unknown>>;

/** The fields of a table or record, by name; null: nothing is declared. */
export type Shape = ReadonlyMap<string, FieldShape> | null;

interface FieldShape {
  readonly type: RestField['type'];
  readonly repeated: boolean;
  readonly fields: Shape;
}

export function shapeOf(fields: readonly RestField[] | null): Shape {
  if (fields === null) return null;
  return new Map(
    fields.map(({ name, type, mode, fields: inner }) => [
      name,
      { type, repeated: mode === 'REPEATED', fields: type === 'RECORD' ? shapeOf(inner) : null },
    ]),
  );
}

/** Records within records: BigQuery has 15 levels. What is deeper becomes JSON text. */
const DEEPEST = 15;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * Sets a field of a row or record as a log table stores it: records in lists, nothing that is empty, and values that fit their
 * declared fields. What cannot be made to fit is left out, so that the rest of its event is not.
 */
export function shapeField(
  into: Record<string, unknown>,
  shape: Shape,
  field: string,
  value: unknown,
  depth: number,
): void {
  const name = columnName(field);
  if (name === '__proto__') return;
  const shaped = shapedValue(shape?.get(name) ?? null, value, depth);
  if (shaped !== undefined) into[name] = shaped;
}

/** undefined: nothing is left of it. */
function shapedRecord(shape: Shape, record: JsonObject, depth: number): Record<string, unknown> | undefined {
  const shaped: Record<string, unknown> = {};
  for (const field of Object.keys(record)) shapeField(shaped, shape, field, record[field], depth);
  for (const _any in shaped) return shaped;
  return undefined;
}

/** undefined: empty, or it does not fit. */
function shapedValue(field: FieldShape | null, value: unknown, depth: number): unknown {
  if (value === null || value === '') return undefined;
  if (field === null) return freeValue(value, depth);
  const { type, repeated, fields } = field;
  if (!repeated) return type === 'RECORD' ? shapedItem(fields, value, depth) : fittedLeaf(type, value);
  const item = (one: unknown): unknown => (type === 'RECORD' ? shapedItem(fields, one, depth) : fittedLeaf(type, one));
  const items = Array.isArray(value) ? value.map(item).filter((one) => one !== undefined) : [item(value)];
  return items[0] === undefined ? undefined : items;
}

/** A value of a field that nobody declared. */
function freeValue(value: unknown, depth: number): unknown {
  if (Array.isArray(value)) {
    const items = value
      .map((item: unknown) => (isObject(item) ? shapedItem(null, item, depth) : freeItem(item)))
      .filter((item) => item !== undefined);
    return items.length === 0 ? undefined : items;
  }
  if (!isObject(value)) return value;
  const item = shapedItem(null, value, depth);
  return item === undefined || typeof item === 'string' ? item : [item];
}

/** Lists of lists have no column. */
function freeItem(item: unknown): unknown {
  if (item === null || item === '') return undefined;
  return Array.isArray(item) ? asText(item) : item;
}

function shapedItem(shape: Shape, item: unknown, depth: number): unknown {
  if (!isObject(item)) return undefined;
  if (depth >= DEEPEST) return shape === null ? asText(item) : undefined;
  return shapedRecord(shape, item, depth + 1);
}

/** The value, where the engine takes it for the type; a record where a text is declared becomes its JSON text. */
function fittedLeaf(type: Exclude<RestField['type'], 'RECORD'>, value: unknown): unknown {
  if (value === null || value === '') return undefined;
  if (type === 'STRING') return asText(value);
  if (typeof value === 'object' && type !== 'JSON') return undefined;
  return strictValue(type, value) === undefined ? undefined : value;
}

/** A text as it is, anything else as JSON. undefined: empty, or nested beyond what can be printed. */
export function asText(value: unknown): string | undefined {
  if (typeof value === 'string' && longNumber(value) === null) return value;
  try {
    const text = printLine(value);
    return text === '{}' || text === '[]' ? undefined : text;
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}
