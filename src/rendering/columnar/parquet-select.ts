/** SQL that reads rows as JSON text into the columns of a Parquet file. */
import { quoteName, quoteText } from '../../engines/duckdb/sql';
import { type Column, type ColumnType, DECIMAL } from './column-type';

/**
 * A SELECT of the columns over a relation.
 *
 * @param from has one column, `line`: the text of one row
 */
export function selectColumns(columns: readonly Column[], from: string): string {
  const structure = quoteText(JSON.stringify(structureOf(columns)));
  const row = 'r';
  const values = columns.map(({ name, type }) => {
    const quoted = quoteName(name);
    return `${valueOf(`${row}.${quoted}`, type, 0)} AS ${quoted}`;
  });
  return `SELECT ${values.join(', ')} FROM (SELECT from_json_strict(line, ${structure}) AS ${row} FROM ${from})`;
}

type Structure = string | readonly [Structure] | { readonly [name: string]: Structure };

function structureOf(columns: readonly Column[]): Structure {
  return Object.fromEntries(columns.map(({ name, type }) => [name, writtenAs(type)]));
}

/** The type that a value's JSON is read as. */
function writtenAs(type: ColumnType): Structure {
  switch (type.kind) {
    case 'list':
      return [writtenAs(type.element)];
    case 'record':
      return structureOf(type.fields);
    case 'int64':
    case 'timestamp':
      return 'BIGINT';
    case 'float64':
      return 'DOUBLE';
    case 'bool':
      return 'BOOLEAN';
    case 'json':
      return 'JSON';
    case 'decimal':
    case 'text':
    case 'bytes':
    case 'date':
    case 'time':
    case 'datetime':
      return 'VARCHAR';
  }
}

/** @param depth of the lists around it: each has a name of its own for its element */
function valueOf(value: string, type: ColumnType, depth: number): string {
  switch (type.kind) {
    case 'list': {
      const element = `e${String(depth)}`;
      const inner = valueOf(element, type.element, depth + 1);
      return inner === element ? value : `list_transform(${value}, lambda ${element}: ${inner})`;
    }
    case 'record': {
      const fields = type.fields.map(({ name, type: field }) => {
        const written = `struct_extract(${value}, ${quoteText(name)})`;
        return { name, written, read: valueOf(written, field, depth) };
      });
      if (fields.every(({ written, read }) => written === read)) return value;
      const packed = fields.map(({ name, read }) => `${quoteName(name)} := ${read}`).join(', ');
      return `CASE WHEN ${value} IS NOT NULL THEN struct_pack(${packed}) END`;
    }
    case 'timestamp':
      return `make_timestamp(${value})::TIMESTAMPTZ`;
    case 'decimal':
      return `${value}::DECIMAL(${String(DECIMAL.precision)}, ${String(DECIMAL.scale)})`;
    case 'bytes':
      return `from_base64(${value})`;
    case 'date':
      return `${value}::DATE`;
    case 'time':
      return `${value}::TIME`;
    case 'datetime':
      return `${value}::TIMESTAMP`;
    case 'int64':
    case 'float64':
    case 'bool':
    case 'text':
    case 'json':
      return value;
  }
}
