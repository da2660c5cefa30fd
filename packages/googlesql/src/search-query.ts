/**
 * The query of SEARCH, taken apart by BigQuery's grammar
 * (https://cloud.google.com/bigquery/docs/reference/standard-sql/search_functions#search_query_rules).
 */

export type SearchTerm =
  | { readonly kind: 'and' | 'or'; readonly terms: readonly SearchTerm[] }
  /** Words anywhere in the text, in lower case. */
  | { readonly kind: 'words'; readonly words: readonly string[] }
  /** Words next to each other and in this order. */
  | { readonly kind: 'phrase'; readonly words: readonly string[] }
  /** Between delimiters, as it is written. */
  | { readonly kind: 'exact'; readonly text: string };

/** Single characters between which LOG_ANALYZER finds words, as the inside of a character class. */
export const DELIMITERS = String.raw`\[\]<>(){}|!;,'"*&?+/:=@.\-$%\\_\n\r \t`;
/** Percent-encoded ones, the longest first. */
export const ENCODED_DELIMITERS = '%(?:2526|2520|2[01689BbCc]|3[AaBbDd]|5[BbDd]|7[Cc]|0[Aa])';

const DELIMITER = new RegExp(`${ENCODED_DELIMITERS}|[${DELIMITERS}]`);
const RESERVED = String.raw`\[\]<>(){}|!'"*&?+/:=\-\\~^`;
const TOKEN = new RegExp(
  String.raw`(?<space>\s+)|(?<bracket>[()])|\x60(?<exact>(?:\\\x60|[^\x60])+)\x60|"(?<phrase>(?:\\"|[^"])+)"` +
    String.raw`|(?<single>(?:\\[${RESERVED}\x60]|[^${RESERVED}\x60\s])+)`,
  'y',
);
const RESERVED_WORDS: ReadonlySet<string> = new Set(['AND', 'OR', 'NOT', 'IN', 'NEAR']);

/** What is wrong with a query, in words. */
export class SearchQueryFault extends Error {}

interface Token {
  readonly kind: 'bracket' | 'operator' | 'term';
  readonly text: string;
  readonly term: SearchTerm | null;
  /** Whether white space is before it. */
  readonly apart: boolean;
}

/** @throws SearchQueryFault */
export function parseSearchQuery(query: string): SearchTerm {
  const tokens = tokensOf(query);
  let at = 0;
  const next = (text: string): boolean => tokens[at]?.text === text && tokens[at]?.kind !== 'term' && ++at > 0;

  const alternatives = (): SearchTerm => {
    const terms = [conjunction()];
    while (next('OR')) terms.push(conjunction());
    return terms.length === 1 ? terms[0]! : { kind: 'or', terms };
  };
  const conjunction = (): SearchTerm => {
    const terms = [primary()];
    for (;;) {
      const token = tokens[at];
      if (next('AND')) terms.push(primary());
      else if (token !== undefined && token.text !== ')' && token.text !== 'OR') {
        if (!token.apart) throw new SearchQueryFault(`a space is missing before ${token.text}`);
        terms.push(primary());
      } else return terms.length === 1 ? terms[0]! : { kind: 'and', terms };
    }
  };
  const primary = (): SearchTerm => {
    if (next('(')) {
      const inner = alternatives();
      if (!next(')')) throw new SearchQueryFault('a closing parenthesis is missing');
      return inner;
    }
    const token = tokens[at++];
    if (token === undefined || token.term === null)
      throw new SearchQueryFault(`a term is missing ${token === undefined ? 'at the end' : `before ${token.text}`}`);
    return token.term;
  };

  const parsed = alternatives();
  if (at < tokens.length) throw new SearchQueryFault(`${tokens[at]!.text} was not expected`);
  if (!hasWords(parsed)) throw new SearchQueryFault('it has no words');
  return parsed;
}

function tokensOf(query: string): Token[] {
  const tokens: Token[] = [];
  let apart = true;
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < query.length) {
    const { lastIndex } = TOKEN;
    const groups = TOKEN.exec(query)?.groups;
    if (groups === undefined)
      throw new SearchQueryFault(`the character ${query[lastIndex]} needs a backslash, or its term backticks`);
    const { space, bracket, exact, phrase, single } = groups;
    if (space === undefined) tokens.push({ ...tokenOf(bracket, exact, phrase, single), apart });
    apart = space !== undefined || bracket !== undefined;
  }
  return tokens;
}

function tokenOf(
  bracket: string | undefined,
  exact: string | undefined,
  phrase: string | undefined,
  single = '',
): Omit<Token, 'apart'> {
  if (bracket !== undefined) return { kind: 'bracket', text: bracket, term: null };
  if (exact !== undefined) {
    const text = exact.replaceAll('\\`', '`');
    return { kind: 'term', text, term: { kind: 'exact', text } };
  }
  if (phrase !== undefined) return { kind: 'term', text: phrase, term: { kind: 'phrase', words: wordsOf(phrase) } };
  if (single === 'AND' || single === 'OR') return { kind: 'operator', text: single, term: null };
  if (RESERVED_WORDS.has(single)) throw new SearchQueryFault(`the word ${single} needs backticks`);
  const words = wordsOf(single.replace(/\\`/g, '`'));
  return { kind: 'term', text: single, term: { kind: 'words', words } };
}

function wordsOf(text: string): string[] {
  return text
    .split(DELIMITER)
    .filter((word) => word !== '')
    .map(inLowerCase);
}

/** Of ASCII letters alone. */
function inLowerCase(word: string): string {
  return word.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

function hasWords(term: SearchTerm): boolean {
  if (term.kind === 'exact') return true;
  return term.kind === 'words' || term.kind === 'phrase' ? term.words.length > 0 : term.terms.some(hasWords);
}
