import { readSync } from 'node:fs';

import { END } from './opening';

const LINE_BREAK = 0x0a;
/** Bytes of lines that are handed on together, at least. */
const PART = 1024 * 1024;
/** Bytes that are read at once. */
const PIECE = 256 * 1024;

/**
 * The lines of a process's input. It waits for them without the event loop: DuckDB asks for rows by a call that has to answer, and
 * whoever sends them sees by the pipe how much has been taken.
 */
export class Incoming {
  readonly #buffer = Buffer.allocUnsafeSlow(PIECE);
  #rest: Buffer = Buffer.alloc(0);
  #ended = false;

  constructor(private readonly fd: number) {}

  /** The first line. @throws Error where the input was broken off */
  first(): string {
    const lines = this.#gather(1);
    const end = lines.indexOf(LINE_BREAK);
    this.#rest = Buffer.concat([lines.subarray(end + 1), this.#rest]);
    return lines.toString('utf8', 0, end);
  }

  /** The next lines; null: there are no more. @throws Error where the input was broken off */
  next(): Buffer | null {
    const lines = this.#gather(PART);
    return lines.length === 0 ? null : lines;
  }

  /** At least so many bytes of whole lines, or all that are left. */
  #gather(least: number): Buffer {
    const pieces = [this.#rest];
    let size = this.#rest.length;
    let hasLine = this.#rest.includes(LINE_BREAK);
    while (!this.#ended && (size < least || !hasLine)) {
      const piece = this.#read();
      pieces.push(piece);
      size += piece.length;
      hasLine ||= piece.includes(LINE_BREAK);
    }
    const bytes = Buffer.concat(pieces);
    const end = bytes.lastIndexOf(LINE_BREAK);
    this.#rest = bytes.subarray(end + 1);
    return bytes.subarray(0, end + 1);
  }

  #read(): Buffer {
    const count = readSync(this.fd, this.#buffer);
    if (count === 0) throw new Error('The rows were broken off.');
    this.#ended = this.#buffer[count - 1] === END;
    return Buffer.from(this.#buffer.subarray(0, this.#ended ? count - 1 : count));
  }
}
