/** Result rows as JSON, by the type table of the service: DuckDB writes the text, JavaScript never sees the values. */
import { type Expr, type ResolvedQuery, relationsBelow, definesOf } from '@logquay/googlesql';
import type { SqlType } from '@logquay/googlesql/types';
import type { Context } from '../context';
import { numericText } from '../expressions/casts';
import { fail, physicalFieldNames, quoteName, quoteText, structOf } from '../../sql';

/** How values are written where there is a choice. */
export interface JsonForm {
  /** BYTES as null. */
  readonly hideBytes: boolean;
  /** TIMESTAMP as ISO 8601 text rather than as microseconds. */
  readonly isoTimestamps: boolean;
}

/** A value of a row. */
export interface OutputValue {
  readonly name: string;
  readonly type: SqlType;
  /** A column's name, or a field of one: it may be repeated. */
  readonly sql: string;
  /** It is as a table keeps it. */
  readonly stored: boolean;
}

/** The text of one row. */
export function printRow(ctx: Context, values: readonly OutputValue[], form: JsonForm): string {
  if (values.length === 0) return `'{}'`;
  const pairs = values.map((value) => `${quoteText(value.name)}, ${jsonValue(ctx, value, form)}`);
  return `CAST(json_object(${pairs.join(', ')}) AS VARCHAR)`;
}

/** An expression whose `to_json` is the value's JSON. */
export function jsonValue(ctx: Context, { sql, type, stored }: OutputValue, form: JsonForm): string {
  return stored ? storedJson(ctx, sql, type, form) : jsonable(ctx, sql, type, form);
}

/** A value just as a table keeps it: only an array of an outer join's missing row is still NULL. */
function storedJson(ctx: Context, x: string, type: SqlType, form: JsonForm): string {
  if (!isPlain(type)) return jsonable(ctx, x, type, form);
  return type.kind === 'ARRAY' ? `coalesce(${x}, [])` : x;
}

/** Whether DuckDB's own JSON of a kept value is the service's: every number an integer, no instants, no odd field names. */
export function isPlain(type: SqlType): boolean {
  switch (type.kind) {
    case 'BOOL':
    case 'INT64':
    case 'STRING':
      return true;
    case 'ARRAY':
      return isPlain(type.element);
    case 'STRUCT': {
      const physical = physicalFieldNames(type.fields);
      return type.fields.every((f, i) => f.name === physical[i] && isPlain(f.type));
    }
    default:
      return false;
  }
}

/** As `jsonValue`. `x` is a name: it is repeated. */
export function jsonable(ctx: Context, x: string, type: SqlType, form: JsonForm): string {
  switch (type.kind) {
    case 'BOOL':
    case 'INT64':
    case 'STRING':
    case 'GEOGRAPHY':
    case 'JSON':
      return x;
    case 'DATE':
      return `CAST(${x} AS VARCHAR)`;
    case 'INTERVAL':
      return `CASE WHEN ${x} IS NOT NULL THEN lq_interval_text(${x}) END`;
    case 'RANGE':
      throw new Error('a RANGE');
    case 'TIMESTAMP':
      return form.isoTimestamps ? `strftime(${x}, '%Y-%m-%dT%H:%M:%S.%fZ')` : `epoch_us(${x})`;
    case 'DATETIME':
      return `(strftime(${x}, '%Y-%m-%dT%H:%M:%S') || lq_six_digits(${x}))`;
    case 'TIME':
      return `(strftime(DATE '1970-01-01' + ${x}, '%H:%M:%S') || lq_six_digits(${x}))`;
    case 'FLOAT64':
      return `lq_float_json(${x})`;
    case 'NUMERIC':
    case 'BIGNUMERIC':
      return numericText(x, type.kind);
    case 'BYTES':
      return form.hideBytes ? `CAST(NULL AS VARCHAR)` : `to_base64(${x})`;
    case 'ARRAY':
      return arrayOf(ctx, x, (element) => jsonable(ctx, element, type.element, form));
    case 'STRUCT': {
      const physical = physicalFieldNames(type.fields);
      const fields = type.fields.map((f, i) => {
        const value = jsonable(ctx, `${x}.${quoteName(physical[i]!)}`, f.type, form);
        return { name: f.name ?? `_field_${i + 1}`, physical: physical[i]!, value };
      });
      // DuckDB's structs have no two fields of one name, JSON objects may.
      const object = fields.every((f) => f.name === f.physical)
        ? structOf(fields.map((f) => [f.name, f.value]))
        : `json_object(${fields.map((f) => `${quoteText(f.name)}, ${f.value}`).join(', ')})`;
      return `CASE WHEN ${x} IS NULL THEN NULL ELSE ${object} END`;
    }
  }
}

/** An array with its elements as `valueOf` writes them; BigQuery refuses to write one that holds a NULL. */
export function arrayOf(ctx: Context, x: string, valueOf: (element: string) => string): string {
  const variable = ctx.variable();
  const value = valueOf(variable);
  const list = value === variable ? x : `list_transform(${x}, lambda ${variable}: ${value})`;
  return `CASE WHEN ${x} IS NULL THEN [] WHEN list_count(${x}) < len(${x}) THEN ${fail('null_element')} ELSE ${list} END`;
}

// ------------------------------------------------------------------------------------------
// Which columns hold values just as a table stores them. In those, arrays inside records are never NULL and no array holds a NULL, so that
// writing them out needs no look inside.

/** The ids of the columns of `query` that are taken from tables unchanged, whole or in part. */
export function storedColumns(query: ResolvedQuery): ReadonlySet<number> {
  const stored = new Set<number>();
  for (const relation of relationsBelow(query)) {
    for (const { column, from, call } of definesOf(relation))
      if (call === null && from.every((source) => isStored(source, stored))) stored.add(column.id);
  }
  return stored;
}

function isStored(expr: Expr, stored: ReadonlySet<number>): boolean {
  if (expr.kind === 'column') return stored.has(expr.column.id);
  if (expr.kind === 'call') return expr.function === '$with_lists' && expr.args.every((arg) => isStored(arg, stored));
  return expr.kind === 'field' && isStored(expr.input, stored);
}
