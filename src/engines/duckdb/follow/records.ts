/** Complete records of a text: lines, elements of one JSON array, or CSV records. */
import type { LinePlace } from '../data/exact-lines';
import { LONGEST_LINE } from '../data/file-scan';
import { ContentFault } from './content';
import { ArraySplitter, csvObject, CsvSplitter, LineSplitter, type Splitter } from './splitters';
import type { SourceFormat } from './source-name';

const NEWLINE = 10;

/** How far a content has been read, so that it can be read on from there. */
export interface Position {
  /** Bytes of content. */
  readonly offset: number;
  /** Lines, elements or records. */
  readonly records: number;
  /** Of a CSV file: its columns. */
  readonly header: readonly string[] | null;
  /** Of a JSON file: whether it is one array; null: not known yet. */
  readonly array: boolean | null;
  /** Whether the last record was taken without its end: what follows may belong to it. */
  readonly open: boolean;
  /** Whether what follows belongs to a record that is too long, of which the beginning is left out. */
  readonly tooLong: boolean;
}

/** What has been read, as it can be digested on. */
export interface DigestState {
  /** Digest of all blocks but the last. */
  readonly chain: string;
  /** Digest of the last one, which may be whole; empty: nothing has been digested. */
  readonly rest: string;
}

/** How far a source has been read. */
export interface Progress {
  readonly position: Position;
  readonly digest: DigestState;
}

export const START: Position = {
  offset: 0,
  records: 0,
  header: null,
  array: null,
  open: false,
  tooLong: false,
};

export interface RawRecord {
  /** A JSON text, if it is a row; null: too long. */
  readonly text: string | null;
  /** The bytes that are that text; null: it is written in another way. */
  readonly place: LinePlace | null;
  /** From 1. */
  readonly line: number;
}

/** A record whose text is decoded when it is needed. */
class PlacedRecord implements RawRecord {
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

/**
 * Reads records from a position on. What is not complete at the end waits, unless nothing will follow.
 *
 * @param content from `position.offset` on
 * @param complete whether nothing will follow; called where something is left at the end
 * @throws ContentFault for an element of an array that is too long; what reading the content throws
 */
export async function* readRecords(
  content: AsyncIterable<Buffer>,
  format: SourceFormat,
  position: Position,
  complete: () => boolean,
): AsyncGenerator<RecordBatch> {
  const reader = new RecordReader(format, position);
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
  if (length > 0 && complete()) {
    const { records, position: end } = reader.take(Buffer.concat(parts), true);
    yield { records, position: end };
  }
}

class RecordReader {
  #offset: number;
  #records: number;
  #header: readonly string[] | null;
  #array: boolean | null;
  #open: boolean;
  #tooLong: boolean;
  #splitter: Splitter | null = null;

  constructor(
    private readonly format: SourceFormat,
    { offset, records, header, array, open, tooLong }: Position,
  ) {
    this.#offset = offset;
    this.#records = records;
    this.#header = header;
    this.#array = array;
    this.#open = open;
    this.#tooLong = tooLong;
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
    const splitter = (this.#splitter ??= this.#splitterOf(buffer));
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
      rest = rest.subarray(rest.length);
      this.#open = true;
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
      open: this.#open,
      tooLong: this.#tooLong,
    };
  }

  #visit(buffer: Buffer, start: number, end: number, records: RawRecord[]): void {
    const line = ++this.#records;
    const tooLong = this.#tooLong || end - start > LONGEST_LINE;
    this.#tooLong = false;
    if (tooLong) return void records.push({ text: null, place: null, line });
    const record = new PlacedRecord({ buffer, start, end }, line);
    if (this.format !== 'csv') return void records.push(record);
    const object = csvObject(record.text, this.#header);
    if (object.header === null) records.push({ text: object.text, place: null, line });
    else this.#header = object.header;
  }

  #splitterOf(buffer: Buffer): Splitter {
    if (this.format === 'csv') return new CsvSplitter();
    if (this.format !== 'json') return new LineSplitter();
    this.#array ??= isArray(buffer);
    return this.#array ? new ArraySplitter() : new LineSplitter();
  }
}

function isArray(buffer: Buffer): boolean {
  return /^\ufeff?\s*\[/.test(buffer.toString('utf8', 0, 1024));
}
