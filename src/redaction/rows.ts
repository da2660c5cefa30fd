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
    const end = endOfLiteral(row, start);
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

/** Behind the closing quote of the literal that begins at `start`. */
function endOfLiteral(row: string, start: number): number {
  for (let quote = row.indexOf('"', start + 1); quote >= 0; quote = row.indexOf('"', quote + 1)) {
    let backslashes = 0;
    while (row.charCodeAt(quote - 1 - backslashes) === 0x5c) backslashes++;
    if (backslashes % 2 === 0) return quote + 1;
  }
  throw new TypeError('a row is the text of a JSON object');
}
