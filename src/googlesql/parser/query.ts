import type { FromQuery, PipeOperator, Query, QueryBody, WithClause, WithEntry } from '../syntax';
import type { Cursor } from './cursor';
import { parseFrom } from './from';
import { parsePipes } from './pipes';
import { parseLimit, parseOrderBy } from './ordering';
import { parseSelect } from './select';
import { parseSetOperator, type SetOperator } from './set-operator';

/** [WITH ...] body [ORDER BY ...] [LIMIT ...] [|> ...], FROM ... [|> ...] */
export function parseQuery(cursor: Cursor): Query {
  const { start } = cursor.token;
  const clause = cursor.at('WITH') ? parseWith(cursor) : null;
  const fromFirst = cursor.at('FROM');
  const body = fromFirst ? parseFromQuery(cursor) : parseBody(cursor);
  const orderBy = !fromFirst && cursor.at('ORDER') ? parseOrderBy(cursor) : [];
  const limit = !fromFirst && cursor.at('LIMIT') ? parseLimit(cursor) : null;
  const plain = orderBy.length === 0 && limit === null;
  const alias = body.kind === 'query' && plain ? parseAliasBeforePipes(cursor) : [];
  const pipes = [...alias, ...parsePipes(cursor)];
  return { kind: 'query', with: clause, body, orderBy, limit, pipes, span: cursor.spanFrom(start) };
}

/** Clauses of SELECT that pipe operators take the place of. */
const NOT_AFTER_FROM: ReadonlyMap<string, string> = new Map([
  ...['WHERE', 'WINDOW', 'LIMIT', 'UNION', 'INTERSECT', 'EXCEPT'].map((word) => [word, word] as const),
  ...['HAVING', 'QUALIFY'].map((word) => [word, 'WHERE'] as const),
  ['SELECT', 'SELECT'],
  ['GROUP', 'AGGREGATE'],
  ['ORDER', 'ORDER BY'],
]);

/** A query that begins with FROM. */
function parseFromQuery(cursor: Cursor): FromQuery {
  const { start } = cursor.expect('FROM');
  const from = parseFrom(cursor);
  const operator = NOT_AFTER_FROM.get(cursor.token.symbol);
  if (operator !== undefined) {
    const { symbol } = cursor.token;
    const message = `Syntax error: ${symbol} is not supported after a FROM query: consider the pipe operator |> ${operator}.`;
    cursor.fault(message, cursor.token);
  }
  return { kind: 'from_query', from, span: cursor.spanFrom(start) };
}

/** `(query) AS t |> ...` is `(query) |> AS t |> ...`. */
function parseAliasBeforePipes(cursor: Cursor): PipeOperator[] {
  if (!cursor.at('AS') || !cursor.atName(1) || cursor.peek(2).symbol !== '|>') return [];
  const { start } = cursor.next();
  return [{ kind: 'pipe_as', alias: cursor.name('an alias'), span: cursor.spanFrom(start) }];
}

/** ( query ) */
export function parseParenthesisedQuery(cursor: Cursor): Query {
  cursor.expect('(');
  const query = parseQuery(cursor);
  cursor.expect(')');
  return query;
}

/** WITH [RECURSIVE] name AS (query), ... */
export function parseWith(cursor: Cursor): WithClause {
  const { start } = cursor.expect('WITH');
  const recursive = cursor.accept('RECURSIVE');
  const entries = cursor.pipeList(parseWithEntry);
  return { recursive, entries, span: cursor.spanFrom(start) };
}

function parseWithEntry(cursor: Cursor): WithEntry {
  const { start } = cursor.token;
  const name = cursor.name('a name for the WITH entry');
  cursor.countCte(name.span);
  cursor.expect('AS');
  return { name, query: parseParenthesisedQuery(cursor), span: cursor.spanFrom(start) };
}

function parseBody(cursor: Cursor): QueryBody {
  const { start } = cursor.token;
  const first = parseOperandQuery(cursor);
  const inputs = [first];
  let kind: SetOperator | null = null;
  for (let next = parseSetOperator(cursor); next !== null; next = parseSetOperator(cursor)) {
    kind ??= next;
    if (kind.operator !== next.operator || kind.distinct !== next.distinct || !sameMatching(kind, next)) {
      cursor.refuse('a mix of set operations without parentheses', next.span);
    }
    inputs.push(parseOperandQuery(cursor));
  }
  if (kind === null) return first;
  return { ...kind, kind: 'set_operation', inputs, span: cursor.spanFrom(start) };
}

function sameMatching({ matching: a }: SetOperator, { matching: b }: SetOperator): boolean {
  const names = (matching: SetOperator['matching']): string | undefined =>
    matching?.columns?.map(({ name }) => name.toLowerCase()).join();
  return (a === null) === (b === null) && a?.mode === b?.mode && names(a) === names(b);
}

/** What a set operation combines. */
function parseOperandQuery(cursor: Cursor): QueryBody {
  if (cursor.at('(')) return parseParenthesisedQuery(cursor);
  return parseSelect(cursor);
}
