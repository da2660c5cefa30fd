/** Which pattern of a query is at fault, once an engine has refused one. */
import { faultIn } from '../endpoints/definition';
import type { Endpoint } from '../endpoints/endpoint';
import { patternFault } from '../endpoints/values';
import { isExecutionFault } from '../engines/execution-faults';
import { QueryError, ServiceError } from '../errors';
import { TRANSLATED_BOUNDS } from '../googlesql/bounds';
import { parseQuery } from '../googlesql/parser';
import type { Span } from '../googlesql/syntax';
import { walk } from '../googlesql/syntax-walk';

/** Longest text that is read again on the main thread, in UTF-16 units, and patterns that are looked at. */
const LONGEST_TEXT = 8_000;
const MOST_PATTERNS = 20;

/**
 * The error with the place of the pattern, where the engine gives none and the text writes one that RE2 does not take: it fails
 * on every row alike.
 *
 * @param sql the caller's text, in which the place counts
 */
export function withPattern(error: QueryError, sql: string): QueryError {
  const { fault, message, span, details } = error;
  if (span !== null || details.note?.code !== 'pattern' || sql.length > LONGEST_TEXT) return error;
  for (const pattern of patternsOf(sql)) {
    const wrong = patternFault(pattern.text);
    if (wrong !== null)
      return new QueryError(fault, message, pattern.span, { ...details, hint: `RE2 says: ${wrong}.` });
  }
  return error;
}

/** Patterns that are written as literals, in the order of the text; none where it cannot be read. */
function patternsOf(sql: string): readonly { readonly text: string; readonly span: Span }[] {
  const found: { readonly text: string; readonly span: Span }[] = [];
  try {
    walk(parseQuery(sql, TRANSLATED_BOUNDS), (node) => {
      if (node.kind !== 'call' || !/^regexp_/i.test(node.path.at(-1)?.name ?? '')) return;
      const pattern = node.arguments[1]?.expression;
      if (pattern?.kind !== 'literal' || pattern.type !== 'STRING' || found.length >= MOST_PATTERNS) return;
      found.push({ text: pattern.value, span: pattern.span });
    });
  } catch (error) {
    if (!(error instanceof QueryError)) throw error;
  }
  return found;
}

/** Whether a statement is at fault, and not a value that it met. */
export function isFaultOfText(error: QueryError): boolean {
  return error.fault !== 'resourcesExceeded' && !isExecutionFault(error);
}

/**
 * The error for the caller of an endpoint whose stored query is wrong: nothing that they sent is. The log names file and place.
 *
 * @param span in the file; null: not known
 */
export function storedQueryFailed({ file, sql }: Endpoint, error: QueryError, span: Span | null): ServiceError {
  const { line, column, reason } = faultIn(sql, error);
  const place = span === null ? file : `${file}:${String(line)}:${String(column)}`;
  const message = 'The stored query of this endpoint is wrong. Its operator finds the reason in the log.';
  return new ServiceError('storedQueryFailed', message, {}, { cause: new Error(`${place}: ${reason}`) });
}
