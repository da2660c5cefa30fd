/** SEARCH: each term of a literal query as a regular expression over every text of a value. */
import {
  QueryError,
  type SqlType,
  DELIMITERS,
  ENCODED_DELIMITERS,
  parseSearchQuery,
  SearchQueryFault,
  type SearchTerm,
} from '@logquay/googlesql/types';
import { type Call, type FunctionTable, arg, noted } from '../expressions/call';
import { LIMITS } from '../expressions/makers';
import { physicalFieldNames, quoteText } from '../../sql';

/** Whether a text, a name, holds what is searched for: true or false. */
type Test = (text: string) => string;

function search(call: Call): string {
  const value = arg(call, 0);
  const test = testOf(call);
  return call.bind(
    [value.sql],
    (x) => within(call, x, value.type, test) ?? `CASE WHEN ${x} IS NOT NULL THEN false END`,
  );
}

function testOf(call: Call): Test {
  const query = arg(call, 1);
  for (const name of Object.keys(call.named)) {
    if (name === 'ANALYZER_OPTIONS') return call.unsupported('SEARCH with analyzer_options');
    if ((call.named[name]?.constant ?? null) === null)
      return call.unsupported(`SEARCH with a computed ${name.toLowerCase()}`);
  }
  if (query.expr.kind === 'literal' && query.constant === null) throw fault(call, 'it is NULL');
  const { constant } = query;
  if (constant === null) return call.unsupported('SEARCH with a search_query that is no literal');
  if (constant.length > LIMITS.searchCharacters)
    throw fault(call, `it is longer than ${LIMITS.searchCharacters} characters`);
  switch (call.named['ANALYZER']?.constant?.toUpperCase() ?? 'LOG_ANALYZER') {
    case 'NO_OP_ANALYZER':
      return (text) => `${text} = ${quoteText(constant)}`;
    case 'LOG_ANALYZER':
      return logAnalyzer(call, parsed(call, constant));
    case 'PATTERN_ANALYZER':
      return call.unsupported('SEARCH with PATTERN_ANALYZER');
    default:
      throw new QueryError(
        'invalidQuery',
        'An analyzer is LOG_ANALYZER, NO_OP_ANALYZER or PATTERN_ANALYZER',
        call.span,
      );
  }
}

function parsed(call: Call, query: string): SearchTerm {
  try {
    return parseSearchQuery(query);
  } catch (error) {
    if (error instanceof SearchQueryFault) throw fault(call, error.message);
    throw error;
  }
}

function fault(call: Call, words: string): QueryError {
  return new QueryError('invalidQuery', `Invalid search_query of SEARCH: ${words}`, arg(call, 1).expr.span);
}

function logAnalyzer(call: Call, query: SearchTerm): Test {
  return (text) =>
    call.bind(
      [
        text,
        `CASE WHEN contains(${text}, '%') THEN regexp_replace(${text}, '${ENCODED_DELIMITERS}', ' ', 'g') ELSE ${text} END`,
      ],
      (whole, decoded) => condition(query, whole, decoded),
    );
}

/** @param decoded the text with spaces for encoded delimiters */
function condition(term: SearchTerm, whole: string, decoded: string): string {
  switch (term.kind) {
    case 'and':
    case 'or':
      return `(${term.terms.map((t) => condition(t, whole, decoded)).join(term.kind === 'and' ? ' AND ' : ' OR ')})`;
    case 'words':
      if (term.words.length === 0) return `(${whole} IS NOT NULL)`;
      return `(${term.words.map((word) => matches(decoded, [word])).join(' AND ')})`;
    case 'phrase':
      return term.words.length === 0 ? `(${whole} IS NOT NULL)` : matches(decoded, term.words);
    case 'exact': {
      const pattern = `(?:\\A|[${DELIMITERS}]|${ENCODED_DELIMITERS})${Array.from(term.text, quoted).join('')}(?:[${DELIMITERS}]|\\z)`;
      return `regexp_matches(${whole}, ${quoteText(pattern)})`;
    }
  }
}

function matches(text: string, words: readonly string[]): string {
  const sequence = words.map((word) => Array.from(word, inAnyCase).join('')).join(`[${DELIMITERS}]+`);
  return `regexp_matches(${text}, ${quoteText(`(?:\\A|[${DELIMITERS}])${sequence}(?:[${DELIMITERS}]|\\z)`)})`;
}

function inAnyCase(letter: string): string {
  return /[a-z]/.test(letter) ? `[${letter}${letter.toUpperCase()}]` : quoted(letter);
}

function quoted(letter: string): string {
  return /[\\^$.|?*+()[\]{}]/.test(letter) ? `\\${letter}` : letter;
}

/** Whether one of the texts of a value, at any depth, passes: NULL where none does and one is NULL. null: it holds no text. */
function within(call: Call, x: string, type: SqlType, test: Test): string | null {
  switch (type.kind) {
    case 'STRING':
      return test(x);
    case 'JSON':
      return call.unsupported('SEARCH of JSON');
    case 'STRUCT': {
      const names = physicalFieldNames(type.fields).map(quoteText);
      const fields = type.fields.flatMap(
        (f, i) => within(call, `struct_extract(${x}, ${names[i]!})`, f.type, test) ?? [],
      );
      return fields.length === 0 ? null : `(${fields.join(' OR ')})`;
    }
    case 'ARRAY': {
      const inner = within(call, 'e', type.element, test);
      if (inner === null) return null;
      return call.bind(
        [`list_transform(${x}, lambda e: ${inner})`],
        (found) =>
          `CASE WHEN list_contains(${found}, true) THEN true WHEN list_count(${found}) < len(${found}) THEN NULL ELSE false END`,
      );
    }
    default:
      return null;
  }
}

export const SEARCH_FUNCTIONS = {
  SEARCH: noted(
    'a literal query of up to 1,000 characters, not of JSON; no PATTERN_ANALYZER, no `analyzer_options`',
    search,
  ),
} satisfies FunctionTable;
