import type { Expression, LimitClause, Literal, OrderItem } from '../tree';
import type { Cursor } from './cursor';
import { parseExpression } from './expression';

/** ORDER BY with its items. */
export function parseOrderBy(cursor: Cursor): OrderItem[] {
  cursor.expect('ORDER');
  cursor.expect('BY');
  return cursor.list(parseOrderItem);
}

function parseOrderItem(cursor: Cursor): OrderItem {
  const { start } = cursor.token;
  const expression = parseExpression(cursor);
  const collation = cursor.at('COLLATE') ? parseCollation(cursor) : null;
  const descending = cursor.at('DESC');
  if (descending || cursor.at('ASC')) cursor.next();
  return { expression, collation, descending, nulls: parseNullOrder(cursor), span: cursor.spanFrom(start) };
}

/** COLLATE and a name, which BigQuery takes from a parameter, too. */
function parseCollation(cursor: Cursor): Literal | null {
  const { start } = cursor.next();
  const { kind, symbol } = cursor.token;
  if (kind === 'string') {
    const name = cursor.next();
    return { kind: 'literal', type: 'STRING', value: name.value, span: { start: name.start, end: name.end } };
  }
  if (symbol !== '@' && symbol !== '@@') cursor.fail('a collation name');
  parseExpression(cursor);
  cursor.refuse('COLLATE with a parameter', cursor.spanFrom(start));
  return null;
}

/** NULLS FIRST, NULLS LAST; null: neither. */
export function parseNullOrder(cursor: Cursor): OrderItem['nulls'] {
  if (!cursor.accept('NULLS')) return null;
  const first = cursor.at('FIRST');
  if (!first && !cursor.at('LAST')) cursor.fail('FIRST or LAST');
  cursor.next();
  return first ? 'first' : 'last';
}

/** LIMIT count [OFFSET skip] */
export function parseLimit(cursor: Cursor): LimitClause {
  const { start } = cursor.expect('LIMIT');
  const count = parseBound(cursor);
  const offset = cursor.accept('OFFSET') ? parseBound(cursor) : null;
  return { count, offset, span: cursor.spanFrom(start) };
}

/** Only a number or a parameter counts rows; anything else is read for what it names and refused. */
function parseBound(cursor: Cursor): Expression {
  const bound = parseExpression(cursor);
  const counted = bound.kind === 'cast' && !bound.safe ? bound.expression : bound;
  const constant = counted.kind === 'parameter' || (counted.kind === 'literal' && counted.type === 'INT64');
  if (!constant) cursor.refuse('LIMIT with anything but a number or a parameter', bound.span);
  return bound;
}
