import {
  DuckDBListType,
  DuckDBMapType,
  DuckDBStructType,
  DuckDBTypeId,
  type DuckDBConnection,
  type DuckDBType,
} from '@duckdb/node-api';
import type { RestField } from '@logquay/googlesql/types';
import { countOf, MOST_FIELDS, NAMED, unitedFields } from '../follow/inferred-schema';
import { parquetScan } from './file-scan';
import { REST_FIELD } from './rest';

const TYPES: Readonly<Partial<Record<DuckDBTypeId, RestField['type']>>> = {
  [DuckDBTypeId.BOOLEAN]: 'BOOL',
  [DuckDBTypeId.TINYINT]: 'INT64',
  [DuckDBTypeId.SMALLINT]: 'INT64',
  [DuckDBTypeId.INTEGER]: 'INT64',
  [DuckDBTypeId.BIGINT]: 'INT64',
  [DuckDBTypeId.UTINYINT]: 'INT64',
  [DuckDBTypeId.USMALLINT]: 'INT64',
  [DuckDBTypeId.UINTEGER]: 'INT64',
  [DuckDBTypeId.UBIGINT]: 'NUMERIC',
  [DuckDBTypeId.HUGEINT]: 'NUMERIC',
  [DuckDBTypeId.DECIMAL]: 'NUMERIC',
  [DuckDBTypeId.FLOAT]: 'FLOAT64',
  [DuckDBTypeId.DOUBLE]: 'FLOAT64',
  [DuckDBTypeId.BLOB]: 'BYTES',
  [DuckDBTypeId.DATE]: 'DATE',
  [DuckDBTypeId.TIME]: 'TIME',
  [DuckDBTypeId.TIMESTAMP]: 'TIMESTAMP',
  [DuckDBTypeId.TIMESTAMP_S]: 'TIMESTAMP',
  [DuckDBTypeId.TIMESTAMP_MS]: 'TIMESTAMP',
  [DuckDBTypeId.TIMESTAMP_NS]: 'TIMESTAMP',
  [DuckDBTypeId.TIMESTAMP_TZ]: 'TIMESTAMP',
};

/**
 * The fields with those that a Parquet file's columns add. What has no BigQuery type is a STRING.
 *
 * @param leftOut takes the names of the first few columns that an inferred schema has no room for
 */
export async function inferredColumns(
  connection: DuckDBConnection,
  path: string,
  fields: readonly RestField[],
  leftOut: Set<string>,
): Promise<readonly RestField[]> {
  let all = fields;
  const read = await connection.prepare(`SELECT * FROM ${parquetScan(path, false)}`);
  for (let i = 0; i < read.columnCount; i++) {
    const field = fieldOf(read.columnName(i), read.columnType(i));
    if (all.some(({ name }) => name.toLowerCase() === field.name.toLowerCase())) continue;
    // That name is for what there is beside columns.
    if (field.name === REST_FIELD.name) {
      leftOut.add(field.name);
      continue;
    }
    const before = countOf(all);
    all = unitedFields(all, [field], MOST_FIELDS);
    if (countOf(all) < before + countOf([field]) && leftOut.size < NAMED) leftOut.add(field.name);
  }
  read.destroySync();
  return all;
}

function fieldOf(name: string, type: DuckDBType): RestField {
  if (type instanceof DuckDBMapType) {
    const fields = [fieldOf('key', type.keyType), fieldOf('value', type.valueType)];
    return { name, type: 'RECORD', mode: 'REPEATED', fields };
  }
  if (type instanceof DuckDBListType) {
    const item = fieldOf(name, type.valueType);
    // BigQuery has no arrays of arrays.
    return item.mode === 'REPEATED' ? leaf(name, 'JSON') : { ...item, mode: 'REPEATED' };
  }
  if (type instanceof DuckDBStructType && type.entryCount > 0) {
    const fields = type.entryNames.map((inner, i) => fieldOf(inner, type.entryTypes[i]!));
    return { name, type: 'RECORD', mode: 'NULLABLE', fields };
  }
  if (type.alias === 'JSON') return leaf(name, 'JSON');
  return leaf(name, TYPES[type.typeId] ?? 'STRING');
}

function leaf(name: string, type: RestField['type']): RestField {
  return { name, type, mode: 'NULLABLE', fields: [] };
}
