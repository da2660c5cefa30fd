/**
 * The text that the second parser gets: comments gone and literals replaced by neutral ones of the same kind, so that it
 * never reads a byte that our lexer says is data.
 */
import type { Token } from '@logquay/googlesql/syntax';

/** Beyond this many nested brackets of the kinds below the parser's time explodes, and it is not asked. */
const MAX_HARD_NESTING = 8;
/** Words whose opening parenthesis makes node-sql-parser try every reading again: time doubles with each level. */
const HARD_WORDS = new Set(['STRUCT', 'CAST', 'SAFE_CAST', 'ARRAY', 'IF']);

/** The masked statement, or null where the second parser must not be asked. Blanks stay where there were any. */
export function maskStatement(text: string, tokens: readonly Token[]): string | null {
  if (hardNesting(tokens) > MAX_HARD_NESTING) return null;
  let masked = '';
  let end: number | null = null;
  for (const token of tokens) {
    if (token.kind === 'end' || token.kind === 'rest' || token.symbol === ';') break;
    if (end !== null && token.start > end) masked += ' ';
    masked += maskToken(text, token);
    end = token.end;
  }
  return masked;
}

function maskToken(text: string, token: Token): string {
  switch (token.kind) {
    case 'string':
      return "'x'";
    case 'bytes':
      return "b'x'";
    case 'identifier':
    case 'integer':
    case 'float':
    case 'symbol':
    case 'rest':
    case 'end':
      return text.slice(token.start, token.end);
  }
}

function hardNesting(tokens: readonly Token[]): number {
  const open: boolean[] = [];
  let depth = 0;
  let deepest = 0;
  tokens.forEach((token, i) => {
    if (token.symbol === '(' || token.symbol === '[') {
      const hard = token.symbol === '[' || HARD_WORDS.has(tokens[i - 1]?.symbol ?? '');
      open.push(hard);
      if (hard) deepest = Math.max(deepest, ++depth);
    } else if (token.symbol === ')' || token.symbol === ']') {
      if (open.pop() === true) depth--;
    }
  });
  return deepest;
}
