/** Result rows as JSON, by the type table of the service: DuckDB writes the text, JavaScript never sees the values. */
import type { SqlType } from '../../../../googlesql/types';
import type { Context } from '../context';
import { numericText } from '../expressions/value-texts';
import { fail, physicalFieldNames, quoteName, quoteText, structOf } from '../../sql';

/** How values are written where there is a choice. */
export interface JsonForm {
  /** BYTES as null. */
  readonly hideBytes: boolean;
  /** TIMESTAMP as ISO 8601 text rather than as microseconds. */
  readonly isoTimestamps: boolean;
}

/** The text of one row; `values` are column names or fields of one. */
export function printRow(
  ctx: Context,
  values: readonly { readonly name: string; readonly sql: string; readonly type: SqlType; readonly stored: boolean }[],
  form: JsonForm,
): string {
  if (values.length === 0) return `'{}'`;
  const pairs = values.map(
    (v) =>
      `${quoteText(v.name)}, ${v.stored ? storedJson(ctx, v.sql, v.type, form) : jsonable(ctx, v.sql, v.type, form)}`,
  );
  return `CAST(json_object(${pairs.join(', ')}) AS VARCHAR)`;
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

/** An expression whose `to_json` is the value's JSON. `x` is a name: it is repeated. */
function jsonable(ctx: Context, x: string, type: SqlType, form: JsonForm): string {
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
      return numericText(x);
    case 'BYTES':
      return form.hideBytes ? `CAST(NULL AS VARCHAR)` : `to_base64(${x})`;
    case 'ARRAY':
      // BigQuery refuses to write an array that holds a NULL.
      return (
        `CASE WHEN ${x} IS NULL THEN [] WHEN list_count(${x}) < len(${x}) THEN ${fail('null_element')} ` +
        `ELSE ${listOf(ctx, x, type.element, form)} END`
      );
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

function listOf(ctx: Context, x: string, element: SqlType, form: JsonForm): string {
  const variable = ctx.variable();
  const value = jsonable(ctx, variable, element, form);
  return value === variable ? x : `list_transform(${x}, lambda ${variable}: ${value})`;
}
