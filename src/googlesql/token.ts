import type { Span } from './syntax';

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
