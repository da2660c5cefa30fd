import { LqlError } from './lql-error';
import type { Span } from './rules';

/** Longest text, in bytes of UTF-8. */
const MAX_BYTES = 64 * 1024;

/**
 * Refuses what no clause may hold: more than 64 KiB, NUL, and half a surrogate pair, which has no UTF-8 form and so
 * could not be sent on.
 */
export function checkText(text: string): void {
  if (text.length > MAX_BYTES || new TextEncoder().encode(text).length > MAX_BYTES) {
    throw new LqlError('too_long', 'the text is longer than 64 KiB', { start: 0, end: 0 });
  }
  const bad = /\0|\p{Surrogate}/u.exec(text);
  if (bad === null) return;
  const span = { start: bad.index, end: bad.index + 1 };
  throw bad[0] === '\0'
    ? new LqlError('bad_char', 'NUL (U+0000) is not allowed', span)
    : new LqlError('bad_char', 'half a surrogate pair is not a character', span);
}

/** Space, tab, CR and LF alone separate clauses: JavaScript's \s would take the no-break space too. */
function isSeparator(unit: string | undefined): boolean {
  return unit === ' ' || unit === '\t' || unit === '\r' || unit === '\n';
}

/** A value that was written in double quotes or parentheses, or a bare word, with its place. */
export interface Piece {
  readonly text: string;
  readonly span: Span;
}

/** Reads an LQL text from left to right; every step is linear in what it reads. */
export class Scanner {
  offset = 0;

  constructor(readonly text: string) {}

  skipSeparators(): void {
    while (isSeparator(this.text[this.offset])) this.offset++;
  }

  get atEnd(): boolean {
    return this.offset >= this.text.length;
  }

  /** A clause ends here: at a separator or at the end. */
  get atBoundary(): boolean {
    return this.atEnd || isSeparator(this.text[this.offset]);
  }

  get next(): string | undefined {
    return this.text[this.offset];
  }

  /** Moves past `expected` if it comes next. */
  accept(expected: string): boolean {
    if (!this.text.startsWith(expected, this.offset)) return false;
    this.offset += expected.length;
    return true;
  }

  /** Moves past a match of a sticky pattern. */
  match(sticky: RegExp): RegExpExecArray | null {
    sticky.lastIndex = this.offset;
    const found = sticky.exec(this.text);
    if (found !== null) this.offset += found[0].length;
    return found;
  }

  /** Everything up to the next separator; may be empty. */
  token(): Piece {
    const start = this.offset;
    while (!this.atBoundary) this.offset++;
    return { text: this.text.slice(start, this.offset), span: { start, end: this.offset } };
  }

  /**
   * The value between double quotes. `\"` is a quote and `\\` a backslash; any other backslash is literal and
   * is kept.
   */
  quoted(): Piece {
    return this.enclosed('"', 'double quote');
  }

  /** The value between parentheses: up to the first `)`, escaped or not, with the escapes of quotes undone in it. */
  parenthesised(): Piece {
    return this.enclosed(')', 'parenthesis');
  }

  private enclosed(closing: string, what: string): Piece {
    const start = this.offset;
    let from = start + 1;
    let value = '';
    for (let i = from; i < this.text.length; i++) {
      const unit = this.text[i];
      const following = this.text[i + 1];
      if (unit === closing) {
        this.offset = i + 1;
        return { text: value + this.text.slice(from, i), span: { start, end: this.offset } };
      }
      if (unit === '\\' && (following === '\\' || following === '"')) {
        value += this.text.slice(from, i) + following;
        i++;
        from = i + 1;
      }
    }
    throw new LqlError('unterminated_string', `missing closing ${what}`, { start, end: this.text.length });
  }
}
