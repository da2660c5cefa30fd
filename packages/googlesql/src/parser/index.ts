import { QueryError } from '../errors';
import { lex, type Token } from '../lexer';
import { BoundsError, QUERY_BOUNDS, type Bounds } from '../bounds';
import { checkStatement, secondStatement, secondStatementError } from '../statement';
import type { Parameter, Query, Span } from '../tree';
import { deepestNode } from '../tree-walk';
import { Cursor, type Construct } from './cursor';
import { parseQuery as parseQueryRule } from './query';

export type { Construct } from './cursor';

export interface ParsedQuery {
  readonly query: Query;
  /** Every parameter, also of parts that the tree leaves out (arguments of table functions); in order of the text. */
  readonly parameters: readonly Parameter[];
  /**
   * Constructs of GoogleSQL that this service does not take. Where there are any, `query` is a stand-in that shows
   * their tables and functions and must never run.
   */
  readonly unsupported: readonly Construct[];
  /** What follows the query and its semicolon, if anything: the caller must refuse it. */
  readonly second: Span | null;
  readonly tokens: readonly Token[];
  /** Where the query's text ends: a trailing semicolon and what follows it lie beyond. */
  readonly end: number;
}

/**
 * Reads the one query of a text. Throws QueryError: `invalidQuery` where the text is no GoogleSQL query, is beyond the
 * bounds or uses a construct that this service does not take; `sandboxViolation` where it is another statement or more
 * than one.
 */
export function parseQuery(text: string, bounds: Bounds = QUERY_BOUNDS): Query {
  const { query, unsupported, second } = surveyQuery(text, bounds);
  if (second !== null) throw secondStatementError(second);
  const [construct] = unsupported;
  if (construct !== undefined) throw unsupportedError(construct);
  return query;
}

/** As parseQuery, but lists unsupported constructs and a second statement instead of refusing: the caller must. */
export function surveyQuery(text: string, bounds: Bounds = QUERY_BOUNDS): ParsedQuery {
  const tokens = lex(text, bounds);
  checkStatement(tokens);
  const cursor = new Cursor(tokens, bounds);
  const query = parseQueryRule(cursor);
  const closed = cursor.accept(';');
  const { kind } = cursor.token;
  if (kind !== 'end' && !(closed && kind === 'rest')) cursor.fail('the end of the query');
  const { node, depth } = deepestNode(query);
  if (depth > bounds.treeHeight) {
    const message = `An expression is built of at most ${bounds.treeHeight} levels.`;
    throw new BoundsError(message, node.span);
  }
  const { parameters, unsupported } = cursor;
  return { query, parameters, unsupported, second: secondStatement(tokens), tokens, end: query.span.end };
}

/** The refusal of a construct. */
export function unsupportedError({ name, span }: Construct): QueryError {
  const subject = name.slice(0, 1).toUpperCase() + name.slice(1);
  return new QueryError('invalidQuery', `${subject} is not supported.`, span);
}
