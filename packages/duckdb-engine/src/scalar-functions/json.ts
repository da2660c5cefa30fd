/** Functions of JSON texts, as UTF-8: valid ones, as DuckDB has read them. */
import { type ChunkBudget, scalarFunction } from './scalar-function';

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OBJECT = 0x7b;
const ARRAY = 0x5b;
const BACKSLASH = 0x5c;
const SPACE = 0x20;
/** In this bit brackets differ from braces. */
const CURLY = 0x20;
const OPENS = OBJECT;
const CLOSES = 0x7d;

function closes(byte: number | undefined): boolean {
  return byte !== undefined && (byte | CURLY) === CLOSES;
}

/** Where the next byte is that is no white space. */
function skipSpace(json: Uint8Array, at: number): number {
  while (json[at]! <= SPACE) at++;
  return at;
}

/** Behind the closing quote. @param at where the opening one is */
function endOfString(json: Uint8Array, at: number): number {
  let i = at + 1;
  while (i < json.length && json[i] !== QUOTE) i += json[i] === BACKSLASH ? 2 : 1;
  return i + 1;
}

/** Behind a number, `true`, `false` or `null`. */
function endOfWord(json: Uint8Array, at: number): number {
  let i = at;
  while (i < json.length && json[i]! > SPACE && json[i] !== COMMA && !closes(json[i])) i++;
  return i;
}

/** Behind the last byte of the value that begins at `at`. */
function endOfValue(json: Uint8Array, at: number): number {
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

/** Goes through the members of an object, or the elements of an array, one by one. */
class JsonCursor {
  /** Of the key that is in front of the current value, without its quotes. */
  keyStart = 0;
  keyEnd = 0;
  /** Where its value begins. */
  value = -1;
  readonly #isObject: boolean;
  #at: number;

  constructor(
    private readonly json: Uint8Array,
    /** Where the opening bracket is. */
    open: number,
  ) {
    this.#isObject = json[open] === OBJECT;
    this.#at = open + 1;
  }

  /** Goes to the next item. @returns false: there is none, and `end` is where the closing bracket is */
  next(): boolean {
    const { json } = this;
    let at = this.value < 0 ? this.#at : endOfValue(json, this.value);
    this.value = -1;
    at = skipSpace(json, at);
    if (json[at] === COMMA) {
      at = skipSpace(json, at + 1);
    }
    this.#at = at;
    if (at >= json.length || closes(json[at])) return false;
    if (this.#isObject) {
      this.keyStart = at + 1;
      at = endOfString(json, at);
      this.keyEnd = at - 1;
      at = skipSpace(json, skipSpace(json, at) + 1);
    }
    this.value = at;
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
}

function textOf(bytes: Uint8Array, start: number, end: number): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString();
}

// ---------------------------------------------------------------- JSON_KEYS

/** Levels that are read: each is a call. */
const DEEPEST = 500;
/** Units of the budget for each key: about 100 ns. */
const FOR_KEY = 24;
/** The same for one whose path is not remembered. */
const FOR_NEW_KEY = 512;
/** Characters of the paths that are remembered, with `FOR_NEW_KEY` for each. */
const MOST_REMEMBERED = 4_000_000;

/** A path, with the keys that have been seen below it. Rows of a table mostly have the same ones. */
class Place {
  readonly below = new Map<string, Place>();
  /** The row that it was last seen in. */
  row = 0;
  /** As it is written into the result. */
  readonly text: string;

  constructor(readonly path: string) {
    this.text = JSON.stringify(path);
  }
}

let root = new Place('');
let remembered = 0;
let rows = 0;

/** The paths of all keys, as the text of a JSON array in no particular order. A key that is written in two ways comes twice. */
export const jsonKeys = scalarFunction(['bytes', 'integer', 'text'], 'text', (json, depth, mode, budget) => {
  if (remembered > MOST_REMEMBERED) [root, remembered] = [new Place(''), 0];
  const walk = new Walk(json, mode, budget);
  walk.value(skipSpace(json, 0), root, Number(depth), 0, DEEPEST);
  return walk.failed ? null : `[${walk.found.join(',')}]`;
});

class Walk {
  failed = false;
  readonly found: string[] = [];
  readonly #row = ++rows;
  readonly #bytes: Buffer;

  constructor(
    private readonly json: Uint8Array,
    private readonly mode: string,
    private readonly budget: ChunkBudget,
  ) {
    this.#bytes = Buffer.from(json.buffer, json.byteOffset, json.length);
  }

  /**
   * @param left levels of keys that are wanted below
   * @param arrays how many arrays the value is in, below its key
   * @returns where the value ends
   */
  value(at: number, place: Place, left: number, arrays: number, depth: number): number {
    const { json, mode } = this;
    const first = json[at];
    const isArray = first === ARRAY && mode !== 'strict' && (mode !== 'lax' || arrays === 0);
    if (this.failed || left === 0 || !(isArray || first === OBJECT)) return endOfValue(json, at);
    if (depth === 0) {
      this.failed = true;
      return json.length;
    }
    const items = new JsonCursor(json, at);
    while (items.next()) {
      const child = isArray ? place : this.#below(place, items);
      if (this.failed) return json.length;
      items.skipTo(this.value(items.value, child, isArray ? left : left - 1, isArray ? arrays + 1 : 0, depth - 1));
    }
    return items.end + 1;
  }

  #below(place: Place, items: JsonCursor): Place {
    // As it is written: to read its escapes takes longer.
    const written = this.#bytes.toString('latin1', items.keyStart, items.keyEnd);
    let below = place.below.get(written);
    if (below === undefined) {
      below = new Place(pathOf(place, items.key));
      place.below.set(written, below);
      const units = FOR_NEW_KEY + below.text.length;
      remembered += units;
      if (!this.budget.spend(units)) this.failed = true;
    }
    let units = FOR_KEY;
    if (below.row !== this.#row) {
      below.row = this.#row;
      this.found.push(below.text);
      units += below.text.length;
    }
    if (!this.budget.spend(units)) this.failed = true;
    return below;
  }
}

function pathOf({ path }: Place, key: string): string {
  const name = /^[^."$[\]\s]+$/.test(key) ? key : `"${key.replace(/"/g, '\\"')}"`;
  return path === '' ? name : `${path}.${name}`;
}

// ---------------------------------------------------------------- TO_JSON_STRING

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

/** Units of the budget for each line, beside its spaces. */
const FOR_LINE = 64;

function isPunctuation(byte: number): boolean {
  return byte === COMMA || byte === COLON || byte === OBJECT || byte === ARRAY || closes(byte);
}
