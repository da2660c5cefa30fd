import type { Query, QueryBody, SetOperation, WithClause, WithEntry } from '../syntax';
import type { Cursor } from './cursor';
import { parseFromQuery, parsePipes } from './pipes';
import { parseLimit, parseOrderBy } from './ordering';
import { parseSelect } from './select';

/** [WITH ...] body [ORDER BY ...] [LIMIT ...] */
export function parseQuery(cursor: Cursor): Query {
  const { start } = cursor.token;
  const clause = cursor.at('WITH') ? parseWith(cursor) : null;
  const body = cursor.at('FROM') ? parseFromQuery(cursor) : parseBody(cursor);
  const orderBy = cursor.at('ORDER') ? parseOrderBy(cursor) : [];
  const limit = cursor.at('LIMIT') ? parseLimit(cursor) : null;
  const query: Query = { kind: 'query', with: clause, body, orderBy, limit, span: cursor.spanFrom(start) };
  return cursor.at('|>') ? parsePipes(cursor, query) : query;
}

/** ( query ) */
export function parseParenthesisedQuery(cursor: Cursor): Query {
  cursor.expect('(');
  const query = parseQuery(cursor);
  cursor.expect(')');
  return query;
}

/** WITH [RECURSIVE] name AS (query), ... */
function parseWith(cursor: Cursor): WithClause {
  const { start } = cursor.expect('WITH');
  const recursive = cursor.accept('RECURSIVE');
  const entries = cursor.list(parseWithEntry);
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
    if (kind.operator !== next.operator || kind.distinct !== next.distinct) {
      cursor.refuse('a mix of set operations without parentheses', next.span);
    }
    inputs.push(parseOperandQuery(cursor));
  }
  if (kind === null) return first;
  const { operator, distinct } = kind;
  return { kind: 'set_operation', operator, distinct, inputs, span: cursor.spanFrom(start) };
}

/** What a set operation combines. */
export function parseOperandQuery(cursor: Cursor): QueryBody {
  if (cursor.at('(')) return parseParenthesisedQuery(cursor);
  return parseSelect(cursor);
}

type SetOperator = Pick<SetOperation, 'operator' | 'distinct' | 'span'>;

const OPERATORS: ReadonlyMap<string, SetOperation['operator']> = new Map([
  ['UNION', 'union'],
  ['INTERSECT', 'intersect'],
  ['EXCEPT', 'except'],
]);

/** UNION ALL and its kin, or null where the token begins none. */
export function parseSetOperator(cursor: Cursor): SetOperator | null {
  const { start, symbol } = cursor.token;
  if (symbol === 'LEFT' || symbol === 'FULL' || symbol === 'INNER') {
    const ahead = cursor.peek(1).symbol === 'OUTER' ? 2 : 1;
    if (!OPERATORS.has(cursor.peek(ahead).symbol)) return null;
    for (let i = 0; i < ahead; i++) cursor.next();
    cursor.refuse(`${symbol} in a set operation`, cursor.spanFrom(start));
  }
  const operator = OPERATORS.get(cursor.token.symbol);
  if (operator === undefined) return null;
  const { symbol: word } = cursor.next();
  const distinct = cursor.at('DISTINCT');
  if (!distinct && !cursor.at('ALL')) cursor.fail('ALL or DISTINCT');
  cursor.next();
  const span = cursor.spanFrom(start);
  if (!distinct && operator !== 'union') cursor.refuse(`${word} ALL`, span);
  parseColumnMatching(cursor);
  return { operator, distinct, span };
}

/** [STRICT] CORRESPONDING [BY (a, b)], BY NAME [ON (a, b)] */
function parseColumnMatching(cursor: Cursor): void {
  const { start } = cursor.token;
  if (cursor.at('STRICT')) cursor.next();
  if (cursor.accept('CORRESPONDING')) {
    if (cursor.accept('BY')) cursor.parenthesised((at) => at.name('a column name'));
  } else if (cursor.accept('BY')) {
    cursor.expect('NAME');
    if (cursor.accept('ON')) cursor.parenthesised((at) => at.name('a column name'));
  }
  if (cursor.end > start) cursor.refuse('BY NAME and CORRESPONDING', cursor.spanFrom(start));
}
