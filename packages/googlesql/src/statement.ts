import { QueryError } from './errors';
import type { Span } from './tree';
import type { Token } from './lexer';

/** First words of GoogleSQL statements other than queries, whatever follows them (docs/sandbox.md). */
const OTHER_STATEMENTS = new Set(
  `ALTER ANALYZE ASSERT BEGIN CALL CLONE COMMIT CREATE DECLARE DELETE DROP EXECUTE EXPORT GRANT IF IMPORT INSERT LOAD LOOP
   MERGE RAISE RENAME REPEAT REVOKE ROLLBACK SET TRUNCATE UNDROP UPDATE WHILE`.split(/\s+/),
);

/** First words by which other systems show tables and columns. */
const SHOWING = new Set(['DESCRIBE', 'DESC', 'SHOW', 'EXPLAIN']);

/** Where a caller finds tables and columns. */
export const SCHEMA_HINT =
  'GET /api/endpoints/schema/:idOrName lists the tables, columns and functions that a query may use.';

const QUERY_STARTS = new Set(['SELECT', 'WITH', 'FROM', '(']);

/**
 * Judges by its first token alone whether a text is a query, before any of it is parsed; `tokens` come from `lex`.
 * Throws QueryError: `sandboxViolation` for another statement, `invalidQuery` for a text without a statement and for a
 * first word that begins none.
 */
export function checkStatement(tokens: readonly Token[]): void {
  const [first] = tokens;
  if (first === undefined) throw new TypeError('a token list ends with an end token');
  if (OTHER_STATEMENTS.has(first.symbol)) {
    throw new QueryError('sandboxViolation', `Only a query may be sent, not ${first.symbol}.`, first);
  }
  if (first.kind === 'end' || first.symbol === ';') {
    const second = secondStatement(tokens);
    throw second === null ? new QueryError('invalidQuery', 'The query is blank.', first) : secondStatementError(second);
  }
  if (!QUERY_STARTS.has(first.symbol)) {
    const details = SHOWING.has(first.symbol) ? { hint: SCHEMA_HINT } : {};
    throw new QueryError('invalidQuery', 'Syntax error: a query begins with SELECT, FROM, WITH or (.', first, details);
  }
}

/** Whatever stands behind the first top-level semicolon, unread; null for nothing but comments. */
export function secondStatement(tokens: readonly Token[]): Span | null {
  const rest = tokens.at(-2);
  return rest?.kind === 'rest' ? { start: rest.start, end: rest.end } : null;
}

/** The refusal of a second statement: for a text whose first one is a query (sandbox.md, "Errors"). */
export function secondStatementError(span: Span): QueryError {
  return new QueryError('sandboxViolation', 'Only one statement may be sent.', span);
}
