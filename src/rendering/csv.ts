import { readMembers, stringValue } from './members';

/** The names of the columns, as RFC 4180 has them. */
export function csvHeader(columns: readonly string[]): string {
  return line(columns.map(field));
}

/**
 * Rows as RFC 4180: CRLF, null as an empty field. An empty string is written `""`, so that a reader who cares can tell it from
 * null. Records and arrays stay JSON text; numbers keep every digit.
 *
 * @param rows texts of JSON objects whose members stand in the order of the columns
 */
export function csvLines(rows: readonly string[]): string[] {
  return rows.map((row) => line(readMembers(row).map(({ json }) => cell(json))));
}

function line(fields: readonly string[]): string {
  return `${fields.join(',')}\r\n`;
}

function cell(json: string): string {
  if (json === 'null') return '';
  return field(json.startsWith('"') ? stringValue(json) : json);
}

function field(text: string): string {
  return text === '' || /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
