/** A JSON text on lines of its own, as TO_JSON_STRING writes it for people. */
import { ARRAY, closes, COLON, COMMA, endOfString, OBJECT, QUOTE, skipSpace } from './json-scan';
import { scalarFunction } from './scalar-function';

const INDENT = '  ';

/** Two spaces more for each level; what is empty stays together. */
export const prettyJson = scalarFunction(['bytes'], 'bytes', (json, budget) => {
  const parts: (Uint8Array | string)[] = [];
  let depth = 0;
  const newLine = (): boolean => {
    parts.push(`\n${INDENT.repeat(depth)}`);
    return budget.spend(FOR_LINE + depth * INDENT.length);
  };
  for (let at = skipSpace(json, 0); at < json.length; at = skipSpace(json, at)) {
    const byte = json[at]!;
    let end = at + 1;
    let fits = true;
    if (byte === QUOTE) end = endOfString(json, at);
    else if (!isPunctuation(byte)) while (end < json.length && !isPunctuation(json[end]!) && json[end]! > SPACE) end++;
    if (closes(byte)) {
      depth--;
      fits = newLine();
    }
    parts.push(json.subarray(at, end));
    if (byte === COLON) parts.push(' ');
    if (byte === COMMA) fits = newLine();
    if (byte === OBJECT || byte === ARRAY) {
      const next = skipSpace(json, end);
      if (closes(json[next])) {
        parts.push(json.subarray(next, next + 1));
        end = next + 1;
      } else {
        depth++;
        fits = newLine();
      }
    }
    if (!fits) return null;
    at = end;
  }
  return Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : part)));
});

const SPACE = 0x20;
/** Units of the budget for each line, beside its spaces. */
const FOR_LINE = 64;

function isPunctuation(byte: number): boolean {
  return byte === COMMA || byte === COLON || byte === OBJECT || byte === ARRAY || closes(byte);
}
