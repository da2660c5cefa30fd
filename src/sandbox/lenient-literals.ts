import type { Edit } from './text-edits';

/** Comments, names in backticks, and words that no quote follows as their literal: nothing to rewrite in them. */
const PASSED = /--[^\r\n]*|#[^\r\n]*|\/\*[^]*?\*\/|`(?:\\[^]|[^\\`])*`/y;
const OPENING = /(rb?|br?)?('''|"""|'|")/iy;
const WORD = /[A-Za-z0-9_]+/y;

/** The character after a backslash is one that GoogleSQL gives a meaning. */
const KNOWN_ESCAPE = /[abfnrtv\\?'"`xXuU\r\n]|[0-3][0-7]{2}/y;

/** Edits that make GoogleSQL of doubled quotes in one-quote literals and of unknown escapes in all literals. */
export function literalEdits(text: string): Edit[] {
  const edits: Edit[] = [];
  for (let at = 0; at < text.length;) {
    const opening = match(OPENING, text, at);
    if (opening === null) {
      at += (match(PASSED, text, at) ?? match(WORD, text, at) ?? [' '])[0].length;
      continue;
    }
    const [whole, prefix = '', quotes = ''] = opening;
    // Three quotes that nothing closes are one, and a doubled quote after it.
    const quote = quotes.length === 3 && !text.includes(quotes, at + whole.length) ? quotes.slice(0, 1) : quotes;
    at = readLiteral(text, at + prefix.length + quote.length, quote, prefix.toLowerCase().includes('r'), edits);
  }
  return edits;
}

/** Collects the edits of one literal, `at` its first character inside the quotes; returns where it ends. */
function readLiteral(text: string, at: number, quote: string, raw: boolean, edits: Edit[]): number {
  for (let i = at; i < text.length; i++) {
    const char = text[i];
    if (char === '\\') {
      if (!raw && match(KNOWN_ESCAPE, text, i + 1) === null) edits.push({ start: i, end: i, by: '\\' });
      i++;
    } else if (char === quote[0] && text.startsWith(quote, i)) {
      if (quote !== "'" || text[i + 1] !== "'") return i + quote.length;
      edits.push({ start: i, end: i + 1, by: '\\' });
      i++;
    } else if (quote.length === 1 && (char === '\n' || char === '\r')) {
      return i;
    }
  }
  return text.length;
}

function match(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}
