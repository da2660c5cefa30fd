import { rangeElement } from './type-names';
import type { NamedType, RangeElement, ScalarName, SqlType } from './types';

/**
 * A table's fields in the form of BigQuery's REST API (`tables.get`, field `schema`), checked and with one spelling per
 * type: the legacy names INTEGER, FLOAT, BOOLEAN and RECORD mean their GoogleSQL ones.
 */
export interface RestField {
  readonly name: string;
  readonly type: ScalarName | 'RANGE' | 'RECORD';
  readonly mode: 'NULLABLE' | 'REQUIRED' | 'REPEATED';
  /** Of a RECORD; empty otherwise. */
  readonly fields: readonly RestField[];
  /** Of a RANGE: the type of its ends. */
  readonly element?: RangeElement;
}

const TYPES: Readonly<Record<string, RestField['type']>> = {
  STRING: 'STRING',
  BYTES: 'BYTES',
  INTEGER: 'INT64',
  INT64: 'INT64',
  FLOAT: 'FLOAT64',
  FLOAT64: 'FLOAT64',
  NUMERIC: 'NUMERIC',
  BIGNUMERIC: 'BIGNUMERIC',
  BOOLEAN: 'BOOL',
  BOOL: 'BOOL',
  TIMESTAMP: 'TIMESTAMP',
  DATE: 'DATE',
  TIME: 'TIME',
  DATETIME: 'DATETIME',
  JSON: 'JSON',
  GEOGRAPHY: 'GEOGRAPHY',
  INTERVAL: 'INTERVAL',
  RANGE: 'RANGE',
  RECORD: 'RECORD',
  STRUCT: 'RECORD',
};

/** BigQuery's own bound on nesting. */
const DEEPEST = 15;

/** A schema that is not one. The message names the field by its path and what is allowed. */
export class RestSchemaError extends Error {
  override readonly name = 'RestSchemaError';
}

/**
 * Reads `{"fields": [...]}`, or the bare array that `bq show --schema` prints.
 *
 * @throws RestSchemaError where the value has another shape, an unknown type or mode, or one name twice (ignoring case).
 */
export function parseRestSchema(value: unknown, name: string): readonly RestField[] {
  const fields = isObject(value) ? value['fields'] : value;
  return parseFields(fields, name, 1);
}

/** The columns that the fields are to a query. REQUIRED is no part of a type. */
export function columnsOf(fields: readonly RestField[]): NamedType[] {
  return fields.map((field) => ({ name: field.name, type: typeOf(field) }));
}

export function typeOf(field: RestField): SqlType {
  const item = itemType(field);
  return field.mode === 'REPEATED' ? { kind: 'ARRAY', element: item } : item;
}

function itemType({ name, type, fields, element }: RestField): SqlType {
  if (type === 'RECORD') return { kind: 'STRUCT', fields: columnsOf(fields) };
  if (type !== 'RANGE') return { kind: type };
  if (element === undefined) throw new Error(`${name} is a RANGE of nothing`);
  return { kind: 'RANGE', element: { kind: element } };
}

function parseFields(value: unknown, path: string, depth: number): readonly RestField[] {
  if (!Array.isArray(value) || value.length === 0) {
    throw new RestSchemaError(`${path}: "fields" must be a list with at least one field`);
  }
  if (depth > DEEPEST) throw new RestSchemaError(`${path}: records may nest ${DEEPEST} deep`);
  const seen = new Set<string>();
  return value.map((item: unknown, i) => {
    const field = parseField(item, `${path}.fields[${i}]`, path, depth);
    const key = field.name.toLowerCase();
    if (seen.has(key)) throw new RestSchemaError(`${path}: field ${field.name} is given twice`);
    seen.add(key);
    return field;
  });
}

function parseField(value: unknown, place: string, parent: string, depth: number): RestField {
  if (!isObject(value)) throw new RestSchemaError(`${place}: a field is an object with name and type`);
  const name = value['name'];
  if (typeof name !== 'string' || name === '') throw new RestSchemaError(`${place}: "name" must be a string`);
  const path = `${parent}.${name}`;
  const written = typeof value['type'] === 'string' ? value['type'].toUpperCase() : '';
  const type = Object.hasOwn(TYPES, written) ? TYPES[written] : undefined;
  if (type === undefined) throw new RestSchemaError(`${path}: "type" must be one of ${Object.keys(TYPES).join(', ')}`);
  const mode = typeof value['mode'] === 'string' ? value['mode'].toUpperCase() : (value['mode'] ?? 'NULLABLE');
  if (mode !== 'NULLABLE' && mode !== 'REQUIRED' && mode !== 'REPEATED') {
    throw new RestSchemaError(`${path}: "mode" must be NULLABLE, REQUIRED or REPEATED`);
  }
  const fields = type === 'RECORD' ? parseFields(value['fields'], path, depth + 1) : [];
  if (type !== 'RANGE') return { name, type, mode, fields };
  const ends = value['rangeElementType'];
  const element = rangeElement(isObject(ends) ? String(ends['type']).toUpperCase() : '');
  if (element === null)
    throw new RestSchemaError(`${path}: "rangeElementType" must have the type DATE, DATETIME or TIMESTAMP`);
  return { name, type, mode, fields, element };
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
