import { elements, fields, isNull, type Cell } from '../googlesql/values';
import { type ScalarName, type SqlType } from '../googlesql/types';

const FIXED: Readonly<Partial<Record<ScalarName, number>>> = {
  INT64: 8,
  FLOAT64: 8,
  BOOL: 1,
  DATE: 8,
  TIME: 8,
  DATETIME: 8,
  TIMESTAMP: 8,
  NUMERIC: 16,
  BIGNUMERIC: 32,
  INTERVAL: 16,
};

/** Bytes that a value counts for, by BigQuery's table of data type sizes: NULL is 0, a STRING is 2 and its UTF-8 bytes. */
export function sizeOf(type: SqlType, cell: Cell): number {
  if (isNull(cell)) return 0;
  switch (type.kind) {
    case 'ARRAY':
      return elements(cell).reduce((sum, item) => sum + sizeOf(type.element, item), 0);
    case 'STRUCT':
      return fields(cell).reduce((sum, item, i) => sum + sizeOf(type.fields[i]?.type ?? { kind: 'BOOL' }, item), 0);
    case 'RANGE':
      return 16;
    case 'BYTES':
      return 2 + (cell['bytes_value'] as Buffer).length;
    case 'STRING':
    case 'JSON':
      return 2 + Buffer.byteLength(String(cell['string_value'] ?? cell['json_value']));
    default:
      return FIXED[type.kind] ?? 0;
  }
}
