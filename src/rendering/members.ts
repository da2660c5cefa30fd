/**
 * The members of a JSON object as they are written. `JSON.parse` reads a number through a double and so loses digits of
 * an INT64, and it keeps only the last of two members of one name; both matter to who calls this.
 */
export interface Member {
  readonly name: string;
  /** The value's JSON text, without the white space around it. */
  readonly json: string;
}

/** @param object valid JSON text of one object; what any other text gives is undefined, `JSON.parse` is the judge of that */
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

/** The elements of a JSON array as they are written. @param array valid JSON text of one */
export function readElements(array: string): string[] {
  const elements: string[] = [];
  let at = skipBlank(array, skipBlank(array, 0) + 1);
  while (at < array.length && array[at] !== ']') {
    const end = endOfValue(array, at);
    elements.push(array.slice(at, end));
    at = skipBlank(array, skipBlank(array, end) + 1);
  }
  return elements;
}

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

/** Just behind the string that opens at `from`. */
function endOfString(text: string, from: number): number {
  let at = from + 1;
  while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
  return at + 1;
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
