import { isScalarName, type NamedType, type ScalarName, type SqlType, type StructField } from '../googlesql/types';

/** A column as BigQuery's API writes it. */
export interface TableField {
  readonly name: string;
  readonly type: string;
  readonly mode?: string;
  readonly description?: string;
  readonly fields?: readonly TableField[];
  readonly rangeElementType?: { readonly type: string };
}

/** The API's names of types that differ from SQL's. */
const API_NAMES: Readonly<Record<string, ScalarName>> = {
  INTEGER: 'INT64',
  FLOAT: 'FLOAT64',
  BOOLEAN: 'BOOL',
  DECIMAL: 'NUMERIC',
  BIGDECIMAL: 'BIGNUMERIC',
};

/** Thrown for a schema that BigQuery would refuse. */
export class BadSchema extends Error {}

/** The SQL name behind a type name of the API; null: unknown type. */
export function scalarNamed(name: string): ScalarName | null {
  const upper = name.toUpperCase();
  if (isScalarName(upper)) return upper;
  return Object.hasOwn(API_NAMES, upper) ? (API_NAMES[upper] ?? null) : null;
}

/** Throws `BadSchema`. */
export function columnsOf(fields: readonly TableField[]): NamedType[] {
  const seen = new Set<string>();
  return fields.map((field) => {
    if (typeof field.name !== 'string' || field.name === '') throw new BadSchema('Field is missing a name');
    if (seen.has(field.name.toLowerCase())) throw new BadSchema(`Field ${field.name} already exists in schema`);
    seen.add(field.name.toLowerCase());
    const type = elementType(field);
    return {
      name: field.name,
      type: field.mode?.toUpperCase() === 'REPEATED' ? { kind: 'ARRAY', element: type } : type,
    };
  });
}

function elementType(field: TableField): SqlType {
  const name = (field.type ?? '').toUpperCase();
  if (name === 'RECORD' || name === 'STRUCT') {
    if (field.fields === undefined || field.fields.length === 0)
      throw new BadSchema(`Field ${field.name} is type RECORD but has no schema`);
    return { kind: 'STRUCT', fields: columnsOf(field.fields) };
  }
  if (name === 'RANGE') {
    const element = scalarNamed(field.rangeElementType?.type ?? '');
    if (element !== 'DATE' && element !== 'DATETIME' && element !== 'TIMESTAMP')
      throw new BadSchema(`Field ${field.name} is type RANGE but has no element type`);
    return { kind: 'RANGE', element: { kind: element } };
  }
  const kind = scalarNamed(name);
  if (kind === null) throw new BadSchema(`Invalid value for type: ${field.type} is not a valid value`);
  return { kind };
}

const SQL_TO_API: Readonly<Partial<Record<ScalarName, string>>> = {
  INT64: 'INTEGER',
  FLOAT64: 'FLOAT',
  BOOL: 'BOOLEAN',
};

/** Columns of a result or a table as the API writes them; an unnamed field of a STRUCT is named by its place. */
export function fieldsOf(columns: readonly StructField[]): TableField[] {
  return columns.map((column, index) => {
    const name = column.name ?? `_field_${index + 1}`;
    const repeated = column.type.kind === 'ARRAY';
    const type = column.type.kind === 'ARRAY' ? column.type.element : column.type;
    const mode = repeated ? 'REPEATED' : 'NULLABLE';
    if (type.kind === 'STRUCT') return { name, type: 'RECORD', mode, fields: fieldsOf(type.fields) };
    if (type.kind === 'RANGE') return { name, type: 'RANGE', mode, rangeElementType: { type: type.element.kind } };
    return { name, type: type.kind === 'ARRAY' ? 'STRING' : (SQL_TO_API[type.kind] ?? type.kind), mode };
  });
}
