/** Result rows as CSV, just as rendering/render.ts makes it of their JSON. */
import { FORMULA_STARTS } from '../../../contract';
import type { Context } from '../context';
import { type JsonForm, jsonValue, type OutputValue } from './json-output';

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
