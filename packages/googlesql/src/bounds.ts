import { QueryError } from './errors';

/**
 * Bounds on a query text (docs/sandbox.md). Those of the text hold before anything recursive reads it, those of the
 * meaning before anything multiplies.
 */
export interface Bounds {
  /** UTF-8 bytes of the whole text. */
  readonly textBytes: number;
  /** Tokens of the first statement; comments are no tokens. */
  readonly tokens: number;
  /** Brackets and CASE open at once; the same again for signs, NOT, INTERVAL and types within types. */
  readonly nesting: number;
  /** WITH entries of the whole query, subqueries included. */
  readonly ctes: number;
  /** Pipe operators of the whole query, subqueries included: each is a query around what is before it. */
  readonly pipes: number;
  /**
   * Height of the finished tree. Nesting alone does not bound it: `a + b + c ...` and `x[0][0] ...` grow to the left by
   * iteration. Chains of AND, OR and `||`, which may be long in honest queries, are built balanced and so stay far
   * below.
   */
  readonly treeHeight: number;
}

/** What a consumer may send, and what a stored query may be. */
export const QUERY_BOUNDS: Bounds = {
  textBytes: 64 * 1024,
  tokens: 20_000,
  nesting: 100,
  ctes: 100,
  pipes: 200,
  treeHeight: 500,
};

/** What LQL of at most 64 KiB is translated to: its literals grow where every character needs an escape. */
export const TRANSLATED_BOUNDS: Bounds = { ...QUERY_BOUNDS, textBytes: 512 * 1024 };

/** What an engine is given: one of the above in parentheses behind the WITH of a stored query. */
export const COMPOSED_BOUNDS: Bounds = {
  textBytes: TRANSLATED_BOUNDS.textBytes + 2 * QUERY_BOUNDS.textBytes,
  tokens: 2 * QUERY_BOUNDS.tokens + 100,
  nesting: QUERY_BOUNDS.nesting + 10,
  ctes: 2 * QUERY_BOUNDS.ctes,
  pipes: 2 * QUERY_BOUNDS.pipes,
  treeHeight: QUERY_BOUNDS.treeHeight + 10,
};

/** The refusal of a text beyond a bound: however else it is read, it stays too large. */
export class BoundsError extends QueryError {
  constructor(message: string, { start, end }: { readonly start: number; readonly end: number }) {
    super('invalidQuery', message, { start, end });
  }
}
