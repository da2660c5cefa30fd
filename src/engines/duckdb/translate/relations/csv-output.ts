/** Result rows as CSV, just as rendering/csv.ts makes it of their JSON. */
import type { Context } from '../context';
import { type JsonForm, jsonValue, type OutputValue } from './json-output';

/** @param escaped whether formulas are escaped */
export function printCsvLine(ctx: Context, values: readonly OutputValue[], form: JsonForm, escaped: boolean): string {
  const cells = values.map((value) => cell(ctx, value, form, escaped ? 'lq_escaped_csv' : 'lq_csv'));
  return `concat(${[...cells.flatMap((one, i) => (i === 0 ? [one] : [`','`, one])), 'chr(13)', 'chr(10)'].join(', ')})`;
}

/** @param text the macro for what is a text */
function cell(ctx: Context, value: OutputValue, form: JsonForm, text: string): string {
  const json = jsonValue(ctx, value, form);
  switch (value.type.kind) {
    case 'BOOL':
    case 'INT64':
    case 'DATE':
    case 'TIME':
    case 'DATETIME':
    case 'TIMESTAMP':
    case 'NUMERIC':
    case 'BIGNUMERIC':
      // Nothing of these is quoted; `concat` leaves out NULL.
      return json;
    case 'FLOAT64':
      return `trim(CAST(${json} AS VARCHAR), '"')`;
    case 'STRING':
    case 'GEOGRAPHY':
    case 'BYTES':
    case 'INTERVAL':
      return `${text}(${json})`;
    case 'JSON':
      return `CASE json_type(${json}) WHEN 'NULL' THEN '' WHEN 'VARCHAR' THEN ${text}(${json} ->> '$') ELSE lq_csv(CAST(json(${json}) AS VARCHAR)) END`;
    case 'ARRAY':
    case 'STRUCT':
      return `lq_csv(CAST(to_json(${json}) AS VARCHAR))`;
  }
}
