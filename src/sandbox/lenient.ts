/**
 * The lenient reading (docs/sandbox.md): what clients send although it is not GoogleSQL, rewritten token by token. It is for
 * texts that the exact reading refused; the rewritten text is then read and judged like any other.
 */
import { QueryError } from '../errors';
import { lex } from '../googlesql/lexer';
import { type Token } from '../googlesql/token';
import type { Span } from '../googlesql/syntax';
import { castEdits } from './lenient-casts';
import { literalEdits } from './lenient-literals';
import { applyEdits, spanBefore, type Edit, type EditedText, type Pieces } from './text-edits';

/** Nothing is rewritten in a text that holds none of these. */
const WORTH_READING = /::|''|\\/;

/** What a lenient reading made of a text. */
export interface RewrittenText {
  readonly text: string;
  /** Each pass's pieces, first pass first. */
  readonly passes: readonly Pieces[];
}

/**
 * The text with `x::t` as `CAST(x AS T)`, `''` inside a one-quote literal as `\'` and unknown escapes `\c` as `\\c`; null
 * where there is nothing of the kind, or where even so it has no tokens.
 *
 * @throws QueryError `invalidQuery` with a span of `sent` where `::` is followed by a name that is no type's
 */
export function rewriteLeniently(sent: string): RewrittenText | null {
  if (!WORTH_READING.test(sent)) return null;
  const literals = applyEdits(sent, literalEdits(sent));
  const tokens = tokensOf(literals.text);
  if (tokens === null) return null;
  const casts = applyEdits(literals.text, castsOf(tokens, literals));
  if (casts.text === sent) return null;
  return { text: casts.text, passes: [literals.pieces, casts.pieces] };
}

/** A place in a rewritten text as a place in the text that was sent. */
export function originalSpan(passes: readonly Pieces[], span: Span): Span {
  return passes.reduceRight((place, pieces) => spanBefore(pieces, place), span);
}

function tokensOf(text: string): Token[] | null {
  try {
    return lex(text);
  } catch (error) {
    if (error instanceof QueryError) return null;
    throw error;
  }
}

function castsOf(tokens: readonly Token[], literals: EditedText): Edit[] {
  try {
    return castEdits(tokens);
  } catch (error) {
    if (!(error instanceof QueryError) || error.span === null) throw error;
    throw new QueryError(error.fault, error.message, spanBefore(literals.pieces, error.span), error.details);
  }
}
