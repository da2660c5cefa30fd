/**
 * The lenient reading (docs/sandbox.md): what clients send although it is not GoogleSQL, rewritten token by token. It is for
 * texts that the exact reading refused; the rewritten text is then read and judged like any other.
 */
import { QueryError } from '../errors';
import { lex, type Token } from '../googlesql';
import { castEdits } from './lenient-casts';
import { literalEdits } from './lenient-literals';
import { applyEdits, type Edit, type EditedText } from './text-edits';

/**
 * The text with `x::t` as `CAST(x AS T)`, `''` inside a one-quote literal as `\'` and unknown escapes `\c` as `\\c`; null
 * where there is nothing of the kind, or where even so it has no tokens.
 *
 * @throws QueryError `invalidQuery` with a span of `sent` where `::` is followed by a name that is no type's
 */
export function rewriteLeniently(sent: string): EditedText | null {
  const literals = applyEdits(sent, literalEdits(sent));
  const tokens = tokensOf(literals.text);
  if (tokens === null) return null;
  const casts = applyEdits(literals.text, castsOf(tokens, literals));
  if (casts.text === sent) return null;
  return { text: casts.text, original: (span) => literals.original(casts.original(span)) };
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
    throw new QueryError(error.fault, error.message, literals.original(error.span), error.details);
  }
}
