import {
  DELIMITERS,
  ENCODED_DELIMITERS,
  parseSearchQuery,
  SearchQueryFault,
  type SearchTerm,
} from '../../../packages/googlesql/src/face/types';
import { lex } from '../../../packages/googlesql/src/face/syntax';
import { invalidQuery } from '../query/error';

/**
 * Whether a text is found by SEARCH, as a condition; null for settings and queries that the local BigQuery does not have.
 *
 * @param query text of the second argument
 * @param settings texts of the arguments after it
 * @throws BigQueryError `invalidQuery` for a query that is none
 */
export function searchTest(text: string, query: string, settings: readonly string[]): string | null {
  const written = literal(query);
  const analyzers = settings.map((one) => /^analyzer\s*=>\s*(.*)$/is.exec(one)?.[1] ?? null);
  if (written === null || analyzers.includes(null)) return null;
  const [analyzer = 'LOG_ANALYZER'] = analyzers.map((one) => literal(one ?? '')?.toUpperCase());
  if (analyzer === 'NO_OP_ANALYZER') return `${text} = ${quoted(written)}`;
  if (analyzer !== 'LOG_ANALYZER') return null;
  try {
    return condition(parseSearchQuery(written), text);
  } catch (error) {
    if (!(error instanceof SearchQueryFault)) throw error;
    throw invalidQuery(`Invalid search_query of SEARCH: ${error.message}`);
  }
}

/** The value of a text literal; null for any other expression. */
function literal(text: string): string | null {
  const [token, end] = lex(text);
  return token?.kind === 'string' && end?.kind === 'end' ? token.value : null;
}

function condition(term: SearchTerm, text: string): string {
  switch (term.kind) {
    case 'and':
    case 'or':
      return `(${term.terms.map((one) => condition(one, text)).join(` ${term.kind} `)})`;
    case 'words':
      return `(${['TRUE', ...term.words.map((word) => holds(text, [word]))].join(' AND ')})`;
    case 'phrase':
      return term.words.length === 0 ? 'TRUE' : holds(text, term.words);
    case 'exact': {
      const pattern = `(?:\\A|[${DELIMITERS}]|${ENCODED_DELIMITERS})${escaped(term.text)}(?:[${DELIMITERS}]|\\z)`;
      return `REGEXP_CONTAINS(${text}, ${quoted(pattern)})`;
    }
  }
}

/** Words in lower case next to each other, between delimiters. */
function holds(text: string, words: readonly string[]): string {
  const inAnyCase = (word: string): string =>
    Array.from(word, (letter) => (/[a-z]/.test(letter) ? `[${letter}${letter.toUpperCase()}]` : escaped(letter))).join(
      '',
    );
  const pattern = `(?:\\A|[${DELIMITERS}])${words.map(inAnyCase).join(`[${DELIMITERS}]+`)}(?:[${DELIMITERS}]|\\z)`;
  return `REGEXP_CONTAINS(REGEXP_REPLACE(${text}, ${quoted(ENCODED_DELIMITERS)}, ' '), ${quoted(pattern)})`;
}

function escaped(text: string): string {
  return text.replace(/[\\^$.|?*+()[\]{}]/g, '\\$&');
}

/** A text as a literal of GoogleSQL, which has every escape of JSON. */
function quoted(text: string): string {
  return JSON.stringify(text);
}
