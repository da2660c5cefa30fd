/** Hints for syntax of other SQL dialects, by the tokens where the grammar ends. */
import type { Token } from '../lexer';

/** Words of others, at or before the place where the grammar ends. */
const WORDS: Readonly<Record<string, string>> = {
  '->': "JSON_VALUE(x, '$.name'), or JSON_QUERY",
  '->>': "JSON_VALUE(x, '$.name')",
  'DISTINCT ON': 'QUALIFY ROW_NUMBER() OVER (PARTITION BY x ORDER BY y) = 1',
  '& &': 'AND',
  FETCH: 'LIMIT 10 OFFSET 5',
  'FILTER (': 'COUNTIF(condition), or SUM(IF(condition, x, NULL))',
  ILIKE: "LOWER(x) LIKE 'part%', or REGEXP_CONTAINS(x, r'(?i)part')",
  RLIKE: "REGEXP_CONTAINS(x, r'...')",
  SIMILAR: "REGEXP_CONTAINS(x, r'...')",
  WITHIN: 'PERCENTILE_CONT(x, 0.5) OVER (), or APPROX_QUANTILES(x, 2)[OFFSET(1)]',
};

const NAMES = new Set(['a table', 'an alias', 'a column name', 'a name', 'a field name', 'an expression or a name']);

const OF_SYMBOLS: Readonly<Partial<Record<string, string>>> = {
  '::': 'CAST(x AS INT64)',
  '~': "REGEXP_CONTAINS(x, r'...')",
};

/** Calls of others with keywords between their arguments, by name. */
const CALLS: Readonly<Record<string, string>> = {
  OVERLAY: 'CONCAT and SUBSTR',
  POSITION: 'STRPOS(text, part)',
  SUBSTRING: 'SUBSTR(x, 1, 2)',
  TRIM: "TRIM(x, 'a'), LTRIM(x, 'a') or RTRIM(x, 'a')",
};
/** Tokens that are looked at for the call around a place. */
const LOOKED_BACK = 8;

/**
 * @param index of the token that does not fit
 * @param expected what would have fitted
 */
export function syntaxHint(tokens: readonly Token[], index: number, expected: string): string | null {
  const [before, token] = [tokens[index - 1], tokens[index]];
  if (token === undefined) return null;
  const form = formAt(tokens, index) ?? callAround(tokens, index) ?? formOfWords(before, token);
  if (form !== undefined) return `In GoogleSQL: ${form}.`;
  const { kind, symbol, value } = token;
  if (before?.symbol === 'LIMIT' && symbol === 'ALL') return 'In GoogleSQL all rows are what no LIMIT gives.';
  if (symbol === '=' && before?.symbol === '=') return 'In GoogleSQL equality is one =.';
  if (kind === 'string' && NAMES.has(expected)) return `Names are quoted in backticks: \`${value.slice(0, 60)}\`.`;
  if (expected === 'a date part' && before?.kind === 'string') return 'In GoogleSQL: INTERVAL 1 DAY.';
  return null;
}

/** Of LIMIT by other words, or in another place. */
function formAt(tokens: readonly Token[], index: number): string | undefined {
  const [beforeLast, before, token] = [tokens[index - 2], tokens[index - 1], tokens[index]];
  if (beforeLast?.symbol === 'LIMIT' && token?.symbol === ',') return 'LIMIT 10 OFFSET 5';
  if (token?.kind !== 'integer') return undefined;
  const word = before?.value.toUpperCase();
  // Where no LIMIT is before it, it reads as an alias.
  if (word === 'OFFSET') return 'LIMIT 10 OFFSET 5';
  return word === 'TOP' && beforeLast?.symbol === 'SELECT' ? 'LIMIT 10 at the end' : undefined;
}

function formOfWords(before: Token | undefined, { symbol }: Token): string | undefined {
  const words = [before?.symbol, symbol];
  const word = [...words, words.join(' ')].find((one) => one !== undefined && Object.hasOwn(WORDS, one));
  return word === undefined ? OF_SYMBOLS[symbol] : WORDS[word];
}

/** How a call of another dialect is written whose parenthesis is open there. */
function callAround(tokens: readonly Token[], index: number): string | undefined {
  for (let i = index - 1; i > 0 && i >= index - LOOKED_BACK; i--) {
    if (tokens[i]?.symbol === ')') return undefined;
    const name = tokens[i - 1]?.value.toUpperCase() ?? '';
    if (tokens[i]?.symbol === '(') return Object.hasOwn(CALLS, name) ? CALLS[name] : undefined;
  }
  return undefined;
}
