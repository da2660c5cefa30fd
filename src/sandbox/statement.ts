/** Reads a consumer's text as one query: exactly, or, where that fails, leniently. */
import { QueryError } from '../errors';
import { TRANSLATED_BOUNDS } from '../googlesql/bounds';
import { surveyQuery, type ParsedQuery } from '../googlesql/parser';
import type { Span } from '../googlesql/syntax';
import { rewriteLeniently } from './lenient';

export interface Statement extends ParsedQuery {
  /** What runs: the text as sent, or as rewritten leniently. Spans of the tree are offsets into it. */
  readonly text: string;
  /** A place in `text` as a place in the text that was sent. */
  original(span: Span): Span;
}

/** Reads SQL that this service has made itself, of LQL: it is exact, and may be longer than what it was made of. */
export function readTranslation(sql: string): Statement {
  return { ...surveyQuery(sql, TRANSLATED_BOUNDS), text: sql, original: (span) => span };
}

/**
 * @throws QueryError with a span in the text as sent. The lenient reading is tried only where the exact one finds no
 *   query; a violation stays one. Where neither reads the text, the fault of the exact reading is the answer.
 */
export function readStatement(sent: string): Statement {
  try {
    return { ...surveyQuery(sent), text: sent, original: (span) => span };
  } catch (error) {
    if (!(error instanceof QueryError) || error.fault !== 'invalidQuery') throw error;
    const rewritten = rewriteLeniently(sent);
    if (rewritten === null) throw error;
    const { text, original } = rewritten;
    return { ...surveyRewritten(text, original, error), text, original };
  }
}

function surveyRewritten(text: string, original: (span: Span) => Span, exact: QueryError): ParsedQuery {
  try {
    return surveyQuery(text);
  } catch (error) {
    if (!(error instanceof QueryError)) throw error;
    if (error.fault === 'invalidQuery') throw exact;
    throw new QueryError(error.fault, error.message, error.span && original(error.span), error.details);
  }
}
