/** Where things are in the text of a JSON value, as UTF-8. The text is valid: DuckDB has read it. Nothing here calls itself. */

import type { ChunkBudget } from './chunk-budget';

/** A key of an object, or an index of an array. */
export type JsonStep = string | number;

export const QUOTE = 0x22;
export const COMMA = 0x2c;
export const COLON = 0x3a;
export const OBJECT = 0x7b;
export const ARRAY = 0x5b;
const BACKSLASH = 0x5c;
/** Units of the budget for a key with escapes, beside its bytes. */
const FOR_ESCAPED_KEY = 256;
const SPACE = 0x20;
/** In this bit brackets differ from braces. */
const CURLY = 0x20;
const OPENS = OBJECT;
const CLOSES = 0x7d;

export function closes(byte: number | undefined): boolean {
  return byte !== undefined && (byte | CURLY) === CLOSES;
}

/** Where the next byte is that is no white space. */
export function skipSpace(json: Uint8Array, at: number): number {
  while (json[at]! <= SPACE) at++;
  return at;
}

/** Behind the closing quote. @param at where the opening one is */
export function endOfString(json: Uint8Array, at: number): number {
  let i = at + 1;
  while (i < json.length && json[i] !== QUOTE) i += json[i] === BACKSLASH ? 2 : 1;
  return i + 1;
}

/** Behind a number, `true`, `false` or `null`. */
export function endOfWord(json: Uint8Array, at: number): number {
  let i = at;
  while (i < json.length && json[i]! > SPACE && json[i] !== COMMA && !closes(json[i])) i++;
  return i;
}

/** Behind the last byte of the value that begins at `at`. */
export function endOfValue(json: Uint8Array, at: number): number {
  const first = json[at];
  if (first === QUOTE) return endOfString(json, at);
  if (first !== OBJECT && first !== ARRAY) return endOfWord(json, at);
  let depth = 0;
  let i = at;
  do {
    const byte = json[i]!;
    if (byte === QUOTE) i = endOfString(json, i);
    else {
      if ((byte | CURLY) === OPENS) depth++;
      else if ((byte | CURLY) === CLOSES) depth--;
      i++;
    }
  } while (depth > 0 && i < json.length);
  return i;
}

/** `null`; `nan` begins with the same letter. */
export function isNull(json: Uint8Array, at: number): boolean {
  return json[at] === 0x6e && json[at + 1] === 0x75;
}

/** Goes through the members of an object, or the elements of an array, one by one. */
export class JsonCursor {
  /** Of the key that is in front of the current value, without its quotes. */
  keyStart = 0;
  keyEnd = 0;
  /** Where the comma before the current item is; before the first the opening bracket. */
  comma: number;
  /** Where the current item begins, at its key if it has one. */
  start = 0;
  /** Where its value begins. */
  value = -1;
  /** Items passed so far, the current one included. */
  count = 0;
  readonly #isObject: boolean;
  #at: number;

  constructor(
    private readonly json: Uint8Array,
    /** Where the opening bracket is. */
    open: number,
  ) {
    this.#isObject = json[open] === OBJECT;
    this.comma = open;
    this.#at = open + 1;
  }

  /** Goes to the next item. @returns false: there is none, and `end` is where the closing bracket is */
  next(): boolean {
    const { json } = this;
    let at = this.value < 0 ? this.#at : endOfValue(json, this.value);
    this.value = -1;
    at = skipSpace(json, at);
    if (json[at] === COMMA) {
      this.comma = at;
      at = skipSpace(json, at + 1);
    }
    this.#at = at;
    if (at >= json.length || closes(json[at])) return false;
    this.start = at;
    if (this.#isObject) {
      this.keyStart = at + 1;
      at = endOfString(json, at);
      this.keyEnd = at - 1;
      at = skipSpace(json, skipSpace(json, at) + 1);
    }
    this.value = at;
    this.count++;
    return true;
  }

  /** The current value has been read up to `end`. */
  skipTo(end: number): void {
    this.value = -1;
    this.#at = end;
  }

  get end(): number {
    return this.#at;
  }

  /** The text of the current key. */
  get key(): string {
    const { json, keyStart, keyEnd } = this;
    const written = textOf(json, keyStart, keyEnd);
    return written.includes('\\') ? (JSON.parse(`"${written}"`) as string) : written;
  }

  /** Whether the current key is `key`, whose UTF-8 is `bytes`. */
  hasKey(key: string, bytes: Uint8Array, budget: ChunkBudget): boolean {
    const { json, keyStart, keyEnd } = this;
    for (let i = keyStart; i < keyEnd; i++) {
      if (json[i] === BACKSLASH) return budget.spend(FOR_ESCAPED_KEY) && this.key === key;
    }
    if (keyEnd - keyStart !== bytes.length) return false;
    for (let i = 0; i < bytes.length; i++) if (json[keyStart + i] !== bytes[i]) return false;
    return true;
  }
}

export function textOf(bytes: Uint8Array, start: number, end: number): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString();
}
