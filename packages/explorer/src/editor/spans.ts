import { findFunction } from '@logquay/googlesql';
import { lexUntilFault } from '@logquay/googlesql/syntax';
import { scalarNamed } from '@logquay/googlesql/types';

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

const CLAUSE = /-?(?:"(?:\\.|[^"\\])*"?|[^\s"])+/g;
const HEAD = /^-?(?:([A-Za-z0-9_.]+):)?((?:>=|<=|>|<|@>~|@>|~)?)/;

/** The coloured parts of LQL, clause by clause. */
export function lqlSpans(text: string): readonly ColouredSpan[] {
  const spans: ColouredSpan[] = [];
  for (const { index, 0: clause } of text.matchAll(CLAUSE)) {
    const [head = '', name, operator = ''] = HEAD.exec(clause) ?? [];
    if (clause.startsWith('-')) spans.push({ start: index, end: index + 1, colour: 'keyword' });
    if (name !== undefined) {
      const start = index + (clause.startsWith('-') ? 1 : 0);
      const colour = /^(?:f|from|c|chart|s|select|t|timestamp)$/.test(name) ? 'keyword' : 'field';
      spans.push({ start, end: start + name.length + 1, colour });
    }
    const at = index + head.length;
    if (operator !== '') spans.push({ start: at - operator.length, end: at, colour: 'keyword' });
    const value = clause.slice(head.length);
    const colour = colourOf(value, name !== undefined);
    if (value !== '' && colour !== null) spans.push({ start: at, end: at + value.length, colour });
  }
  return spans;
}

function colourOf(value: string, isOperand: boolean): ColouredSpan['colour'] | null {
  if (value.startsWith('"')) return 'string';
  if (!isOperand) return null;
  if (/^-?[0-9][0-9.]*$/.test(value)) return 'number';
  return /^(?:NULL|true|false)$/.test(value) ? 'type' : 'string';
}
