import { endOfString } from '../json';
import { JSON_ESCAPE } from './escapes';
import { mayHoldPii, redactText } from './text';

/**
 * Rows with every string redacted, keys and values, at any depth (docs/redaction.md).
 *
 * `rows`: the text of one JSON object each. Only string literals that hold an address are written anew; everything else
 * keeps its bytes, numbers their digits.
 */
export function redactRows(rows: readonly string[]): string[] {
  return rows.map(redactRow);
}

function redactRow(row: string): string {
  if (!mayHoldPii(row) && !JSON_ESCAPE.test(row)) return row;
  let redacted = '';
  let copied = 0;
  for (let start = row.indexOf('"'); start >= 0;) {
    const end = endOfString(row, start);
    if (end > row.length) throw new TypeError('a row is the text of a JSON object');
    const raw = row.slice(start, end);
    if (mayHoldPii(raw) || JSON_ESCAPE.test(raw)) {
      const text = JSON.parse(raw) as string;
      const masked = redactText(text);
      if (masked !== text) {
        redacted += row.slice(copied, start) + JSON.stringify(masked);
        copied = end;
      }
    }
    start = row.indexOf('"', end);
  }
  return copied === 0 ? row : redacted + row.slice(copied);
}
