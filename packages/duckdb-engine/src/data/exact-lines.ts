/**
 * Finds the lines of NDJSON that DuckDB's reader takes as `strict-row.ts` would write them: most lines of most logs, which need
 * not be parsed and printed again. A line is left to that whenever there is a doubt.
 */
import { isUtf8 } from 'node:buffer';

import type { RestField } from '@logquay/googlesql/types';
import { MOST_ROW_VALUES, valuesOfItem } from './row-values';

/** A field's name, and what its values have to be. */
class FieldShape {
  /** The name as far as its closing quote: four bytes each, the last ones once more where they do not come out even. */
  readonly key: Int32Array;
  readonly length: number;
  readonly isRepeated: boolean;
  readonly type: RestField['type'];
  readonly record: RecordShape | null;
  /** Of an element of its list. */
  readonly values: number;
  /** It as a member, if it is a list that is not there. */
  readonly empty: string;
  /** What has followed in the last record: most likely it follows again. */
  next: FieldShape | null = null;
  /** The last record that had it. */
  seenIn = 0;

  constructor(
    field: RestField,
    readonly isRequired: boolean,
    /** Whether it may be neither empty nor begin with an escape. */
    readonly isId: boolean,
  ) {
    const key = Buffer.from(`${field.name}"`);
    this.length = key.length;
    const words = Math.ceil(key.length / WORD);
    this.key = Int32Array.from({ length: key.length < WORD ? 0 : words }, (_, i) =>
      key.readInt32LE(Math.min(i * WORD, key.length - WORD)),
    );
    this.isRepeated = field.mode === 'REPEATED';
    this.type = field.type;
    this.values = valuesOfItem(field);
    this.empty = `${JSON.stringify(field.name)}:[]`;
    this.record = field.type === 'RECORD' ? new RecordShape(field.fields, []) : null;
  }
}

class RecordShape {
  readonly fields: ReadonlyMap<string, FieldShape>;
  /** How many fields have to be there. */
  readonly required: number;
  readonly lists: readonly FieldShape[];
  /** What the last record began with. */
  first: FieldShape | null = null;

  constructor(fields: readonly RestField[], required: readonly string[], id: string | null = null) {
    const shapes = fields.map((field) => {
      const isRequired = field.mode === 'REQUIRED' || required.includes(field.name);
      return [field.name, new FieldShape(field, isRequired, field.name === id)] as const;
    });
    this.fields = new Map(shapes);
    this.required = shapes.filter(([, { isRequired }]) => isRequired).length;
    this.lists = shapes.flatMap(([, shape]) => (shape.isRepeated ? shape : []));
  }
}

const [QUOTE, BACKSLASH, OPEN, CLOSE, OPEN_LIST, CLOSE_LIST, COLON, COMMA, SPACE, ZERO, NINE, MINUS, POINT] = [
  ...Buffer.from(String.raw`"\{}[]:, 09-.`),
] as [number, number, number, number, number, number, number, number, number, number, number, number, number];
const [NULL, TRUE, FALSE] = ['null', 'true', 'false'].map((word) => Buffer.from(word)) as [Buffer, Buffer, Buffer];
const ESCAPED = new Set(Buffer.from(String.raw`"\/bfnrt`));
const UNICODE = 'u'.charCodeAt(0);
/** Bytes that are compared at once. */
const WORD = 4;
/** A bit in each byte of a word: the lowest, and the highest. */
const [ONES, HIGH_BITS] = [0x01010101, 0x80808080];
/** Digits that no reader rounds, of an integer and of any other number. */
const EXACT_DIGITS = 18;
const MOST_DIGITS = 40;
/** What a number's text keeps as `String` prints it. */
const PRINTED_DIGITS = 15;
const DEEPEST = 64;
/** Lists that may be missing in a line: where there are more, writing them is the work. */
const MOST_MISSING = 10_000;
/** A day that is in the calendar of every year, a time of day, and UTC. */
const TIMESTAMP =
  /^(?!0000)\d{4}-(?:(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])|(?:0[13-9]|1[0-2])-(?:29|30)|(?:0[13578]|1[02])-31)[T ](?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,9})?(?:Z|\+00:00)?$/;
const LONGEST_TIMESTAMP = 40;
const ESCAPE = /^[0-9a-f]{4}$/i;

/** What is to be written in place of some bytes of a line. */
interface Patch {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** Where a line is, without its end. */
export interface LinePlace {
  readonly buffer: Buffer;
  readonly start: number;
  readonly end: number;
}

export class ExactLines {
  readonly #row: RecordShape;
  #bytes: Buffer = Buffer.alloc(0);
  #words = new DataView(this.#bytes.buffer);
  #at = 0;
  #end = 0;
  #ascii = true;
  #unknown = 0;
  #values = 0;
  /** Of the line looked at last: where lists are missing. */
  #missing: Patch[] = [];
  #ignored = 0;
  #record = 0;

  readonly #keepsRest: boolean;

  /**
   * @param needs what each row has to have, beside fields that are REQUIRED: `timestamp`, `id`; with `rest` a line with a field beside
   *   the columns is left to be fitted, which keeps the field
   */
  constructor(
    fields: readonly RestField[],
    needs: { readonly timed: boolean; readonly identified: boolean; readonly rest: boolean },
  ) {
    this.#keepsRest = needs.rest;
    const required = [...(needs.timed ? ['timestamp'] : []), ...(needs.identified ? ['id'] : [])];
    this.#row = new RecordShape(fields, required, needs.identified ? 'id' : null);
  }

  /** Values in the lists of the line just found (`MOST_ROW_VALUES`). */
  get values(): number {
    return this.#values;
  }

  /** Fields of lines found since the last call that the schema does not know. */
  takeIgnored(): number {
    const ignored = this.#ignored;
    this.#ignored = 0;
    return ignored;
  }

  /** Whether it is such a line, with one field at least. */
  has({ buffer: bytes, start, end }: LinePlace): boolean {
    if (bytes[start] !== OPEN) return false;
    if (bytes !== this.#bytes) this.#words = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    this.#bytes = bytes;
    this.#at = start + 1;
    this.#end = end;
    this.#ascii = true;
    this.#unknown = 0;
    this.#values = 0;
    this.#missing = [];
    if (this.#space() === CLOSE || !this.#members(this.#row)) return false;
    this.#space();
    if (this.#at !== end || this.#missing.length > MOST_MISSING) return false;
    if (!this.#ascii && !isUtf8(bytes.subarray(start, end))) return false;
    this.#ignored += this.#unknown;
    return true;
  }

  /** The text of a line just found, with every list that is missing or NULL as an empty one. */
  withLists({ buffer, start, end }: LinePlace): string {
    let text = '';
    let at = start;
    for (const patch of this.#missing) {
      text += buffer.toString('utf8', at, patch.start) + patch.text;
      at = patch.end;
    }
    return text + buffer.toString('utf8', at, end);
  }

  /** What comes next, behind space; NaN at the end. */
  #space(): number {
    const bytes = this.#bytes;
    let at = this.#at;
    while (at < this.#end && (bytes[at] === SPACE || bytes[at] === 9 || bytes[at] === 13)) at++;
    this.#at = at;
    return at < this.#end ? bytes[at]! : NaN;
  }

  /** Members of a record up to its closing brace, with it. */
  #members(record: RecordShape): boolean {
    const own = ++this.#record;
    let missing = record.required;
    let before: FieldShape | null = null;
    let next = this.#space();
    if (next === CLOSE) {
      this.#at++;
      this.#seeLists(record, own, true);
      return missing === 0;
    }
    for (;;) {
      if (next !== QUOTE) return false;
      this.#at++;
      const likely: FieldShape | null = before === null ? record.first : before.next;
      const field: FieldShape | null | false = likely !== null && this.#readsKey(likely) ? likely : this.#field(record);
      if (field === false || this.#space() !== COLON) return false;
      this.#at++;
      next = this.#space();
      if (field === null) {
        if (this.#keepsRest) return false;
        this.#unknown++;
        if (!this.#any(next, 0)) return false;
      } else {
        if (field.seenIn === own) return false;
        field.seenIn = own;
        if (before === null) record.first = field;
        else before.next = field;
        before = field;
        if (next === 110) {
          if (!this.#reads(NULL)) return false;
          if (field.isRepeated) this.#missing.push({ start: this.#at - NULL.length, end: this.#at, text: '[]' });
        } else {
          if (!(field.isRepeated ? this.#list(field, next) : this.#item(field, next))) return false;
          if (field.isRequired) missing--;
        }
      }
      next = this.#space();
      this.#at++;
      if (next === CLOSE) {
        this.#seeLists(record, own, false);
        return missing === 0;
      }
      if (next !== COMMA) return false;
      next = this.#space();
    }
  }

  /** Lists of a record that has ended which it did not have. */
  #seeLists({ lists }: RecordShape, own: number, isEmpty: boolean): void {
    // That is enough to leave the line out.
    if (this.#missing.length > MOST_MISSING) return;
    const start = this.#at - 1;
    let comma = isEmpty ? '' : ',';
    for (const { seenIn, empty } of lists) {
      if (seenIn === own) continue;
      this.#missing.push({ start, end: start, text: `${comma}${empty}` });
      comma = ',';
    }
  }

  /** The field whose name comes next; null: the record has none of that name; false: the name needs a closer look. */
  #field(record: RecordShape): FieldShape | null | false {
    const bytes = this.#bytes;
    const start = this.#at;
    let at = start;
    for (; at < this.#end && bytes[at] !== QUOTE; at++) {
      const byte = bytes[at]!;
      if (byte === BACKSLASH || byte < SPACE || byte > 126) return false;
    }
    this.#at = at + 1;
    return record.fields.get(bytes.toString('latin1', start, at)) ?? null;
  }

  #list(field: FieldShape, first: number): boolean {
    if (first !== OPEN_LIST) return false;
    this.#at++;
    let next = this.#space();
    if (next === CLOSE_LIST) {
      this.#at++;
      return true;
    }
    for (;;) {
      this.#values += field.values;
      if (this.#values > MOST_ROW_VALUES || !this.#item(field, next)) return false;
      next = this.#space();
      this.#at++;
      if (next === CLOSE_LIST) return true;
      if (next !== COMMA) return false;
      next = this.#space();
    }
  }

  /** A value that is not NULL, of a field or of its list. @param first the byte that it begins with */
  #item(field: FieldShape, first: number): boolean {
    switch (field.type) {
      case 'RECORD':
        if (first !== OPEN) return false;
        this.#at++;
        return this.#members(field.record!);
      case 'STRING':
        if (first !== QUOTE) return !field.isId && (this.#isBoolean() || this.#isInteger(PRINTED_DIGITS));
        if (field.isId && (this.#bytes[this.#at + 1] === QUOTE || this.#bytes[this.#at + 1] === BACKSLASH))
          return false;
        return this.#string();
      case 'INT64':
        return this.#isInteger(EXACT_DIGITS);
      case 'FLOAT64':
        return this.#isNumber();
      case 'BOOL':
        return this.#isBoolean();
      case 'TIMESTAMP':
        return first === QUOTE && this.#timestamp();
      default:
        return false;
    }
  }

  #string(): boolean {
    const bytes = this.#bytes;
    const words = this.#words;
    const end = this.#end;
    let at = this.#at + 1;
    for (;;) {
      while (at + WORD <= end && isPlain(words.getInt32(at, true))) at += WORD;
      for (const next = Math.min(at + WORD, end); at < next; at++) {
        const byte = bytes[at]!;
        if (byte === QUOTE) {
          this.#at = at + 1;
          return true;
        }
        if (byte === BACKSLASH) {
          at = this.#escape(at + 1);
          if (at === -1) return false;
        } else if (byte < SPACE) return false;
        else if (byte > 127) this.#ascii = false;
      }
      if (at >= end) return false;
    }
  }

  /** The last byte of an escape; -1: half a character or none. */
  #escape(at: number): number {
    const byte = this.#bytes[at]!;
    if (byte !== UNICODE) return ESCAPED.has(byte) ? at : -1;
    const digits = this.#bytes.toString('latin1', at + 1, at + 5);
    return ESCAPE.test(digits) && !/^d[89a-f]|^0000/i.test(digits) ? at + 4 : -1;
  }

  #timestamp(): boolean {
    const start = this.#at + 1;
    const end = this.#bytes.indexOf(QUOTE, start);
    if (end - start > LONGEST_TIMESTAMP || end < start) return false;
    this.#at = end + 1;
    return TIMESTAMP.test(this.#bytes.toString('latin1', start, end));
  }

  #isBoolean(): boolean {
    return this.#reads(TRUE) || this.#reads(FALSE);
  }

  /** An integer as every reader prints it, of at most so many digits. */
  #isInteger(most: number): boolean {
    if (this.#bytes[this.#at] === MINUS) {
      this.#at++;
      if (this.#bytes[this.#at] === ZERO) return false;
    }
    return this.#digits(most);
  }

  /** A number without an exponent. */
  #isNumber(): boolean {
    if (this.#bytes[this.#at] === MINUS) this.#at++;
    if (!this.#digits(MOST_DIGITS)) return false;
    if (this.#bytes[this.#at] !== POINT) return true;
    const start = ++this.#at;
    while (isDigit(this.#bytes[this.#at]!) && this.#at - start < MOST_DIGITS) this.#at++;
    return this.#at > start;
  }

  /** Digits of an integer; what follows them is looked at by who reads on. */
  #digits(most: number): boolean {
    const bytes = this.#bytes;
    const start = this.#at;
    let at = start;
    while (isDigit(bytes[at]!) && at - start <= most) at++;
    this.#at = at;
    const count = at - start;
    return count > 0 && count <= most && (count === 1 || bytes[start] !== ZERO);
  }

  /** Any JSON value. */
  #any(first: number, depth: number): boolean {
    if (depth > DEEPEST) return false;
    if (first === QUOTE) return this.#string();
    if (first !== OPEN && first !== OPEN_LIST) return this.#reads(NULL) || this.#isBoolean() || this.#isNumber();
    const close = first === OPEN ? CLOSE : CLOSE_LIST;
    this.#at++;
    let next = this.#space();
    if (next === close) {
      this.#at++;
      return true;
    }
    for (;;) {
      if (first === OPEN) {
        if (next !== QUOTE || !this.#string() || this.#space() !== COLON) return false;
        this.#at++;
        next = this.#space();
      }
      if (!this.#any(next, depth + 1)) return false;
      next = this.#space();
      this.#at++;
      if (next === close) return true;
      if (next !== COMMA) return false;
      next = this.#space();
    }
  }

  /** Whether a field's name comes next; if so, it is behind. */
  #readsKey({ key, length }: FieldShape): boolean {
    const at = this.#at;
    const last = key.length - 1;
    if (last < 0 || at + length > this.#end) return false;
    const words = this.#words;
    for (let i = 0; i < last; i++) if (words.getInt32(at + i * WORD, true) !== key[i]) return false;
    if (words.getInt32(at + length - WORD, true) !== key[last]) return false;
    this.#at = at + length;
    return true;
  }

  /** Whether these bytes come next; if so, they are behind. */
  #reads(expected: Buffer): boolean {
    const bytes = this.#bytes;
    const at = this.#at;
    const { length } = expected;
    for (let i = 0; i < length; i++) if (bytes[at + i] !== expected[i]) return false;
    this.#at = at + length;
    return true;
  }
}

/** Whether each of four bytes is ASCII, no control character, quote or backslash. It may be missed behind a byte that is not plain. */
function isPlain(word: number): boolean {
  const quotes = (word ^ (QUOTE * ONES)) - ONES;
  const backslashes = (word ^ (BACKSLASH * ONES)) - ONES;
  const controls = word - SPACE * ONES;
  return ((word | quotes | backslashes | controls) & HIGH_BITS) === 0;
}

function isDigit(byte: number): boolean {
  return byte >= ZERO && byte <= NINE;
}
