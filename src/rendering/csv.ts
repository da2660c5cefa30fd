import { readMembers, stringValue } from './members';

/**
 * Rows as RFC 4180: a header line, CRLF, null as an empty field. An empty string is written `""`, so that a reader who
 * cares can tell it from null. Records and arrays stay JSON text; numbers keep every digit.
 *
 * @param rows texts of JSON objects whose members stand in the order of `columns`
 */
export function csvLines(columns: readonly string[], rows: readonly string[]): string[] {
  return [line(columns.map(field)), ...rows.map((row) => line(readMembers(row).map(({ json }) => cell(json))))];
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
