/** CSV after RFC 4180, with a header line. */
import type { Splitter } from './splitter';

const [QUOTE, NEWLINE, COMMA] = [0x22, 10, 0x2c];

export class CsvSplitter implements Splitter {
  readonly takesRest = true;

  /** A line break inside of quotes is part of a value; quotes count where a value begins with one. */
  split(buffer: Buffer, visit: (start: number, end: number) => void): number {
    let start = 0;
    for (let at = 0; at < buffer.length;) {
      if (buffer[at] === QUOTE) {
        at = closingQuote(buffer, at + 1);
        if (at === -1) break;
      }
      while (at < buffer.length && buffer[at] !== COMMA && buffer[at] !== NEWLINE) at++;
      if (buffer[at] === NEWLINE) {
        visit(start, at);
        start = at + 1;
      }
      at++;
    }
    return start;
  }
}

/** Behind the quote that ends a value; -1: not in this buffer. */
function closingQuote(buffer: Buffer, from: number): number {
  for (let at = buffer.indexOf(QUOTE, from); at !== -1; at = buffer.indexOf(QUOTE, at + 2)) {
    if (buffer[at + 1] !== QUOTE) return at + 1;
  }
  return -1;
}

/** The header, or a record as a JSON object of texts; values that are empty and not quoted are left out. */
export function csvObject(
  record: string,
  header: readonly string[] | null,
): { readonly header: readonly string[] } | { readonly header: null; readonly text: string } {
  const values = csvValues(record.endsWith('\r') ? record.slice(0, -1) : record);
  if (header === null) return { header: values.map((value) => value ?? '') };
  if (values.length === 1 && values[0] === null) return { header: null, text: '' };
  if (values.length > header.length) return { header: null, text: 'more values than columns' };
  const object: Record<string, string> = {};
  for (const [i, value] of values.entries()) if (value !== null) object[header[i]!] = value;
  return { header: null, text: JSON.stringify(object) };
}

/** null: empty and not quoted. */
function csvValues(record: string): (string | null)[] {
  const values: (string | null)[] = [];
  let at = 0;
  for (;;) {
    if (record.startsWith('"', at)) {
      let text = '';
      let end = record.indexOf('"', at + 1);
      for (let start = at + 1; ; start = end + 1, end = record.indexOf('"', start)) {
        if (end === -1) end = record.length;
        text += record.slice(start, end);
        if (record[end + 1] !== '"') break;
        text += '"';
        end++;
      }
      const comma = record.indexOf(',', end);
      values.push(text);
      if (comma === -1) return values;
      at = comma + 1;
    } else {
      const comma = record.indexOf(',', at);
      const value = record.slice(at, comma === -1 ? undefined : comma);
      values.push(value === '' ? null : value);
      if (comma === -1) return values;
      at = comma + 1;
    }
  }
}
