/** What a column of a Parquet file holds: the natural type for each of GoogleSQL's (docs/exports.md). */
import type { NamedType, SqlType, StructField } from '../../googlesql/types';

export type ColumnType =
  | { readonly kind: ScalarKind }
  | { readonly kind: 'list'; readonly element: ColumnType }
  | { readonly kind: 'record'; readonly fields: readonly Column[] };

export type ScalarKind =
  | 'int64'
  | 'float64'
  | 'decimal'
  | 'bool'
  | 'text'
  | 'json'
  | 'bytes'
  | 'date'
  | 'time'
  | 'datetime'
  | 'timestamp';

export interface Column {
  readonly name: string;
  readonly type: ColumnType;
}

/** Digits of a NUMERIC, and those behind its point. */
export const DECIMAL = { precision: 38, scale: 9 };

export function columnOf({ name, type }: NamedType): Column {
  return { name, type: typeOf(type) };
}

function typeOf(type: SqlType): ColumnType {
  switch (type.kind) {
    case 'INT64':
      return { kind: 'int64' };
    case 'FLOAT64':
      return { kind: 'float64' };
    case 'NUMERIC':
      return { kind: 'decimal' };
    case 'BOOL':
      return { kind: 'bool' };
    case 'BYTES':
      return { kind: 'bytes' };
    case 'DATE':
      return { kind: 'date' };
    case 'TIME':
      return { kind: 'time' };
    case 'DATETIME':
      return { kind: 'datetime' };
    case 'TIMESTAMP':
      return { kind: 'timestamp' };
    case 'JSON':
      return { kind: 'json' };
    case 'STRING':
    case 'INTERVAL':
    case 'RANGE':
    case 'GEOGRAPHY':
    // Up to 77 digits: Parquet's readers stop at 38.
    case 'BIGNUMERIC':
      return { kind: 'text' };
    case 'ARRAY':
      return { kind: 'list', element: typeOf(type.element) };
    case 'STRUCT':
      return recordOf(type.fields);
  }
}

/** Fields that no reader could tell apart by their names stay JSON. */
function recordOf(given: readonly StructField[]): ColumnType {
  const fields = given.flatMap(({ name, type }) => (name === null || name === '' ? [] : [columnOf({ name, type })]));
  const names = new Set(fields.map(({ name }) => name.toLowerCase()));
  return names.size === 0 || names.size < given.length ? { kind: 'json' } : { kind: 'record', fields };
}
