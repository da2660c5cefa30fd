/** Reads a consumer's text as one query: exactly, or, where that fails, leniently. */
import { QueryError } from '../errors';
import { originalSpan, type Pieces, rewriteLeniently, type RewrittenText } from './lenient';
import { BoundsError, TRANSLATED_BOUNDS } from '../bounds';
import { surveyQuery, type ParsedQuery } from '../parser';

export interface Statement extends ParsedQuery {
  /** What runs: the text as sent, or as rewritten leniently. Spans of the tree are offsets into it. */
  readonly text: string;
  /** See `originalSpan`. */
  readonly passes: readonly Pieces[];
}

/** Reads SQL that this service has made itself, of LQL: it is exact, and may be longer than what it was made of. */
export function readTranslation(sql: string): Statement {
  return { ...surveyQuery(sql, TRANSLATED_BOUNDS), text: sql, passes: [] };
}

/**
 * @throws QueryError with a span in the text as sent. The lenient reading is tried only where the exact one finds no
 *   query within the bounds; a violation stays one. Where neither reads the text, the fault of the exact reading is the answer.
 */
export function readStatement(sent: string): Statement {
  try {
    return { ...surveyQuery(sent), text: sent, passes: [] };
  } catch (error) {
    const mayBeLenient =
      error instanceof QueryError && error.fault === 'invalidQuery' && !(error instanceof BoundsError);
    const rewritten = mayBeLenient ? rewriteLeniently(sent) : null;
    if (!mayBeLenient || rewritten === null) throw error;
    return { ...surveyRewritten(rewritten, error), ...rewritten };
  }
}

function surveyRewritten({ text, passes }: RewrittenText, exact: QueryError): ParsedQuery {
  try {
    return surveyQuery(text);
  } catch (error) {
    if (!(error instanceof QueryError)) throw error;
    if (error.fault === 'invalidQuery') throw exact;
    throw new QueryError(error.fault, error.message, error.span && originalSpan(passes, error.span), error.details);
  }
}
