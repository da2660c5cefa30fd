/** Result columns with their values, by the type table of docs/exports.md, as rendering/columnar makes them of rows' JSON. */
import type { SqlType } from '../../../../googlesql/types';
import type { Context } from '../context';
import { numericText } from '../expressions/value-texts';
import { physicalFieldNames, quoteName } from '../../sql';
import { arrayOf, type JsonForm, jsonable, type OutputValue } from './json-output';

export function printColumns(ctx: Context, values: readonly OutputValue[], form: JsonForm): string {
  return values.map(({ name, sql, type }) => `${typed(ctx, sql, type, form)} AS ${quoteName(name)}`).join(', ');
}

/** How many columns a file has for values of a type. */
export function leavesOf(type: SqlType): number {
  if (type.kind === 'ARRAY') return leavesOf(type.element);
  if (type.kind !== 'STRUCT') return 1;
  return type.fields.reduce((sum, field) => sum + leavesOf(field.type), 0);
}

/** `x` is a name: it is repeated. */
function typed(ctx: Context, x: string, type: SqlType, form: JsonForm): string {
  switch (type.kind) {
    case 'BOOL':
    case 'INT64':
    case 'FLOAT64':
    case 'STRING':
    case 'GEOGRAPHY':
    case 'BYTES':
    case 'DATE':
    case 'TIME':
    case 'DATETIME':
    case 'NUMERIC':
      return x;
    case 'TIMESTAMP':
      // A cast looks the zone up for each value, which takes ten times as long.
      return `make_timestamptz(epoch_us(${x}))`;
    case 'BIGNUMERIC':
      return numericText(x, type.kind);
    case 'INTERVAL':
    case 'RANGE':
      return jsonable(ctx, x, type, form);
    case 'JSON':
      return withoutNull(`json(${x})`);
    case 'ARRAY':
      return arrayOf(ctx, x, (element) => typed(ctx, element, type.element, form));
    case 'STRUCT': {
      const physical = physicalFieldNames(type.fields);
      // Fields that no reader could tell apart by their names stay JSON.
      if (type.fields.length === 0 || type.fields.some(({ name }, i) => name !== physical[i])) {
        return withoutNull(`to_json(${jsonable(ctx, x, type, form)})`);
      }
      const fields = type.fields.map((field, i) => {
        const name = quoteName(physical[i]!);
        return `${name} := ${typed(ctx, `${x}.${name}`, field.type, form)}`;
      });
      return `CASE WHEN ${x} IS NOT NULL THEN struct_pack(${fields.join(', ')}) END`;
    }
  }
}

/** The null of JSON is one to every reader, as in the JSON of a row. */
function withoutNull(json: string): string {
  return `nullif(${json}, 'null')`;
}
