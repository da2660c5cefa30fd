/** CSV after RFC 4180, with a header line. */
import type { Splitter } from './splitter';

const [QUOTE, NEWLINE] = [0x22, 10];

export class CsvSplitter implements Splitter {
  /** A line break inside of quotes is part of a value. */
  split(buffer: Buffer, visit: (start: number, end: number) => void): number {
    let start = 0;
    let quote = buffer.indexOf(QUOTE);
    let quoted = false;
    for (let end = buffer.indexOf(NEWLINE); end !== -1; end = buffer.indexOf(NEWLINE, end + 1)) {
      for (; quote !== -1 && quote < end; quote = buffer.indexOf(QUOTE, quote + 1)) quoted = !quoted;
      if (quoted) continue;
      visit(start, end);
      start = end + 1;
    }
    return start;
  }

  last(buffer: Buffer, visit: (start: number, end: number) => void): number {
    const start = this.split(buffer, visit);
    if (start < buffer.length) visit(start, buffer.length);
    return buffer.length;
  }
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
