/** Complete records of a text: lines, elements of one JSON array, or CSV records. */
import { LONGEST_LINE } from '../data/file-scan';
import { csvObject, CsvSplitter } from './csv';
import { ArraySplitter } from './json-array';
import { LineSplitter } from './lines';
import type { SourceFormat } from './source-name';
import type { Splitter } from './splitter';

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
}

export const START: Position = { offset: 0, records: 0, header: null, array: null };

export interface RawRecord {
  /** A JSON text, if it is a row; null: too long. */
  readonly text: string | null;
  /** From 1. */
  readonly line: number;
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
 * @param complete whether nothing will follow
 */
export async function* readRecords(
  content: AsyncIterable<Buffer>,
  format: SourceFormat,
  position: Position,
  complete: (rest: Buffer) => boolean,
): AsyncGenerator<RecordBatch> {
  let { offset, records: line, header, array } = position;
  let splitter: Splitter | null = null;
  let parts: Buffer[] = [];
  let length = 0;
  /** Bytes of a record that is too long, and so far left out. */
  let dropped = 0;

  const take = (buffer: Buffer, last: boolean): RecordBatch => {
    if (format === 'json') array ??= isArray(buffer);
    splitter ??= format === 'csv' ? new CsvSplitter() : array === true ? new ArraySplitter() : new LineSplitter();
    const found: RawRecord[] = [];
    const visit = (start: number, end: number): void => {
      line++;
      const tooLong = dropped > 0 || end - start > LONGEST_LINE;
      dropped = 0;
      if (tooLong) return void found.push({ text: null, line });
      const bytes = buffer.toString('utf8', start, end);
      const text = line === 1 && bytes.startsWith('\ufeff') ? bytes.slice(1) : bytes;
      if (format !== 'csv') return void found.push({ text, line });
      const object = csvObject(text, header);
      if (object.header !== null) header = object.header;
      else found.push({ text: object.text, line });
    };
    const used = last ? splitter.last(buffer, visit) : splitter.split(buffer, visit);
    offset += used;
    let rest = buffer.subarray(used);
    if (rest.length > LONGEST_LINE && splitter instanceof LineSplitter) {
      dropped += rest.length;
      offset += rest.length;
      rest = rest.subarray(rest.length);
    }
    parts = rest.length === 0 ? [] : [rest];
    length = rest.length;
    return { records: found, position: { offset, records: line, header, array } };
  };

  for await (const block of content) {
    parts.push(block);
    length += block.length;
    // A record that is longer than what is read at once is not looked through again with every block.
    if (length > 2 * block.length && splitter !== null && !mayEnd(format, array, block)) continue;
    const batch = take(parts.length === 1 ? parts[0]! : Buffer.concat(parts), false);
    if (batch.position.offset > position.offset) yield batch;
  }
  if (length > 0) {
    const rest = Buffer.concat(parts);
    if (complete(rest)) yield take(rest, true);
  }
}

function mayEnd(format: SourceFormat, array: boolean | null, block: Buffer): boolean {
  return format === 'json' && array === true ? block.includes('}') || block.includes(']') : block.includes(10);
}

function isArray(buffer: Buffer): boolean {
  return /^\ufeff?\s*\[/.test(buffer.toString('utf8', 0, 1024));
}
