import { lex, type Token, COMPOSED_BOUNDS, type Span } from '@logquay/googlesql/syntax';

/** A text and its tokens: spans of the tree leave out the parentheses that an expression begins or ends with. */
export class SourceText {
  readonly tokens: readonly Token[];

  constructor(readonly text: string) {
    this.tokens = lex(text, COMPOSED_BOUNDS);
  }

  /** The span with the parentheses that its text opens or closes only one end of. */
  balanced({ start, end }: Span): Span {
    let open = 0;
    let missing = 0;
    for (const { symbol, start: at } of this.tokens) {
      if (at < start || at >= end) continue;
      if (symbol === '(') open++;
      else if (symbol === ')' && open > 0) open--;
      else if (symbol === ')') missing++;
    }
    return { start: this.#openingBefore(start, missing), end: this.#closingAfter(end, open) };
  }

  /** The text of an expression, as it may stand in parentheses anywhere. */
  expression(span: Span): string {
    const { start, end } = this.balanced(span);
    return this.text.slice(start, end);
  }

  /** Where the first token of this kind begins, at or behind a place. */
  find(symbol: string, from: number): number {
    const token = this.tokens.find((candidate) => candidate.start >= from && candidate.symbol === symbol);
    if (token === undefined) throw new Error(`no ${symbol} behind ${from}`);
    return token.start;
  }

  #openingBefore(start: number, count: number): number {
    let at = start;
    for (let i = this.tokens.findLastIndex((token) => token.end <= start); i >= 0 && count > 0; i--, count--)
      at = this.tokens[i]?.start ?? at;
    return at;
  }

  #closingAfter(end: number, count: number): number {
    let at = end;
    for (let i = this.tokens.findIndex((token) => token.start >= end); i >= 0 && count > 0; i++, count--)
      at = this.tokens[i]?.end ?? at;
    return at;
  }
}

/** A stored query has a form that no guard column can be added to. */
export class Unfenceable extends Error {
  override readonly name = 'Unfenceable';

  /** @param construct what it is, to follow "it has" */
  constructor(readonly construct: string) {
    super(`It has ${construct}.`);
  }
}
