import { createReadStream, createWriteStream } from 'node:fs';
import { once } from 'node:events';
import { finished as closed } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import type { RestField } from '../../../googlesql/rest-schema';
import { strictLine, Unfit } from './strict-row';

/** A row that was left out. */
export interface SkippedRow {
  readonly file: string;
  /** From 1; a Parquet file's rows count as lines. */
  readonly line: number;
  readonly reason: string;
}

/** Rows that were left out of a table: how many, and the first few of them. */
export interface Skipped {
  readonly count: number;
  readonly first: readonly SkippedRow[];
}

export const NOTHING: Skipped = { count: 0, first: [] };

/** So many skipped rows are named. */
export const NAMED = 10;
/** The longest line; DuckDB's reader is given the same bound. */
export const LONGEST_LINE = 16 * 1024 * 1024;

/**
 * Copies those lines of an NDJSON file that fit the schema, rewritten so that DuckDB's reader takes them exactly.
 * Lines are counted from 1; empty ones count and are no rows. Control returns to the event loop with every block read.
 *
 * @param tell called now and then with how many bytes of the file are read
 */
export async function copyStrictly(
  path: string,
  fields: readonly RestField[],
  copy: string,
  tell: (done: number) => void,
): Promise<Skipped> {
  let count = 0;
  const first: SkippedRow[] = [];
  const output = createWriteStream(copy);
  try {
    for await (const lines of linesOf(path, tell)) {
      const fitting: string[] = [];
      for (const { line, text } of lines) {
        try {
          if (text === null) throw new Unfit('the line is too long');
          if (text.trim() !== '') fitting.push(strictLine(fields, text));
        } catch (error) {
          if (!(error instanceof Unfit)) throw error;
          count++;
          if (first.length < NAMED) first.push({ file: path, line, reason: error.message });
        }
      }
      if (fitting.length > 0 && !output.write(`${fitting.join('\n')}\n`)) await once(output, 'drain');
    }
    output.end();
    await closed(output);
  } finally {
    output.destroy();
  }
  return { count, first };
}

interface Line {
  readonly line: number;
  /** null: too long. */
  readonly text: string | null;
}

/** Every line with its number, a block of the file at a time. */
async function* linesOf(path: string, tell: (done: number) => void): AsyncGenerator<Line[]> {
  const file = createReadStream(path, { highWaterMark: 256 * 1024 });
  const bytes = path.endsWith('.gz') ? file.pipe(createGunzip()) : file;
  // A pipe does not hand an error on.
  if (bytes !== file) file.on('error', (error) => bytes.destroy(error));
  let line = 1;
  let rest: Buffer[] = [];
  let length = 0;
  for await (const block of bytes as AsyncIterable<Buffer>) {
    const lines: Line[] = [];
    let start = 0;
    for (let end = block.indexOf(10); end !== -1; end = block.indexOf(10, start)) {
      length += end - start;
      rest.push(block.subarray(start, end));
      lines.push({ line, text: textOf(rest, length, line) });
      line++;
      rest = [];
      length = 0;
      start = end + 1;
    }
    length += block.length - start;
    if (length <= LONGEST_LINE) rest.push(block.subarray(start));
    yield lines;
    tell(file.bytesRead);
  }
  if (length > 0) yield [{ line, text: textOf(rest, length, line) }];
}

function textOf(parts: readonly Buffer[], length: number, line: number): string | null {
  if (length > LONGEST_LINE) return null;
  const text = (parts.length === 1 ? parts[0]! : Buffer.concat(parts)).toString('utf8');
  return line === 1 && text.startsWith('\ufeff') ? text.slice(1) : text;
}
