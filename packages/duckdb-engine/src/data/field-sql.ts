/** How a field of a table's schema is read from JSON, and how it is kept. */
import { typeOf, type RestField } from '@logquay/googlesql/types';
import { duckType, quoteName } from '../sql';

/**
 * The type that DuckDB's JSON reader is given. It differs from the stored one where the reader would lose something: an
 * offset from UTC in a timestamp, base64.
 */
export function jsonType(field: RestField, bytes: 'VARCHAR' | 'BLOB' = 'VARCHAR'): string {
  const item =
    field.type === 'RECORD'
      ? `STRUCT(${field.fields.map((inner) => `${quoteName(inner.name)} ${jsonType(inner, bytes)}`).join(', ')})`
      : field.type === 'TIMESTAMP'
        ? 'TIMESTAMPTZ'
        : field.type === 'BYTES'
          ? bytes
          : duckType(typeOf({ ...field, mode: 'NULLABLE' }), true);
  return field.mode === 'REPEATED' ? `${item}[]` : item;
}

export function storedType(field: RestField): string {
  return duckType(typeOf(field), true);
}

/**
 * The kept value of a field that was read as `jsonType`. Every array that is missing or null becomes the empty one, at
 * every depth: a REPEATED field of BigQuery is never NULL, and no query has to guard against it later.
 */
export function storedValue(field: RestField, read: string, bytes: 'base64' | 'blob'): string {
  return valueOf(field, read, bytes, false, 0);
}

/** @param present whether the expression is never NULL */
function valueOf(field: RestField, sql: string, bytes: 'base64' | 'blob', present: boolean, depth: number): string {
  if (field.mode === 'REPEATED') {
    const variable = `v${depth}`;
    const value = valueOf({ ...field, mode: 'NULLABLE' }, variable, bytes, true, depth + 1);
    return `coalesce(${value === variable ? sql : `list_transform(${sql}, lambda ${variable}: ${value})`}, [])`;
  }
  if (field.type === 'TIMESTAMP') return `timezone('UTC', ${sql})`;
  if (field.type === 'BYTES') return bytes === 'base64' ? `from_base64(${sql})` : sql;
  if (field.type !== 'RECORD') return sql;
  const parts = field.fields.map((inner) => {
    const read = `${sql}.${quoteName(inner.name)}`;
    return { name: inner.name, read, value: valueOf(inner, read, bytes, false, depth) };
  });
  if (parts.every(({ read, value }) => read === value)) return sql;
  const packed = `struct_pack(${parts.map(({ name, value }) => `${quoteName(name)} := ${value}`).join(', ')})`;
  return present ? packed : `CASE WHEN ${sql} IS NOT NULL THEN ${packed} END`;
}
