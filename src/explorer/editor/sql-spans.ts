import { findFunction } from '../../googlesql/functions/catalogue';
import { lexUntilFault } from '../../googlesql/lexer';
import { scalarNamed } from '../../googlesql/type-names';

/** A stretch of a text with its colour, a class of the editor's theme. */
export interface ColouredSpan {
  readonly start: number;
  readonly end: number;
  readonly colour: 'keyword' | 'function' | 'type' | 'string' | 'number' | 'parameter' | 'comment' | 'field';
}

/** The coloured parts of GoogleSQL, in order; what follows a fault has none. */
export function sqlSpans(text: string): readonly ColouredSpan[] {
  const { tokens, fault } = lexUntilFault(text);
  const spans: ColouredSpan[] = [];
  let from = 0;
  tokens.forEach(({ kind, start, end, value, symbol, reserved }, i) => {
    spans.push(...comments(text, from, start));
    from = end;
    const before = tokens[i - 1]?.symbol;
    const colour =
      kind === 'string' || kind === 'bytes'
        ? 'string'
        : kind === 'integer' || kind === 'float'
          ? 'number'
          : kind !== 'identifier'
            ? null
            : before === '@' || before === '@@'
              ? 'parameter'
              : tokens[i + 1]?.symbol === '(' && findFunction(value) !== undefined
                ? 'function'
                : reserved
                  ? 'keyword'
                  : scalarNamed(symbol) !== undefined
                    ? 'type'
                    : null;
    if (colour !== null) spans.push({ start, end, colour });
  });
  if (fault === null) spans.push(...comments(text, from, text.length));
  return spans;
}

const COMMENT = /(?:--|#)[^\n\r]*|\/\*[\s\S]*?\*\//g;

/** Comments between two tokens, where there is nothing else but blanks. */
function comments(text: string, start: number, end: number): readonly ColouredSpan[] {
  if (end - start < 2) return [];
  return Array.from(text.slice(start, end).matchAll(COMMENT), ({ index, 0: found }) => ({
    start: start + index,
    end: start + index + found.length,
    colour: 'comment',
  }));
}
