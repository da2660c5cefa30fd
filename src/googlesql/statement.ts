import { QueryError } from '../errors';
import type { Token } from './token';

/** First words of GoogleSQL statements other than queries, whatever follows them (docs/sandbox.md). */
const OTHER_STATEMENTS = new Set(
  `ALTER ANALYZE ASSERT BEGIN CALL CLONE COMMIT CREATE DECLARE DELETE DROP EXECUTE EXPORT GRANT IF IMPORT INSERT LOAD LOOP
   MERGE RAISE RENAME REPEAT REVOKE ROLLBACK SET TRUNCATE UNDROP UPDATE WHILE`.split(/\s+/),
);

const QUERY_STARTS = new Set(['SELECT', 'WITH', '(']);

/**
 * Judges by its first token alone whether a text is one query, before any of it is parsed; `tokens` come from `lex`.
 * Throws QueryError: `sandboxViolation` for another statement and for a second one, `invalidQuery` for a text without
 * a statement and for a first word that begins none.
 */
export function checkStatement(tokens: readonly Token[]): void {
  const [first] = tokens;
  if (first === undefined) throw new TypeError('a token list ends with an end token');
  const rest = tokens.find((token) => token.kind === 'rest');
  if (OTHER_STATEMENTS.has(first.symbol)) {
    throw new QueryError('sandboxViolation', `Only a query may be sent, not ${first.symbol}.`, first);
  }
  const blank = first.kind === 'end' || first.symbol === ';';
  if (!blank && !QUERY_STARTS.has(first.symbol)) {
    throw new QueryError('invalidQuery', 'Syntax error: a query begins with SELECT, WITH or (.', first);
  }
  if (rest !== undefined) throw new QueryError('sandboxViolation', 'Only one statement may be sent.', rest);
  if (blank) throw new QueryError('invalidQuery', 'The query is blank.', first);
}
