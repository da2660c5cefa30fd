import type { Expression, LimitClause, OrderItem } from '../syntax';
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
  if (cursor.at('COLLATE')) {
    const collate = cursor.next();
    parseExpression(cursor);
    cursor.refuse('COLLATE', cursor.spanFrom(collate.start));
  }
  const descending = cursor.at('DESC');
  if (descending || cursor.at('ASC')) cursor.next();
  return { expression, descending, nulls: parseNullOrder(cursor), span: cursor.spanFrom(start) };
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
