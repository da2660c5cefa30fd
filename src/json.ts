/**
 * JSON as it is written. `JSON.parse` reads a number through a double and so loses digits of an INT64, and it keeps only the last of two
 * members of one name. The scanners take valid JSON text: what they give for any other is undefined, `JSON.parse` is the judge of that.
 */
import { randomUUID } from 'node:crypto';

export interface Member {
  readonly name: string;
  /** The value's JSON text, without the white space around it. */
  readonly json: string;
}

/** The members of a JSON object, in order. */
export function readMembers(object: string): Member[] {
  const members: Member[] = [];
  let at = skipBlank(object, skipBlank(object, 0) + 1);
  while (at < object.length && object[at] === '"') {
    const nameEnd = endOfString(object, at);
    const start = skipBlank(object, skipBlank(object, nameEnd) + 1);
    const end = endOfValue(object, start);
    members.push({ name: stringValue(object.slice(at, nameEnd)), json: object.slice(start, end) });
    at = skipBlank(object, skipBlank(object, end) + 1);
  }
  return members;
}

/** The elements of a JSON array, at most so many. */
export function readElements(array: string, most = Infinity): string[] {
  const elements: string[] = [];
  let at = skipBlank(array, skipBlank(array, 0) + 1);
  while (at < array.length && array[at] !== ']' && elements.length < most) {
    const end = endOfValue(array, at);
    elements.push(array.slice(at, end));
    at = skipBlank(array, skipBlank(array, end) + 1);
  }
  return elements;
}

const BACKSLASH = 0x5c;

/** The text that a JSON string represents. */
export function stringValue(json: string): string {
  return json.includes('\\') ? (JSON.parse(json) as string) : json.slice(1, -1);
}

function skipBlank(text: string, from: number): number {
  let at = from;
  while (at < text.length && isBlank(text.charCodeAt(at))) at++;
  return at;
}

function isBlank(unit: number): boolean {
  return unit === 0x20 || unit === 0x0a || unit === 0x0d || unit === 0x09;
}

/** Just behind the string that opens at `from`; Infinity where it does not end. */
export function endOfString(text: string, from: number): number {
  for (let quote = text.indexOf('"', from + 1); quote >= 0; quote = text.indexOf('"', quote + 1)) {
    let backslashes = 0;
    while (text.charCodeAt(quote - 1 - backslashes) === BACKSLASH) backslashes++;
    if (backslashes % 2 === 0) return quote + 1;
  }
  return Infinity;
}

/** Just behind the value that begins at `from`. */
function endOfValue(text: string, from: number): number {
  let depth = 0;
  let at = from;
  while (at < text.length) {
    const char = text[at];
    if (char === '"') {
      at = endOfString(text, at);
    } else if (char === '{' || char === '[') {
      depth++;
      at++;
    } else if (char === '}' || char === ']') {
      if (depth === 0) return at;
      depth--;
      at++;
    } else if (depth === 0 && (char === ',' || isBlank(text.charCodeAt(at)))) {
      return at;
    } else {
      at++;
      continue;
    }
    if (depth === 0) return at;
  }
  return at;
}

/** Random and never sent: no text of a row begins with it. */
const MARK = `${randomUUID()}:`;
const STRING_OR_NUMBER = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g;
/** An integer of more digits than a double holds for sure. */
const LONG = /^-?\d{16,}$/;

/** `JSON.parse` in which integers beyond 15 digits are bigints: an INT64 passes through no double. */
export function parseExact(text: string): unknown {
  const marked = text.replace(STRING_OR_NUMBER, (found) => (LONG.test(found) ? `"${MARK}${found}"` : found));
  return JSON.parse(marked, (_name, value: unknown) =>
    typeof value === 'string' && value.startsWith(MARK) ? BigInt(value.slice(MARK.length)) : value,
  );
}

/** JSON on one line, integers with all their digits. Infinite numbers are the texts that the service writes for them. */
export function writeExact(value: unknown): string {
  if (typeof value === 'bigint') return String(value);
  if (typeof value === 'number' && !Number.isFinite(value)) return JSON.stringify(String(value));
  if (Array.isArray(value)) return `[${value.map(writeExact).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  return `{${Object.entries(value)
    .map(([name, member]) => `${JSON.stringify(name)}:${writeExact(member)}`)
    .join(',')}}`;
}
