import type { Splitter } from './splitter';

const [QUOTE, BACKSLASH, COMMA] = [0x22, 0x5c, 0x2c];
const OPENING = new Set([0x5b, 0x7b]);
const CLOSING = new Set([0x5d, 0x7d]);
/** A byte order mark, white space, and what is between elements: brackets of the array, commas, and a brace too many. */
const BETWEEN = new Set([0xef, 0xbb, 0xbf, 0x20, 0x09, 0x0a, 0x0d, COMMA, 0x5d, 0x7d]);

/** The elements of one JSON array. What follows the array is read as more elements: no file is refused for its end. */
export class ArraySplitter implements Splitter {
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
