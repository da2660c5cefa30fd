import { lexUntilFault, type Token } from '../../lexer';
import type { Span } from '../../tree';

/**
 * A text with a name at the cursor, as it may be meant: as it is, or with what is still open closed. A text that is being
 * written is rarely a query.
 */
export function readings(
  text: string,
  { start, end }: Span,
  before: readonly Token[],
  name: string,
): readonly string[] {
  const [head, tail] = [text.slice(0, start) + name, text.slice(end)];
  const open = openAt(before);
  const whole = openAt(lexUntilFault(head + tail).tokens);
  // What is open at the end of the text may be closed right behind the cursor.
  const missing = closing(open.slice(Math.max(0, open.length - whole.length)));
  const all = closing(open);
  const needed = neededBehind(before);
  return [
    head + tail,
    ...(needed === '' ? [] : [head + needed + tail]),
    head + needed + tail + missing,
    `${head}${needed}${tail}${missing} SELECT 1`,
    ...(missing === '' ? [] : [head + needed + missing + tail]),
    head + needed + all,
    `${head}${needed}${all} SELECT 1`,
    `${head}${needed}${all} FROM ${name}`,
  ];
}

/** Whether a type comes next: `CAST(x AS `. */
export function isBeforeType(before: readonly Token[]): boolean {
  return before.at(-1)?.symbol === 'AS' && /^(?:SAFE_)?CAST$/.test(openAt(before).at(-1)?.owner ?? '');
}

/** A bracket or CASE, and the tokens before and in it. */
interface Opening {
  readonly symbol: '(' | '[' | 'CASE';
  readonly owner: string;
  /** The last word of its own that was read in a CASE. */
  word: string;
}

function openAt(tokens: readonly Token[]): readonly Opening[] {
  const open: Opening[] = [];
  tokens.forEach(({ symbol }, i) => {
    const innermost = open.at(-1);
    if (symbol === '(' || symbol === '[' || symbol === 'CASE') {
      open.push({ symbol, owner: tokens[i - 1]?.symbol ?? '', word: '' });
    } else if (symbol === ')' || symbol === ']' || (symbol === 'END' && innermost?.symbol === 'CASE')) open.pop();
    else if (innermost !== undefined && /^(?:WHEN|THEN|ELSE|AS)$/.test(symbol)) innermost.word = symbol;
  });
  return open;
}

function closing(open: readonly Opening[]): string {
  return open
    .toReversed()
    .map(({ symbol, owner, word }) => {
      if (symbol === '[') return ']';
      if (symbol === 'CASE')
        return word === 'THEN' || word === 'ELSE' ? ' END' : `${word === '' ? ' WHEN NULL' : ''} THEN NULL END`;
      return /^(?:SAFE_)?CAST$/.test(owner) && word !== 'AS' ? ' AS STRING)' : ')';
    })
    .join('');
}

/** What the word before the cursor requires behind the next operand. */
function neededBehind(before: readonly Token[]): string {
  const last = before.at(-1)?.symbol;
  if (last === 'BETWEEN') return ' AND NULL';
  return last === 'JOIN' && !/^(?:CROSS|NATURAL)$/.test(before.at(-2)?.symbol ?? '') ? ' ON TRUE' : '';
}
