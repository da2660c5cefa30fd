/** Bounds on a query text (sandbox.md, wall 1). They hold before anything recursive reads it. */

/** UTF-8 bytes of the whole text. */
export const MAX_TEXT_BYTES = 64 * 1024;

/** Tokens of the first statement; comments are no tokens. */
export const MAX_TOKENS = 20_000;

/** Brackets and CASE open at once; the same again for signs, NOT, INTERVAL and types within types. */
export const MAX_NESTING = 100;

/** WITH entries of the whole query, subqueries included. */
export const MAX_CTES = 100;

/**
 * Height of the finished tree. Nesting alone does not bound it: `a + b + c ...` and `x[0][0] ...` grow to the left by
 * iteration. Chains of AND, OR and `||`, which may be long in honest queries, are built balanced and so stay far below.
 */
export const MAX_TREE_HEIGHT = 500;
