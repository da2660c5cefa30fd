import type { ListShape } from '../translate';

const [QUOTE, BACKSLASH, COMMA, NEWLINE] = [0x22, 0x5c, 0x2c, 0x0a];
const [OPEN_OBJECT, CLOSE_OBJECT, OPEN_LIST, CLOSE_LIST] = [0x7b, 0x7d, 0x5b, 0x5d];

/**
 * Sets the brackets that rows lack.
 *
 * @param rows JSON objects as DuckDB writes them, in UTF-8: nothing stands between their tokens, and a newline behind each
 * @param members of the values of each
 * @throws Error where they are no such rows: they are never read beyond their end
 */
export function withBrackets(rows: Buffer, members: readonly (ListShape | null)[]): Buffer {
  // A byte for a letter: what is set and what it is found by are ASCII.
  return Buffer.from(new Brackets(rows.toString('latin1')).of(members), 'latin1');
}

class Brackets {
  /** Of what has been read. */
  #at = 0;
  /** Of what has been written. */
  #written = 0;
  #text = '';

  constructor(private readonly rows: string) {}

  of(members: readonly (ListShape | null)[]): string {
    while (this.#at < this.rows.length) {
      this.#members(members);
      if (this.#code() !== NEWLINE) throw noRows();
      this.#at++;
    }
    return this.#text + this.rows.slice(this.#written);
  }

  #value(shape: ListShape | null): void {
    // Of a row that was stored with lists.
    if (shape === null || this.#code() !== OPEN_OBJECT) return this.#skipValue();
    if (shape.isList) this.#write('[');
    if (shape.members === null) this.#skipValue();
    else this.#members(shape.members);
    if (shape.isList) this.#write(']');
  }

  #members(shapes: readonly (ListShape | null)[]): void {
    this.#at++;
    for (let i = 0; this.#code() !== CLOSE_OBJECT; i++) {
      if (this.#code() === COMMA) this.#at++;
      this.#skipString();
      // Behind the colon.
      this.#at++;
      this.#value(shapes[i] ?? null);
    }
    this.#at++;
  }

  #code(): number {
    if (this.#at >= this.rows.length) throw noRows();
    return this.rows.charCodeAt(this.#at);
  }

  #write(bracket: string): void {
    this.#text += this.rows.slice(this.#written, this.#at) + bracket;
    this.#written = this.#at;
  }

  #skipValue(): void {
    const code = this.#code();
    if (code === QUOTE) this.#skipString();
    else if (code === OPEN_OBJECT || code === OPEN_LIST) this.#skipNested();
    else while (!isEnd(this.#code())) this.#at++;
  }

  #skipNested(): void {
    let depth = 0;
    do {
      const code = this.#code();
      if (code === QUOTE) {
        this.#skipString();
        continue;
      }
      if (code === OPEN_OBJECT || code === OPEN_LIST) depth++;
      if (code === CLOSE_OBJECT || code === CLOSE_LIST) depth--;
      this.#at++;
    } while (depth > 0);
  }

  #skipString(): void {
    const { rows } = this;
    let end = this.#at;
    for (;;) {
      end = rows.indexOf('"', end + 1);
      if (end < 0) throw noRows();
      let backslashes = 0;
      while (rows.charCodeAt(end - 1 - backslashes) === BACKSLASH) backslashes++;
      if (backslashes % 2 === 0) break;
    }
    this.#at = end + 1;
  }
}

/** Whether a number or a word has ended. */
function isEnd(code: number): boolean {
  return code === COMMA || code === CLOSE_OBJECT || code === CLOSE_LIST;
}

function noRows(): Error {
  return new Error('A row is not one JSON object.');
}
