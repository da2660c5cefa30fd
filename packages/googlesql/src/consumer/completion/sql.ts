/** Completions in GoogleSQL: the text is read with a name of ours at the cursor, and the resolver says what could be there. */
import { QueryError } from '../../errors';
import { surveyQuery } from '../../parser';
import { type Completion, type WrittenText, type Completions, matching } from './completion';
import { typesByName } from '../../bound-parameter';
import { surveyMeaning, type Candidate, type Candidates } from '../../resolver';
import type { Query, Span } from '../../tree';
import { walk } from '../../tree-walk';
import { findFunction } from '../../functions/catalogue';
import { lexUntilFault, type Token, writtenName } from '../../lexer';
import { typeText } from '../../type-names';
import type { SqlType } from '../../types';
import { describeFunctions } from '../functions';
import { nestedFields } from './nested-fields';
import { isBeforeType, readings } from './readings';

/** Reserved words, alone and as they go together: any other word might be a name. */
const PHRASES = [
  ...[
    'SELECT',
    'FROM',
    'WHERE',
    'GROUP BY',
    'HAVING',
    'ORDER BY',
    'LIMIT',
    'QUALIFY',
    'WINDOW',
    'WITH',
    'DISTINCT',
    'AS',
  ],
  ...['JOIN', 'INNER JOIN', 'LEFT JOIN', 'RIGHT JOIN', 'FULL JOIN', 'CROSS JOIN', 'UNNEST(', 'ON', 'USING ('],
  ...['UNION ALL', 'UNION DISTINCT', 'EXCEPT DISTINCT', 'INTERSECT DISTINCT', 'AND', 'OR', 'NOT', 'IN', 'IN UNNEST('],
  ...[
    'IS NULL',
    'IS NOT NULL',
    'LIKE',
    'BETWEEN',
    'CASE',
    'WHEN',
    'THEN',
    'ELSE',
    'END',
    'EXISTS (',
    'CAST(',
    'INTERVAL',
  ],
  ...['TRUE', 'FALSE', 'NULL', 'ASC', 'DESC', 'OVER (', 'PARTITION BY', 'ROLLUP (', 'CUBE ('],
];

/** UTF-16 units of a text that is read once for each phrase. */
const LONGEST_BEFORE = 8_000;

/** The keywords that may follow a text: those behind which a reading of it goes on, or ends for want of more. */
function viableKeywords(before: string): readonly Completion[] {
  if (before.length > LONGEST_BEFORE) return [];
  return PHRASES.filter((phrase) => isViable(before, phrase)).map((phrase) => ({
    label: phrase.replace(/ ?\($/, ''),
    kind: 'keyword',
    insert: phrase.endsWith('(') ? phrase : `${phrase} `,
  }));
}

function isViable(before: string, phrase: string): boolean {
  const text = before + phrase;
  try {
    surveyQuery(text);
    return true;
  } catch (error) {
    if (!(error instanceof QueryError)) throw error;
    return error.fault === 'invalidQuery' && error.span !== null && error.span.start >= text.length;
  }
}

/** Completions that are tried, one reading of the text each. */
const MOST_TRIED = 60;

const WRAPPER = 'TO_JSON_STRING(';

export function isGrouped(query: Query): boolean {
  let grouped = false;
  walk(query, (node) => {
    grouped ||= node.kind === 'select' && (node.groupBy !== null || node.having !== null);
    return !grouped;
  });
  return grouped;
}

/** Without those that the query may not name at the cursor; in a text that is no query yet all are left in. */
function withoutUngrouped(
  all: readonly Completion[],
  { text, span }: { readonly text: string; readonly span: Span },
  { tables, parameters }: Pick<WrittenText, 'tables' | 'parameters'>,
): readonly Completion[] {
  const byName = new Map(tables.map((table) => [table.name.toLowerCase(), table]));
  const environment = {
    findTable: (path: readonly { readonly name: string }[]) =>
      path.length === 1 ? byName.get(path[0]?.name.toLowerCase() ?? '') : undefined,
    parameters: typesByName(parameters),
  };
  return all.slice(0, MOST_TRIED).filter(({ insert, also }) => {
    // As an argument, which may be of any type.
    const { tried, at } = applied(text, span, `${WRAPPER}${insert})`, also);
    try {
      const { faults } = surveyMeaning(surveyQuery(tried).query, tried, environment);
      return !faults.some(
        ({ details, span: wrong }) => details.note?.code === 'ungrouped' && covers(wrong, at + WRAPPER.length),
      );
    } catch (error) {
      if (error instanceof QueryError) return true;
      throw error;
    }
  });
}

function applied(
  text: string,
  { start, end }: Span,
  insert: string,
  also: Completion['also'],
): { readonly tried: string; readonly at: number } {
  if (also === undefined) return { tried: text.slice(0, start) + insert + text.slice(end), at: start };
  if (also.at <= start) {
    const front = text.slice(0, also.at) + also.insert + text.slice(also.at, start);
    return { tried: front + insert + text.slice(end), at: front.length };
  }
  return {
    tried: text.slice(0, start) + insert + text.slice(end, also.at) + also.insert + text.slice(also.at),
    at: start,
  };
}

function covers(span: Span | null, at: number): boolean {
  return span !== null && span.start <= at && at < span.end;
}

/** The functions that a consumer query may call in a place. */
function functionCompletions(allowed: {
  readonly aggregates: boolean;
  readonly windows: boolean;
}): readonly Completion[] {
  return describeFunctions().flatMap(({ name, signatures }): Completion[] => {
    const mode = findFunction(name)?.mode;
    if ((mode === 'aggregate' && !allowed.aggregates) || (mode === 'analytic' && !allowed.windows)) return [];
    const detail = signatures.slice(0, 3).join('; ');
    return [{ label: name, kind: 'function', insert: `${name}(`, ...(detail === '' ? {} : { detail }) }];
  });
}

/** No name of a query, so that nothing has it. */
const CURSOR = 'logquay_name_at_the_cursor';

/** What a value can be cast to. */
const TYPES: readonly Completion[] = [
  ...['STRING', 'INT64', 'FLOAT64', 'BOOL', 'TIMESTAMP', 'DATE', 'DATETIME', 'TIME', 'NUMERIC', 'BIGNUMERIC', 'BYTES'],
  ...['INTERVAL', 'JSON'],
].map((name) => ({ label: name, kind: 'keyword', insert: name }));

/** UTF-16 units of a text in which completions are looked for: it is read many times. */
const LONGEST_TEXT = 20_000;

export function completeSql({ text, position, tables, parameters }: WrittenText): Completions {
  const at = Math.min(Math.max(0, position), text.length);
  const span = wordAt(text, at);
  const word = text.slice(span.start, at);
  const before = text.slice(0, span.start);
  const { tokens, fault } = lexUntilFault(before);
  if (text.length > LONGEST_TEXT || fault !== null || isInComment(before, tokens)) return { span, items: [] };
  const written = tokens.filter(({ kind }) => kind !== 'end');
  const last = written.at(-1);
  if (last?.kind === 'rest' || last?.symbol === ';') return { span, items: [] };
  if (last?.symbol === '@') return { span, items: matching(word, parameterCompletions(parameters)) };
  if (isBeforeType(written)) return { span, items: matching(word, TYPES) };
  const names = readAt({ text, span, before: written }, { tables, parameters });
  // What an argument list follows is a function.
  const found = text[span.end] === '(' ? names.filter(({ kind }) => kind === 'function') : names;
  const afterDot = last?.symbol === '.';
  const keywords = afterDot ? [] : viableKeywords(before);
  return { span, items: matching(word, [...found, ...keywords]) };
}

/** The word that the cursor is in or behind. */
function wordAt(text: string, at: number): Span {
  let [start, end] = [at, at];
  while (start > 0 && /\w/.test(text[start - 1] ?? '')) start--;
  while (end < text.length && /\w/.test(text[end] ?? '')) end++;
  // Digits at the front are a number, which nothing completes.
  return /^\d/.test(text.slice(start, at)) ? { start: at, end: at } : { start, end };
}

/** Whether blanks behind the last token hold a comment that goes on. */
function isInComment(before: string, tokens: readonly Token[]): boolean {
  const rest = before.slice(tokens.findLast(({ kind }) => kind !== 'end')?.end ?? 0);
  return /(?:--|#)[^\n\r]*$/.test(rest);
}

interface Place {
  readonly text: string;
  /** The word at the cursor. */
  readonly span: Span;
  /** What is written before it. */
  readonly before: readonly Token[];
}

type Known = Pick<WrittenText, 'tables' | 'parameters'>;

/** Names and functions, from the first reading of the text that is a query. */
function readAt(place: Place, known: Known): readonly Completion[] {
  for (const reading of readings(place.text, place.span, place.before, CURSOR)) {
    const query = parsed(reading);
    if (query === null) continue;
    const candidates = candidatesIn(query, reading, known);
    if (candidates.length > 0) return candidates.flatMap((one) => completionsOf(one, place, { query, reading }, known));
  }
  return [];
}

function parsed(text: string): Query | null {
  try {
    const { query, unsupported } = surveyQuery(text);
    return unsupported.length > 0 ? null : query;
  } catch (error) {
    if (error instanceof QueryError) return null;
    throw error;
  }
}

function candidatesIn(query: Query, text: string, { tables, parameters }: Known): readonly Candidates[] {
  const found: Candidates[] = [];
  const byName = new Map(tables.map((table) => [table.name.toLowerCase(), table]));
  surveyMeaning(query, text, {
    findTable: (path) => (path.length === 1 ? byName.get(path[0]?.name.toLowerCase() ?? '') : undefined),
    parameters: typesByName(parameters),
    onUnknown: (name, candidates) => {
      if (name === CURSOR) found.push(candidates);
    },
  });
  return found;
}

interface Reading {
  readonly query: Query;
  /** The text of it, with our name at the cursor. */
  readonly reading: string;
}

function completionsOf(there: Candidates, place: Place, reading: Reading, known: Known): readonly Completion[] {
  switch (there.kind) {
    case 'table':
      return [
        ...there.ctes.map((name) => ({ label: name, kind: 'table' as const, insert: writtenName(name) })),
        ...known.tables.map(({ name }) => ({ label: name, kind: 'table' as const, insert: writtenName(name) })),
      ];
    case 'member':
      return there.names.map((name) => nameCompletion(name, 'field'));
    case 'expression':
      return expressionCompletions(there, place, reading, known);
  }
}

function expressionCompletions(
  { names, aggregates, windows }: Extract<Candidates, { kind: 'expression' }>,
  place: Place,
  reading: Reading,
  known: Known,
): readonly Completion[] {
  const inUnnest = isInUnnest(place.before);
  const fitting = inUnnest ? names.filter(({ type }) => type === null || type.kind === 'ARRAY') : names;
  const direct = fitting.map((name) => nameCompletion(name, name.isRow ? 'alias' : 'column'));
  const from = inUnnest ? null : endOfFrom(reading.query, place);
  const nested = from === null ? [] : nestedFields(names, from);
  const all = [...direct, ...nested];
  const usable = isGrouped(reading.query) ? withoutUngrouped(all, place, known) : all;
  return [...usable, ...functionCompletions({ aggregates, windows })];
}

function nameCompletion({ name, type }: Candidate, kind: 'alias' | 'column' | 'field'): Completion {
  const named = { label: name, kind, insert: writtenName(name) };
  return type === null ? named : { ...named, type: shortType(type) };
}

function shortType(type: SqlType): string {
  if (type.kind === 'STRUCT') return 'STRUCT';
  return type.kind === 'ARRAY' ? `ARRAY<${shortType(type.element)}>` : typeText(type);
}

/** Inside of the parentheses of UNNEST. */
function isInUnnest(before: readonly Token[]): boolean {
  return before.at(-1)?.symbol === '(' && before.at(-2)?.symbol === 'UNNEST';
}

/** Where the FROM of the SELECT around the cursor ends, as an offset into the written text; null: no such place. */
function endOfFrom(query: Query, { span }: Place): number | null {
  const cursor = span.start;
  let innermost: { readonly from: Span; readonly size: number } | null = null;
  walk(query, (node) => {
    if (node.kind !== 'select' || node.from === null) return true;
    const { start, end } = node.span;
    if (start > cursor || end < cursor) return true;
    if (innermost === null || end - start < innermost.size) innermost = { from: node.from.span, size: end - start };
    return true;
  });
  if (innermost === null) return null;
  const { start, end } = (innermost as { readonly from: Span }).from;
  if (start <= cursor && cursor <= end) return null;
  return end < cursor ? end : end - CURSOR.length + (span.end - span.start);
}

function parameterCompletions(parameters: Known['parameters']): readonly Completion[] {
  return parameters.map(({ name, type }) => ({ label: name, kind: 'parameter', insert: name, type }));
}
