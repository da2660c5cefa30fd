/** Result rows in the forms of exports: typed columns, by the type table of docs/querying.md, and CSV, just as rendering/ makes both of rows' JSON. */
import { FORMULA_STARTS } from '../../contract/contract';
import type { Context } from '../context';
import { type JsonForm, jsonValue, type OutputValue, arrayOf, jsonable } from './json-output';
import type { SqlType } from '@logquay/googlesql/types';
import { numericText } from '../expressions/casts';
import { physicalFieldNames, quoteName } from '../../sql';

/** @param escaped whether formulas are escaped */
export function printCsvLine(ctx: Context, values: readonly OutputValue[], form: JsonForm, escaped: boolean): string {
  const macro = escaped ? 'lq_escaped_csv' : 'lq_csv';
  const cells = values.map((value) => cell(ctx, value, form, macro));
  const texts = cells.map((one) => PLAIN_TEXT.exec(one)?.[1]);
  const plain = texts.filter((text) => text !== undefined);
  if (plain.length < 2) return lineOf(cells);
  // What is to be quoted is looked for once in all of a row's texts, and seldom there: each by itself takes twice the time.
  const all = `concat(${plain.join(', ')})`;
  const quoted = ['chr(34)', `','`, 'chr(10)', 'chr(13)'].map((one) => `contains(${all}, ${one})`);
  const alone = plain.map((text) => `${text} = ''${escaped ? ` OR ascii(${text}) IN (${FORMULAS})` : ''}`);
  const asTheyAre = lineOf(cells.map((one, i) => texts[i] ?? one));
  return `CASE WHEN ${[...quoted, ...alone].join(' OR ')} THEN ${lineOf(cells)} ELSE ${asTheyAre} END`;
}

/** A column as a text. */
const PLAIN_TEXT = /^lq_(?:escaped_)?csv\(("c\d+")\)$/;
const FORMULAS = FORMULA_STARTS.join(', ');

/** `concat` leaves out NULL. */
function lineOf(cells: readonly string[]): string {
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
    case 'RANGE':
      return `${text}(${json})`;
    case 'JSON':
      return `CASE json_type(${json}) WHEN 'NULL' THEN '' WHEN 'VARCHAR' THEN ${text}(${json} ->> '$') ELSE lq_csv(CAST(json(${json}) AS VARCHAR)) END`;
    case 'ARRAY':
    case 'STRUCT':
      return `lq_csv(CAST(to_json(${json}) AS VARCHAR))`;
  }
}

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
