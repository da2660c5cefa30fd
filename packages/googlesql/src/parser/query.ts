import type {
  ColumnMatching,
  SetOperation,
  FromQuery,
  PipeOperator,
  Query,
  QueryBody,
  WithClause,
  WithEntry,
} from '../tree';
import type { Cursor } from './cursor';
import { parseFrom } from './from';
import { parsePipes } from './pipes';
import { parseLimit, parseOrderBy } from './ordering';
import { parseSelect } from './select';

export type SetOperator = Pick<SetOperation, 'operator' | 'distinct' | 'matching' | 'span'>;

const OPERATORS: ReadonlyMap<string, SetOperation['operator']> = new Map([
  ['UNION', 'union'],
  ['INTERSECT', 'intersect'],
  ['EXCEPT', 'except'],
]);

const MODES: ReadonlyMap<string, 'inner' | 'left' | 'full'> = new Map([
  ['INNER', 'inner'],
  ['LEFT', 'left'],
  ['FULL', 'full'],
  ['OUTER', 'full'],
]);

/** UNION ALL and its kin, or null where the token begins none. */
export function parseSetOperator(cursor: Cursor): SetOperator | null {
  const { start, symbol } = cursor.token;
  const mode = MODES.get(symbol) ?? null;
  if (mode !== null) {
    const words = symbol !== 'OUTER' && symbol !== 'INNER' && cursor.peek(1).symbol === 'OUTER' ? 2 : 1;
    if (!OPERATORS.has(cursor.peek(words).symbol)) return null;
    for (let i = 0; i < words; i++) cursor.next();
  }
  const operator = OPERATORS.get(cursor.token.symbol);
  if (operator === undefined) return null;
  const { symbol: word } = cursor.next();
  const distinct = cursor.at('DISTINCT');
  if (!distinct && !cursor.at('ALL')) cursor.fail('ALL or DISTINCT');
  cursor.next();
  const matching = parseMatching(cursor, mode);
  const span = cursor.spanFrom(start);
  if (mode !== null && matching === null) {
    cursor.refuse(`${symbol} before ${word} without BY NAME or CORRESPONDING`, span);
  }
  if (!distinct && operator !== 'union') cursor.refuse(`${word} ALL`, span);
  return { operator, distinct, matching, span };
}

/** [STRICT] CORRESPONDING [BY (a, b)], BY NAME [ON (a, b)] */
function parseMatching(cursor: Cursor, mode: ColumnMatching['mode']): ColumnMatching | null {
  const { start } = cursor.token;
  const strict = cursor.at('STRICT');
  if (strict) {
    if (mode !== null) cursor.fault('Syntax error: STRICT cannot be used with a mode in set operations.', cursor.token);
    cursor.next();
  }
  if (cursor.accept('CORRESPONDING')) {
    const columns = cursor.accept('BY') ? parseColumns(cursor) : null;
    return { mode: mode ?? (strict ? null : 'inner'), columns, span: cursor.spanFrom(start) };
  }
  if (strict) cursor.fail('CORRESPONDING');
  if (!cursor.accept('BY')) return null;
  cursor.expect('NAME');
  const columns = cursor.accept('ON') ? parseColumns(cursor) : null;
  return { mode, columns, span: cursor.spanFrom(start) };
}

function parseColumns(cursor: Cursor): ColumnMatching['columns'] {
  return cursor.parenthesised((at) => at.name('a column name'));
}

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
