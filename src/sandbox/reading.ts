/**
 * The walls that need nothing but the text (docs/sandbox.md): lexer, parser, allow-lists; then names and types. As tasks:
 * a long text passes them on a thread.
 */
import { typesByName, type SqlType, type TableSchema } from '@logquay/googlesql/types';
import { unsupportedError, type Query, type Span, walk } from '@logquay/googlesql/syntax';
import { placesThatCanFail, type PrintedQuery, type ResolvedQuery, fixesOrder, resolveQuery } from '@logquay/googlesql';
import type { Task } from '@logquay/duckdb-engine/concurrency';
import { QueryError } from '../errors';
import {
  originalSpan,
  type Pieces,
  readConsumerQuery,
  type Reading,
  readStatement,
  readTranslation,
  type Statement,
} from '@logquay/googlesql/consumer';
import { type Fence, fencedQuery } from './fence';
import { maskStatement } from './masked';
import type { StoredQuery } from './stored-query';

/** A consumer's text, and what of the stored query decides on it. */
export interface SentText extends Pick<StoredQuery, 'cteTables' | 'parameters'> {
  readonly text: string;
  /** Who wrote it: a consumer, or this service from their LQL. */
  readonly from: 'sql' | 'lql';
}

/** A text that uses nothing but what it may. */
export interface ReadText extends Reading {
  /** The syntax tree of `statement`: the text is parsed once. */
  readonly query: Query;
  /** The one statement, as sent or as rewritten leniently, without a semicolon. */
  readonly statement: string;
  /** See `fixesOrder`. */
  readonly ordered: boolean;
  /** For the second parser; null where it must not be asked. */
  readonly masked: string | null;
  /** From `statement` back to the text that was sent: see `originalSpan`. */
  readonly passes: readonly Pieces[];
}

/** @throws QueryError with a span in the text as sent */
export const readText: Task<SentText, ReadText> = {
  file: __filename,
  name: 'readText',
  run({ text, from, ...stored }) {
    const statement = from === 'sql' ? readStatement(text) : readTranslation(text);
    try {
      return checked(statement, stored);
    } catch (error) {
      throw error instanceof QueryError ? inSentText(error, statement.passes) : error;
    }
  },
};

function checked(statement: Statement, stored: Pick<StoredQuery, 'cteTables' | 'parameters'>): ReadText {
  const { text, query, tokens, end, passes, unsupported } = statement;
  const reading = readConsumerQuery(statement, stored);
  const [construct] = unsupported;
  if (construct !== undefined) throw unsupportedError(construct);
  const masked = isBeyondSecondOpinion(query) ? null : maskStatement(text, tokens);
  return { ...reading, query, statement: text.slice(0, end), ordered: fixesOrder(query), masked, passes };
}

/** The error with its place in the text that was sent. */
export function inSentText({ fault, message, span, details }: QueryError, passes: readonly Pieces[]): QueryError {
  return new QueryError(fault, message, span && originalSpan(passes, span), details);
}

/**
 * node-sql-parser reads no join in parentheses, in any form, but in a long text takes up its time to find out. Of pipe
 * syntax it has a reading of its own, which no text is held to.
 */
function isBeyondSecondOpinion(query: Query): boolean {
  let found = false;
  walk(query, (node) => {
    found ||= node.kind === 'parenthesised_join' || node.kind === 'from_query';
    found ||= node.kind === 'query' && node.pipes.length > 0;
    return !found;
  });
  return found;
}

/** A statement that `readText` gave, and the tables that it may read with their columns. */
export interface TypedText extends Pick<StoredQuery, 'parameters'>, Pick<ReadText, 'statement' | 'query'> {
  readonly tables: readonly TableSchema[];
  /** null: rows that the stored query leaves out are nobody's secret, or the engine fences them itself. */
  readonly fence: Fence | null;
}

/** What names and types say about a statement. */
export interface Meaning {
  /** The fenced form; null where the statement may run as it is. */
  readonly printed: PrintedQuery | null;
  /** The one place where the statement can fail on a value while it runs; null: nowhere, or at several. */
  readonly onlyFault: Span | null;
}

/**
 * Names and types, from the CTE tables alone; then the fenced form.
 *
 * @throws QueryError with a span in the statement
 */
export const checkMeaning: Task<TypedText, Meaning> = {
  file: __filename,
  name: 'checkMeaning',
  run({ statement, query: parsed, tables, parameters, fence }) {
    const byName = new Map(tables.map((table) => [table.name.toLowerCase(), table]));
    const query = resolveQuery(parsed, statement, {
      findTable: (path) => (path.length === 1 ? byName.get(path[0]?.name.toLowerCase() ?? '') : undefined),
      parameters: typesByName(parameters),
    });
    return { printed: fence === null ? null : fencedQuery(query, fence), onlyFault: onlyFaultOf(query) };
  },
};

function onlyFaultOf(query: ResolvedQuery): Span | null {
  // An array in the result fails on a NULL element (docs/dialect.md).
  if (query.output.some(({ column }) => holdsArray(column.type))) return null;
  const [first = null, second] = placesThatCanFail(query);
  return second === undefined ? first : null;
}

function holdsArray(type: SqlType): boolean {
  if (type.kind === 'STRUCT') return type.fields.some((field) => holdsArray(field.type));
  return type.kind === 'ARRAY';
}
