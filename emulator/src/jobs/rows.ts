import { civilText } from '../googlesql/civil';
import { type NamedType, type SqlType } from '../googlesql/types';
import {
  elements,
  fields,
  floatText,
  isNull,
  rangeText,
  scalarText,
  timestampMicros,
  type Cell,
} from '../googlesql/values';

/** How TIMESTAMP values are written. BigQuery's default is the lossy one: seconds as a double. */
export type TimestampFormat = 'FLOAT64' | 'INT64' | 'ISO8601_STRING';

export interface RowFormat {
  readonly timestamps: TimestampFormat;
  /** goccy's emulator writes TIMESTAMPs inside records as text, whatever was asked for. */
  readonly recordTimestampsAsText: boolean;
}

/** A value in the API's form: text or null, `{f: [...]}` for a record, a list of `{v: ...}` for a repeated one. */
export type RestValue = string | null | { readonly f: readonly RestCell[] } | readonly RestCell[];
interface RestCell {
  readonly v: RestValue;
}

/** One row in the API's form. */
export function restRow(columns: readonly NamedType[], row: readonly Cell[], format: RowFormat): { f: RestCell[] } {
  return { f: columns.map((column, i) => ({ v: restValue(column.type, row[i] ?? {}, format, 'top') })) };
}

type Depth = 'top' | 'record' | 'repeated record';

function restValue(type: SqlType, cell: Cell, format: RowFormat, depth: Depth): RestValue {
  if (type.kind === 'ARRAY') {
    const inner: Depth = depth === 'top' && type.element.kind !== 'STRUCT' ? 'top' : 'repeated record';
    return elements(cell).map((item) => ({ v: restValue(type.element, item, format, inner) }));
  }
  if (isNull(cell)) return null;
  if (type.kind === 'STRUCT') {
    const inner: Depth = depth === 'top' ? 'record' : depth;
    const items = fields(cell);
    return { f: type.fields.map((field, i) => ({ v: restValue(field.type, items[i] ?? {}, format, inner) })) };
  }
  if (type.kind === 'RANGE') return rangeText(cell, (end) => String(restValue(type.element, end, format, depth)));
  if (type.kind === 'TIMESTAMP') return timestampText(timestampMicros(cell), format, depth);
  return scalarText(type.kind, cell);
}

function timestampText(micros: bigint, format: RowFormat, depth: Depth): string {
  if (format.recordTimestampsAsText && depth !== 'top') {
    // Both spellings have been seen: RFC 3339, and SQL's with a zone of two digits.
    const text = civilText(micros);
    return depth === 'record' ? `${text}Z` : `${text.replace('T', ' ')}+00`;
  }
  switch (format.timestamps) {
    case 'INT64':
      return micros.toString();
    case 'ISO8601_STRING': {
      const [seconds = '', fraction = ''] = civilText(micros).split('.');
      return `${seconds}.${fraction.padEnd(12, '0')}Z`;
    }
    case 'FLOAT64':
      return floatText(Number(micros) / 1e6);
  }
}
