/** Complete records of a text: lines, elements of one JSON array, or CSV records. */
import type { LinePlace } from '../data/exact-lines';
import { LONGEST_LINE } from '../data/file-scan';
import { Unfit } from '../data/strict-row';
import { isJsonLine, rowOfText } from '../data/text-line';
import { ContentFault, type Position } from './content';
import type { SourceFormat } from './folder-scan';

export interface RawRecord {
  /** A JSON text, if it is a row. */
  readonly text: string;
  /** Why it is no row, where that is known without its text; null: nothing is. */
  readonly fault: Unfit | null;
  /** The bytes that are that text; null: it is written in another way. */
  readonly place: LinePlace | null;
  /** From 1. */
  readonly line: number;
}

/** A record whose text is decoded when it is needed. */
class PlacedRecord implements RawRecord {
  readonly fault = null;

  constructor(
    readonly place: LinePlace,
    readonly line: number,
  ) {}

  get text(): string {
    const { buffer, start, end } = this.place;
    const text = buffer.toString('utf8', start, end);
    return this.line === 1 && text.startsWith('\ufeff') ? text.slice(1) : text;
  }
}

export interface RecordBatch {
  readonly records: readonly RawRecord[];
  /** Behind the last of them. */
  readonly position: Position;
}

/** How the lines of a log are read. */
export interface TextForm {
  /** When the file was written, in milliseconds since 1970. */
  readonly written: number;
}

/**
 * Reads records from a position on. What is not complete at the end waits, unless nothing will follow.
 *
 * @param content from `position.offset` on
 * @param text null: every line of a log is JSON
 * @param complete whether nothing will follow; called where something is left at the end, with whether that ends with its line
 * @throws ContentFault for an element of an array that is too long; what reading the content throws
 */
export async function* readRecords(
  content: AsyncIterable<Buffer>,
  format: SourceFormat,
  position: Position,
  text: TextForm | null,
  complete: (isLine: boolean) => boolean,
): AsyncGenerator<RecordBatch> {
  const reader = new RecordReader(format, position, text);
  let parts: Buffer[] = [];
  let length = 0;
  for await (const block of content) {
    parts.push(block);
    length += block.length;
    // A record that is longer than what is read at once is not looked through again with every block.
    if (length > 2 * block.length && length <= LONGEST_LINE && !reader.mayEnd(block)) continue;
    const { rest, ...batch } = reader.take(parts.length === 1 ? parts[0]! : Buffer.concat(parts), false);
    parts = rest.length === 0 ? [] : [rest];
    length = rest.length;
    if (batch.position.offset > position.offset) yield batch;
  }
  const rest = Buffer.concat(parts);
  if (length > 0 && complete(reader.isWhole(rest))) {
    const { records, position: end } = reader.take(rest, true);
    yield { records, position: end };
  }
}

class RecordReader {
  #offset: number;
  #records: number;
  #header: readonly string[] | null;
  #array: boolean | null;
  #text: boolean | null;
  #open: boolean;
  #tooLong: boolean;
  #splitter: Splitter | null = null;

  constructor(
    private readonly format: SourceFormat,
    { offset, records, header, array, text, open, tooLong }: Position,
    private readonly textForm: TextForm | null,
  ) {
    this.#offset = offset;
    this.#records = records;
    this.#header = header;
    this.#array = array;
    this.#text = text;
    this.#open = open;
    this.#tooLong = tooLong;
  }

  /** Whether what is left at the end is whole, unless lines follow that belong to it. */
  isWhole(rest: Buffer): boolean {
    return this.#text === true && rest.at(-1) === NEWLINE;
  }

  /** Whether a record may end in the block. */
  mayEnd(block: Buffer): boolean {
    return this.#array === true ? block.includes('}') || block.includes(']') : block.includes(NEWLINE);
  }

  /**
   * @param buffer from the position on
   * @param last whether nothing follows it
   * @returns `rest`: what belongs to no complete record yet
   */
  take(buffer: Buffer, last: boolean): RecordBatch & { readonly rest: Buffer } {
    const splitter = this.#splitterOf(buffer, last);
    // Of a log without a line it is not known yet.
    if (this.format !== 'log' || this.#text !== null) this.#splitter = splitter;
    const records: RawRecord[] = [];
    const visitIn = (part: Buffer) => (start: number, end: number) => this.#visit(part, start, end, records);
    let rest = this.#open && buffer[0] === NEWLINE ? buffer.subarray(1) : buffer;
    for (;;) {
      rest = rest.subarray(splitter.split(rest, visitIn(rest)));
      if (rest.length <= LONGEST_LINE) break;
      if (!splitter.takesRest) throw new ContentFault('an element of the array is longer than 16 MiB');
      // Quotes of a CSV file that do not end hold up no more than this.
      const end = rest.indexOf(NEWLINE);
      this.#tooLong = true;
      if (end !== -1) this.#visit(rest, 0, end, records);
      rest = rest.subarray(end === -1 ? rest.length : end + 1);
    }
    this.#open &&= rest.length === buffer.length;
    if (last && splitter.takesRest && rest.length > 0) {
      this.#visit(rest, 0, rest.length, records);
      this.#open = !this.isWhole(rest);
      rest = rest.subarray(rest.length);
    }
    this.#offset += buffer.length - rest.length;
    return { records, position: this.#position, rest };
  }

  get #position(): Position {
    return {
      offset: this.#offset,
      records: this.#records,
      header: this.#header,
      array: this.#array,
      text: this.#text,
      open: this.#open,
      tooLong: this.#tooLong,
    };
  }

  #visit(buffer: Buffer, start: number, end: number, records: RawRecord[]): void {
    const line = ++this.#records;
    const tooLong = this.#tooLong || end - start > LONGEST_LINE;
    this.#tooLong = false;
    const add = (text: string, fault: Unfit | null = null): void =>
      void records.push({ text, fault, place: null, line });
    if (tooLong) return add('', new Unfit('the line is too long', 'too_long'));
    const record = new PlacedRecord({ buffer, start, end }, line);
    if (this.#text === true && this.textForm !== null) {
      return add(rowOfText(record.text, this.textForm.written));
    }
    if (this.format !== 'csv') return void records.push(record);
    const values = csvValues(record.text.endsWith('\r') ? record.text.slice(0, -1) : record.text);
    if (values.length === 1 && values[0] === null) return add('');
    if (this.#header === null) this.#header = csvHeader(values);
    else if (values.slice(this.#header.length).some((value) => value !== null)) {
      add('', new Unfit('more values than columns'));
    } else add(csvObject(values, this.#header));
  }

  #splitterOf(buffer: Buffer, last: boolean): Splitter {
    if (this.#splitter !== null) return this.#splitter;
    if (this.format === 'csv') return new CsvSplitter();
    if (this.format === 'log' && this.textForm !== null) {
      this.#text ??= isText(buffer, last);
      return this.#text === true ? new TextSplitter() : new LineSplitter();
    }
    if (this.format !== 'json') return new LineSplitter();
    this.#array ??= isArray(buffer);
    return this.#array ? new ArraySplitter() : new LineSplitter();
  }
}

/** Whether the first line of a log is plain text; null: there is none yet. */
function isText(buffer: Buffer, last: boolean): boolean | null {
  for (let start = pastHole(buffer, 0); start < buffer.length;) {
    const next = buffer.indexOf(NEWLINE, start);
    if (next === -1 && !last) return null;
    const end = next === -1 ? buffer.length : next;
    const line = buffer.toString('utf8', start, end).replace(/^\ufeff/, '');
    if (line.trim() !== '') return !isJsonLine(line);
    start = end + 1;
  }
  return null;
}

function isArray(buffer: Buffer): boolean {
  return /^\ufeff?\s*\[/.test(buffer.toString('utf8', 0, 1024));
}

/** Where records end in a text: lines, elements of one JSON array, CSV records (RFC 4180, with a header line). */

/** Finds where records end. */
export interface Splitter {
  /** Whether what follows the last complete record is one, too, where the content ends. */
  readonly takesRest: boolean;
  /**
   * @param buffer begins where a record does, or between two
   * @param visit called with the bounds of each complete record
   * @returns bytes that need not be shown again
   */
  split(buffer: Buffer, visit: (start: number, end: number) => void): number;
}

const [QUOTE, NEWLINE, COMMA, BACKSLASH, SPACE, TAB] = [0x22, 10, 0x2c, 0x5c, 0x20, 9];
class LineSplitter implements Splitter {
  readonly takesRest = true;

  split(buffer: Buffer, visit: (start: number, end: number) => void): number {
    let start = pastHole(buffer, 0);
    for (let end = buffer.indexOf(NEWLINE, start); end !== -1; end = buffer.indexOf(NEWLINE, start)) {
      visit(start, end);
      start = pastHole(buffer, end + 1);
    }
    return start;
  }
}

/** Bytes of the lines that belong to the one before them. */
const MOST_CONTINUED = 1024 * 1024;

/** Lines of text: those that begin with white space belong to the one before. */
class TextSplitter implements Splitter {
  readonly takesRest = true;

  split(buffer: Buffer, visit: (start: number, end: number) => void): number {
    let start = pastHole(buffer, 0);
    for (let end = buffer.indexOf(NEWLINE, start); end !== -1; end = buffer.indexOf(NEWLINE, end + 1)) {
      const next = buffer[end + 1];
      // What follows is not known yet.
      if (next === undefined) return start;
      if ((next === SPACE || next === TAB) && end - start < MOST_CONTINUED) continue;
      visit(start, end);
      start = pastHole(buffer, end + 1);
    }
    return start;
  }
}

/** Truncating a file under a writer that does not append leaves zeros where the text was. */
function pastHole(buffer: Buffer, start: number): number {
  let at = start;
  while (buffer[at] === 0) at++;
  return at;
}

const OPENING = new Set([0x5b, 0x7b]);
const CLOSING = new Set([0x5d, 0x7d]);
/** A byte order mark, white space, and what is between elements: brackets of the array, commas, and a brace too many. */
const BETWEEN = new Set([0xef, 0xbb, 0xbf, 0x20, 0x09, 0x0a, 0x0d, COMMA, 0x5d, 0x7d]);

/** The elements of one JSON array. What follows the array is read as more elements: no file is refused for its end. */
class ArraySplitter implements Splitter {
  readonly takesRest = false;
  /** The array's own bracket is behind. */
  #inside = false;

  split(buffer: Buffer, visit: (start: number, end: number) => void): number {
    let used = 0;
    for (let at = 0; at < buffer.length;) {
      const byte = buffer[at]!;
      if (BETWEEN.has(byte) || (!this.#inside && byte === 0x5b)) {
        this.#inside ||= byte === 0x5b || byte === COMMA;
        used = ++at;
        continue;
      }
      this.#inside = true;
      const end = endOf(buffer, at);
      if (end === -1) return used;
      visit(at, end);
      used = at = end;
    }
    return used;
  }
}

/** Where the value that begins at `start` ends; -1: not in this buffer. */
function endOf(buffer: Buffer, start: number): number {
  let depth = 0;
  for (let at = start; at < buffer.length; at++) {
    const byte = buffer[at]!;
    if (byte === QUOTE) {
      at = stringEnd(buffer, at);
      if (at === -1) return -1;
      if (depth === 0) return at + 1;
    } else if (OPENING.has(byte)) depth++;
    else if (CLOSING.has(byte)) {
      // A number, or a word, that ends with the array.
      if (depth === 0) return at;
      if (--depth === 0) return at + 1;
    } else if (depth === 0 && byte === COMMA) return at;
  }
  return -1;
}

/** Where the closing quote is; -1: not in this buffer. */
function stringEnd(buffer: Buffer, start: number): number {
  for (let at = start + 1; at < buffer.length; at++) {
    if (buffer[at] === BACKSLASH) at++;
    else if (buffer[at] === QUOTE) return at;
  }
  return -1;
}

class CsvSplitter implements Splitter {
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

/** The names of columns; those that come again, in whatever case, are numbered: `a`, `a_2`. */
function csvHeader(values: readonly (string | null)[]): readonly string[] {
  const names = values.map((value) => value ?? '');
  const taken = new Set(names.map((name) => name.toLowerCase()));
  const numbers = new Map<string, number>();
  return names.map((name) => {
    const key = name.toLowerCase();
    let number = (numbers.get(key) ?? 0) + 1;
    if (number > 1) while (taken.has(`${key}_${number}`)) number++;
    numbers.set(key, number);
    return number === 1 || name === '' ? name : `${name}_${number}`;
  });
}

/** A record as a JSON object of texts; values that are empty and not quoted are left out, as are those behind the last column. */
function csvObject(values: readonly (string | null)[], header: readonly string[]): string {
  const object: Record<string, string> = {};
  for (const [i, value] of values.entries()) if (value !== null) object[header[i]!] = value;
  return JSON.stringify(object);
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
