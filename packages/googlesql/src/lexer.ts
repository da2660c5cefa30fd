import type { Span } from './tree';
import { QueryError } from './errors';
import { quotedName, unescape } from './escapes';
import { BoundsError, QUERY_BOUNDS, type Bounds } from './bounds';

/**
 * `rest`: whatever follows the first top-level semicolon, unread. `end`: the end of the text, always the last token.
 */
export type TokenKind = 'identifier' | 'string' | 'bytes' | 'integer' | 'float' | 'symbol' | 'rest' | 'end';

/** A lexical element of a query text; itself a span of that text. */
export interface Token extends Span {
  readonly kind: TokenKind;
  /**
   * An identifier's name or a literal's value with quotes and escapes undone (BYTES as latin-1 text); numbers and
   * symbols as written.
   */
  readonly value: string;
  /**
   * What the grammar looks at: a symbol's characters, or the upper-case word of an identifier without backticks.
   * Empty for everything else, and for a word that can only be a name because it follows `.`, `@` or `@@`.
   */
  readonly symbol: string;
  /** A reserved keyword: it names nothing. */
  readonly reserved: boolean;
  /** In backticks. */
  readonly quoted: boolean;
}

/**
 * Words that name nothing unless back-quoted: GoogleSQL's reserved keywords (lexical reference, "Reserved keywords"), and
 * QUALIFY, which BigQuery reserves. All other words of the grammar are ordinary identifiers wherever one can stand.
 */
const RESERVED = new Set(
  `ALL AND ANY ARRAY AS ASC ASSERT_ROWS_MODIFIED AT BETWEEN BY CASE CAST COLLATE CONTAINS CREATE CROSS CUBE CURRENT
   DEFAULT DEFINE DESC DISTINCT ELSE END ENUM ESCAPE EXCEPT EXCLUDE EXISTS EXTRACT FALSE FETCH FOLLOWING FOR FROM FULL
   GROUP GROUPING GROUPS HASH HAVING IF IGNORE IN INNER INTERSECT INTERVAL INTO IS JOIN LATERAL LEFT LIKE LIMIT LOOKUP
   MERGE NATURAL NEW NO NOT NULL NULLS OF ON OR ORDER OUTER OVER PARTITION PRECEDING PROTO QUALIFY RANGE RECURSIVE
   RESPECT RIGHT ROLLUP ROWS SELECT SET SOME STRUCT TABLESAMPLE THEN TO TREAT TRUE UNBOUNDED UNION UNNEST USING WHEN
   WHERE WINDOW WITH WITHIN`.split(/\s+/),
);

/** `word` in upper case. */
export function isReserved(word: string): boolean {
  return RESERVED.has(word);
}

/** A name as people write it: in backticks where it is no plain word. */
export function writtenName(name: string): string {
  return /^[A-Za-z_]\w*$/.test(name) && !isReserved(name.toUpperCase()) ? name : quotedName(name);
}

/** Reserved words that are function names where a parenthesis follows. */
export const FUNCTION_KEYWORDS: ReadonlySet<string> = new Set(['IF', 'GROUPING', 'LEFT', 'RIGHT', 'COLLATE', 'RANGE']);

/** Blanks of GoogleSQL beyond ASCII: Unicode's visible spaces but the Ogham one. */
const WIDE_BLANK = /[\u00a0\u2000-\u200a\u202f\u205f\u3000]/;
const LINE_END = /[\r\n]/g;
const HEX = /0[xX][0-9A-Fa-f]+/y;
const DIGITS = /[0-9]+/y;
const EXPONENT = /[eE][+-]?[0-9]+/y;
const OPENING_QUOTE = /(?:[rR][bB]?|[bB][rR]?)?('''|"""|'|")/y;
const SYMBOL = /::|<<|>>|<=|>=|<>|!=|=>|->|\|\||\|>|@@|[-+*/=<>(),.;[\]|^&~@?]/y;

/** What an ASCII character can begin or continue. */
const BLANK = 1;
const LETTER = 2;
const DIGIT = 4;
const QUOTE = 8;
const PREFIX = 16;
/** A symbol that begins no longer one. */
const SINGLE = 32;
const CLASSES = new Uint8Array(128);
for (const [characters, kind] of [
  [' \t\n\v\f\r\b', BLANK],
  ['ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_', LETTER],
  ['0123456789', DIGIT],
  ['\'"', QUOTE],
  ['rRbB', PREFIX],
  ['(),.;[]', SINGLE],
] as const) {
  for (const character of characters) {
    const code = character.charCodeAt(0);
    CLASSES[code] = (CLASSES[code] ?? 0) | kind;
  }
}

/**
 * The tokens of a GoogleSQL text by the rules of GoogleSQL's own lexer; comments and blanks are left out.
 *
 * Reading stops at the first semicolon outside brackets: what follows is one `rest` token, unless it is nothing but
 * blanks and comments. The last token is `end`. Throws QueryError `invalidQuery` for text beyond the bounds
 * (bounds.ts), a literal that is not closed or holds a bad escape, and characters that begin no token.
 */
export function lex(text: string, bounds: Bounds = QUERY_BOUNDS): Token[] {
  checkText(text, bounds.textBytes);
  return new Lexer(text, bounds).run();
}

/** The tokens of a text up to its first fault, for texts that are being written. @returns fault null: there is none */
export function lexUntilFault(
  text: string,
  bounds: Bounds = QUERY_BOUNDS,
): { readonly tokens: readonly Token[]; readonly fault: QueryError | null } {
  const lexer = new Lexer(text, bounds);
  try {
    checkText(text, bounds.textBytes);
    return { tokens: lexer.run(), fault: null };
  } catch (error) {
    if (error instanceof QueryError) return { tokens: lexer.tokens, fault: error };
    throw error;
  }
}

class Lexer {
  readonly tokens: Token[] = [];
  private at = 0;
  /** Brackets and CASE open. */
  private nesting = 0;
  /** Brackets open: a semicolon ends the statement only outside them. */
  private brackets = 0;
  /** The last token is a `.`, `@` or `@@` after which any word is a name. */
  private nameFollows = false;

  constructor(
    private readonly text: string,
    private readonly bounds: Bounds,
  ) {}

  run(): Token[] {
    while (this.skipBlanks()) {
      this.token();
      if (this.tokens.length > this.bounds.tokens) {
        const span = { start: this.last?.start ?? 0, end: this.at };
        throw new BoundsError(`A query has at most ${this.bounds.tokens} tokens.`, span);
      }
      if (this.last?.symbol === ';' && this.brackets === 0) {
        if (this.skipBlanks()) this.push('rest', this.at, this.text.length, '', '');
        break;
      }
    }
    this.push('end', this.text.length, this.text.length, '', '');
    return this.tokens;
  }

  /** False at the end of the text. */
  private skipBlanks(): boolean {
    const { text } = this;
    for (;;) {
      if (this.at >= text.length) return false;
      const char = text[this.at];
      if (this.is(this.at, BLANK) || (char !== undefined && char > '\x7f' && WIDE_BLANK.test(char))) this.at++;
      else if (char === '#' || (char === '-' && text[this.at + 1] === '-')) this.skipLine();
      else if (char === '/' && text[this.at + 1] === '*') this.skipComment();
      else return true;
    }
  }

  /** The character at `at` is of one of these kinds. */
  private is(at: number, kinds: number): boolean {
    const code = this.text.charCodeAt(at);
    return code < 128 && ((CLASSES[code] ?? 0) & kinds) !== 0;
  }

  private skipLine(): void {
    LINE_END.lastIndex = this.at;
    this.at = LINE_END.exec(this.text)?.index ?? this.text.length;
  }

  private skipComment(): void {
    const close = this.text.indexOf('*/', this.at + 2);
    if (close < 0) this.fault('This comment is not closed', this.at, this.at + 2);
    this.at = close + 2;
  }

  private token(): void {
    const { text, at } = this;
    const named = this.nameFollows;
    const field = named && this.last?.symbol === '.';
    this.nameFollows = false;
    const opening = this.is(at, QUOTE | PREFIX) ? match(OPENING_QUOTE, text, at) : '';
    if (opening !== '') this.literal(opening);
    else if (this.is(at, field ? LETTER | DIGIT : LETTER)) this.word(named);
    else if (this.is(at, DIGIT)) this.number();
    else if (text[at] === '`') this.backquoted();
    else if (text[at] === '.' && this.is(at + 1, DIGIT) && !this.dotContinuesPath()) this.number();
    else this.symbol();
  }

  private word(named: boolean): void {
    const start = this.at;
    do this.at++;
    while (this.is(this.at, LETTER | DIGIT));
    const value = this.text.slice(start, this.at);
    const symbol = named ? '' : value.toUpperCase();
    const reserved = isReserved(symbol);
    if (symbol === 'CASE') this.open(start);
    else if (symbol === 'END') this.close();
    this.tokens.push({ kind: 'identifier', start, end: this.at, value, symbol, reserved, quoted: false });
  }

  /** A number that does not continue a path: `1`, `0x1F`, `.5`, `1.`, `1.5e-3`; `1.e5` is one number too. */
  private number(): void {
    const { text } = this;
    const start = this.at;
    let kind: TokenKind = 'integer';
    const hex = match(HEX, text, start);
    if (hex !== '') {
      this.at += hex.length;
    } else {
      this.at += match(DIGITS, text, start).length;
      if (text[this.at] === '.') {
        kind = 'float';
        this.at++;
        this.at += match(DIGITS, text, this.at).length;
      }
      const exponent = match(EXPONENT, text, this.at);
      if (exponent !== '') kind = 'float';
      this.at += exponent.length;
    }
    // `1.x` is a number and a name; `1x` is neither.
    if (text[this.at - 1] !== '.' && this.is(this.at, LETTER | DIGIT)) {
      this.fault('A name cannot follow a number without a blank', start, this.at + 1);
    }
    this.push(kind, start, this.at, text.slice(start, this.at), '');
  }

  /** After a name or a closing bracket a dot begins a field, even one called by digits: `a.1`. */
  private dotContinuesPath(): boolean {
    const { last } = this;
    if (last === undefined) return false;
    if (last.kind === 'identifier') return !last.reserved;
    return last.symbol === ')' || last.symbol === ']' || last.symbol === '?';
  }

  private symbol(): void {
    const start = this.at;
    const symbol = this.is(start, SINGLE) ? this.text.charAt(start) : match(SYMBOL, this.text, start);
    if (symbol === '') {
      const char = String.fromCodePoint(this.text.codePointAt(start) ?? 0);
      this.fault(`${JSON.stringify(char)} cannot stand here`, start, start + char.length);
    }
    this.nameFollows = symbol === '@' || symbol === '@@' || (symbol === '.' && this.dotContinuesPath());
    this.at += symbol.length;
    this.push('symbol', start, this.at, symbol, symbol);
    if (symbol === '(' || symbol === '[') {
      this.brackets++;
      this.open(start);
    } else if (symbol === ')' || symbol === ']') {
      this.brackets = Math.max(0, this.brackets - 1);
      this.close();
    }
  }

  private open(start: number): void {
    if (++this.nesting > this.bounds.nesting) {
      const message = `Brackets and CASE nest at most ${this.bounds.nesting} deep.`;
      throw new BoundsError(message, { start, end: start + 1 });
    }
  }

  private close(): void {
    this.nesting = Math.max(0, this.nesting - 1);
  }

  private literal(opening: string): void {
    const start = this.at;
    const letters = opening.search(/['"]/);
    const quote = letters === 0 ? opening : opening.slice(letters);
    const prefix = letters === 0 ? '' : opening.slice(0, letters).toLowerCase();
    const bytes = prefix.includes('b');
    const bodyStart = start + opening.length;
    const bodyEnd = this.closingQuote(bodyStart, quote, `This ${bytes ? 'BYTES' : 'STRING'} literal is not closed`);
    const value = unescape(this.text, bodyStart, bodyEnd, { raw: prefix.includes('r'), bytes });
    this.at = bodyEnd + quote.length;
    this.push(bytes ? 'bytes' : 'string', start, this.at, value, '');
  }

  private backquoted(): void {
    const start = this.at;
    const bodyEnd = this.closingQuote(start + 1, '`', 'This name in backticks is not closed');
    const value = unescape(this.text, start + 1, bodyEnd, { raw: false, bytes: false });
    this.at = bodyEnd + 1;
    if (value === '') this.fault('A name in backticks cannot be empty', start, this.at);
    const { at: end } = this;
    this.tokens.push({ kind: 'identifier', start, end, value, symbol: '', reserved: false, quoted: true });
  }

  /** Where the closing quote stands. A backslash shields the character or line end after it, in raw literals too. */
  private closingQuote(from: number, quote: string, message: string): number {
    const { text } = this;
    for (let i = from; i < text.length; i++) {
      const char = text[i];
      if (char === '\\') i += text.startsWith('\r\n', i + 1) ? 2 : 1;
      else if (char === quote[0] && text.startsWith(quote, i)) return i;
      else if (quote.length === 1 && (char === '\n' || char === '\r')) break;
    }
    return this.fault(message, this.at, from);
  }

  private get last(): Token | undefined {
    return this.tokens[this.tokens.length - 1];
  }

  private push(kind: TokenKind, start: number, end: number, value: string, symbol: string): void {
    this.tokens.push({ kind, start, end, value, symbol, reserved: false, quoted: false });
  }

  private fault(message: string, start: number, end: number): never {
    throw new QueryError('invalidQuery', `${message}.`, { start, end });
  }
}

/** What the sticky pattern finds at `at`; empty for nothing. */
function match(pattern: RegExp, text: string, at: number): string {
  pattern.lastIndex = at;
  return pattern.test(text) ? text.slice(at, pattern.lastIndex) : '';
}

/** Length, NUL and unpaired surrogates: what no later rule would be sure to meet. */
function checkText(text: string, maxBytes: number): void {
  const fault = (message: string, at: number): never => {
    throw new QueryError('invalidQuery', message, { start: at, end: at + 1 });
  };
  let bytes = 0;
  for (let i = 0; i < text.length;) {
    const unit = text.charCodeAt(i);
    const surrogate = unit >= 0xd800 && unit <= 0xdfff;
    if (unit === 0) fault('A query cannot hold the character NUL.', i);
    if (surrogate && !isPair(unit, text.charCodeAt(i + 1))) fault('The query is not well-formed Unicode.', i);
    bytes += unit < 0x80 ? 1 : unit < 0x800 ? 2 : surrogate ? 4 : 3;
    if (bytes > maxBytes) {
      throw new BoundsError(`A query has at most ${maxBytes} bytes of UTF-8.`, { start: i, end: i + 1 });
    }
    i += surrogate ? 2 : 1;
  }
}

function isPair(high: number, low: number): boolean {
  return high <= 0xdbff && low >= 0xdc00 && low <= 0xdfff;
}
