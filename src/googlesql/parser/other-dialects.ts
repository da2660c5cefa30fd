/** Hints for syntax of other SQL dialects, by the tokens where the grammar ends. */
import type { Token } from '../token';

/** Words of others, at or before the place where the grammar ends. */
const WORDS: Readonly<Record<string, string>> = {
  '->': "JSON_VALUE(x, '$.name'), or JSON_QUERY",
  '->>': "JSON_VALUE(x, '$.name')",
  'DISTINCT ON': 'QUALIFY ROW_NUMBER() OVER (PARTITION BY x ORDER BY y) = 1',
  FETCH: 'LIMIT 10 OFFSET 5',
  'FILTER (': 'COUNTIF(condition), or SUM(IF(condition, x, NULL))',
  RLIKE: "REGEXP_CONTAINS(x, r'...')",
  SIMILAR: "REGEXP_CONTAINS(x, r'...')",
  WITHIN: 'PERCENTILE_CONT(x, 0.5) OVER (), or APPROX_QUANTILES(x, 2)[OFFSET(1)]',
};

const NAMES = new Set(['a table', 'an alias', 'a column name', 'a name', 'a field name', 'an expression or a name']);

/**
 * @param before the token before the one that does not fit
 * @param expected what would have fitted
 */
export function syntaxHint(before: Token | undefined, { kind, symbol, value }: Token, expected: string): string | null {
  const words = [before?.symbol, symbol];
  const word = [...words, words.join(' ')].find((one) => one !== undefined && Object.hasOwn(WORDS, one));
  if (word !== undefined) return `In GoogleSQL: ${WORDS[word]!}.`;
  if (words.includes('ILIKE')) return "In GoogleSQL: LOWER(x) LIKE 'part%', or REGEXP_CONTAINS(x, r'(?i)part').";
  if (symbol === '::') return 'In GoogleSQL: CAST(x AS INT64).';
  if (symbol === '~') return "In GoogleSQL: REGEXP_CONTAINS(x, r'...').";
  if (symbol === '=' && before?.symbol === '=') return 'In GoogleSQL equality is one =.';
  if (symbol === '&' && before?.symbol === '&') return 'In GoogleSQL: AND.';
  if (kind === 'string' && NAMES.has(expected)) return `Names are quoted in backticks: \`${value.slice(0, 60)}\`.`;
  if (expected === 'a date part' && before?.kind === 'string') return 'In GoogleSQL: INTERVAL 1 DAY.';
  return null;
}
