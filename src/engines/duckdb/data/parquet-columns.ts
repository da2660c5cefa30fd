import {
  DuckDBListType,
  DuckDBMapType,
  DuckDBStructType,
  type DuckDBType,
  DuckDBVarCharType,
  LIST,
  STRUCT,
} from '@duckdb/node-api';
import type { RestField } from '../../../googlesql/rest-schema';
import { jsonOf, quoteName } from '../sql';
import { valuesOfItem } from './row-values';

/**
 * A Parquet column in the shape that its field declares: DuckDB's casts of records go by name and fill in NULL for what
 * is missing, but none makes a list of a plain value, as log shippers write records.
 */
export function shapedColumn(field: RestField, type: DuckDBType, sql: string): string {
  return shaped(field, type, sql, 0);
}

function shaped(field: RestField, type: DuckDBType, sql: string, depth: number): string {
  if (field.mode === 'REPEATED' && type instanceof DuckDBMapType) {
    return shaped(field, entriesOf(type), `map_entries(${sql})`, depth);
  }
  if (field.mode !== 'REPEATED') return shapedItem(field, type, sql, depth);
  const item = { ...field, mode: 'NULLABLE' as const };
  if (!(type instanceof DuckDBListType)) {
    return `CASE WHEN ${sql} IS NOT NULL THEN [${shapedItem(item, type, sql, depth)}] END`;
  }
  const variable = `p${depth}`;
  const value = shapedItem(item, type.valueType, variable, depth + 1);
  // BigQuery's arrays hold no NULL.
  const present = `list_filter(${sql}, lambda x: x IS NOT NULL)`;
  return value === variable ? present : `list_transform(${present}, lambda ${variable}: ${value})`;
}

function shapedItem(field: RestField, type: DuckDBType, sql: string, depth: number): string {
  // DuckDB takes a column of JSON at its word, and writes NaN of a list's number.
  if (field.type === 'JSON') return jsonOf(`CAST(TRY_CAST(${sql} AS JSON) AS VARCHAR)`);
  if (field.type === 'TIMESTAMP' && type instanceof DuckDBVarCharType) return instantOf(sql);
  if (field.type !== 'RECORD' || !(type instanceof DuckDBStructType)) return sql;
  const parts = field.fields.flatMap((inner) => {
    const index = type.entryNames.findIndex((name) => name.toLowerCase() === inner.name.toLowerCase());
    if (index === -1) return [];
    const read = `${sql}.${quoteName(type.entryNames[index]!)}`;
    return [{ name: inner.name, read, value: shaped(inner, type.entryTypes[index]!, read, depth) }];
  });
  if (parts.length === 0 || parts.every(({ read, value }) => read === value)) return sql;
  const packed = `struct_pack(${parts.map(({ name, value }) => `${quoteName(name)} := ${value}`).join(', ')})`;
  return `CASE WHEN ${sql} IS NOT NULL THEN ${packed} END`;
}

/** A map as BigQuery loads it: a list of records. */
function entriesOf({ keyType: key, valueType: value }: DuckDBMapType): DuckDBListType {
  return LIST(STRUCT({ key, value }));
}

/** SQL, a number or NULL: values in the lists of a column (`MOST_ROW_VALUES`); null: it has no lists. */
export function listValues(field: RestField, type: DuckDBType, sql: string, depth = 0): string | null {
  if (field.mode === 'REPEATED' && type instanceof DuckDBMapType) {
    return listValues(field, entriesOf(type), `map_entries(${sql})`, depth);
  }
  if (field.mode === 'REPEATED' && type instanceof DuckDBListType) {
    const variable = `n${depth}`;
    const item = listValues({ ...field, mode: 'NULLABLE' }, type.valueType, variable, depth + 1);
    const inside = item === null ? '' : ` + list_sum(list_transform(${sql}, lambda ${variable}: ${item}))`;
    return `coalesce(len(${sql}) * ${valuesOfItem(field)}${inside}, 0)`;
  }
  if (!(type instanceof DuckDBStructType)) return null;
  const parts = field.fields.flatMap((inner) => {
    const index = type.entryNames.findIndex((name) => name.toLowerCase() === inner.name.toLowerCase());
    if (index === -1) return [];
    return listValues(inner, type.entryTypes[index]!, `${sql}.${quoteName(type.entryNames[index]!)}`, depth) ?? [];
  });
  const itself = field.mode === 'REPEATED' ? [`if(${sql} IS NULL, 0, ${valuesOfItem(field)})`] : [];
  return [...itself, ...parts].join(' + ') || null;
}

/** DuckDB would read a text that names no zone in the zone of a row before it. */
function instantOf(text: string): string {
  const namesNone = String.raw`regexp_full_match(${text}, '\s*[\d-]+(?:[ Tt]+[\d:.]*)?\s*')`;
  return `CASE WHEN ${namesNone} THEN timezone('UTC', TRY_CAST(${text} AS TIMESTAMP)) ELSE TRY_CAST(${text} AS TIMESTAMPTZ) END`;
}
