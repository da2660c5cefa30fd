import type { ListShape } from '../translate';

const [QUOTE, BACKSLASH, COMMA] = [0x22, 0x5c, 0x2c];
const [OPEN_OBJECT, CLOSE_OBJECT, OPEN_LIST, CLOSE_LIST] = [0x7b, 0x7d, 0x5b, 0x5d];

/**
 * Sets the brackets that a row lacks.
 *
 * @param row one JSON object, as DuckDB writes it: nothing stands between its tokens
 * @param members of its values
 * @throws Error where the text is no such row: it is never read beyond its end
 */
export function withBrackets(row: string, members: readonly (ListShape | null)[]): string {
  return new Brackets(row).of(members);
}

class Brackets {
  /** Of what has been read. */
  #at = 0;
  /** Of what has been written. */
  #written = 0;
  #text = '';

  constructor(private readonly row: string) {}

  of(members: readonly (ListShape | null)[]): string {
    this.#members(members);
    return this.#text + this.row.slice(this.#written);
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
    if (this.#at >= this.row.length) throw new Error('The text of a row is not one JSON object.');
    return this.row.charCodeAt(this.#at);
  }

  #write(bracket: string): void {
    this.#text += this.row.slice(this.#written, this.#at) + bracket;
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
    const { row } = this;
    let end = this.#at;
    for (;;) {
      end = row.indexOf('"', end + 1);
      if (end < 0) throw new Error('The text of a row is not one JSON object.');
      let backslashes = 0;
      while (row.charCodeAt(end - 1 - backslashes) === BACKSLASH) backslashes++;
      if (backslashes % 2 === 0) break;
    }
    this.#at = end + 1;
  }
}

/** Whether a number or a word has ended. */
function isEnd(code: number): boolean {
  return code === COMMA || code === CLOSE_OBJECT || code === CLOSE_LIST;
}
