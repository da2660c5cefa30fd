import { FORMULA_STARTS } from '../engines/contract';
import { readMembers, stringValue } from '../json';

const STARTS: ReadonlySet<number> = new Set(FORMULA_STARTS);

/** A number with its sign, as FLOAT64, NUMERIC and BIGNUMERIC are written; it computes nothing. */
const NUMBER = /^[+-](?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$|^-Infinity$/;

/** The text of a CSV cell that no spreadsheet computes: with an apostrophe before what would be a formula. */
export function withoutFormula(text: string): string {
  return STARTS.has(text.charCodeAt(0)) && !NUMBER.test(text) ? `'${text}` : text;
}

/**
 * The names of the columns, as RFC 4180 has them.
 *
 * @param escapeFormulas whether texts that a spreadsheet would compute get an apostrophe in front
 */
export function csvHeader(columns: readonly string[], escapeFormulas: boolean): string {
  return line(columns.map(escapeFormulas ? escaped : field));
}

/**
 * Rows as RFC 4180: CRLF, null as an empty field. An empty string is written `""`, so that a reader who cares can tell it from
 * null. Records and arrays stay JSON text; numbers keep every digit.
 *
 * @param rows texts of JSON objects whose members stand in the order of the columns
 * @param escapeFormulas as for the header
 */
export function csvLines(rows: readonly string[], escapeFormulas: boolean): string[] {
  const text = escapeFormulas ? escaped : field;
  const cell = (json: string): string => {
    if (json === 'null') return '';
    // What is no string is a number, a Boolean, or JSON of a record or array: never a formula.
    return json.startsWith('"') ? text(stringValue(json)) : field(json);
  };
  return rows.map((row) => line(readMembers(row).map(({ json }) => cell(json))));
}

function line(fields: readonly string[]): string {
  return `${fields.join(',')}\r\n`;
}

function escaped(text: string): string {
  return field(withoutFormula(text));
}

function field(text: string): string {
  return text === '' || /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
