import {
  DuckDBListType,
  DuckDBStructType,
  DuckDBTypeId,
  type DuckDBConnection,
  type DuckDBType,
} from '@duckdb/node-api';
import type { RestField } from '../../../googlesql/rest-schema';
import { DataFault } from './data-fault';
import { scanOf } from './file-scan';
import type { Source } from './sources';

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
 * The schema of a table that neither `schema.json` nor the log schema knows: what DuckDB finds in its files. What has
 * no BigQuery type is a STRING. `schema.json` is the better way: an inferred type follows the data.
 */
export async function inferSchema(connection: DuckDBConnection, source: Source): Promise<readonly RestField[]> {
  const fields = new Map<string, RestField>();
  for (const file of source.files) {
    try {
      const read = await connection.prepare(`SELECT * FROM ${scanOf(file, null)}`);
      for (let i = 0; i < read.columnCount; i++) {
        const field = fieldOf(read.columnName(i), read.columnType(i));
        if (!fields.has(field.name.toLowerCase())) fields.set(field.name.toLowerCase(), field);
      }
      read.destroySync();
    } catch {
      throw new DataFault(`${file.path}: the schema cannot be inferred; describe table ${source.table} in schema.json`);
    }
  }
  if (fields.size === 0) {
    throw new DataFault(`${source.path}: no rows to make a schema of; describe table ${source.table} in schema.json`);
  }
  return [...fields.values()];
}

function fieldOf(name: string, type: DuckDBType): RestField {
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
