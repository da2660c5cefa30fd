import type { GroupingItem, OrderSuffix, PipeAggregate, PipeGroupBy, SelectItem } from '../syntax';
import type { Cursor } from './cursor';
import { parseGroupingItem } from './group-by';
import { parseNullOrder } from './ordering';
import { refuseBareStar } from './pipes';
import { atListEnd, parseSelectItem } from './select';

/** AGGREGATE COUNT(*) AS n DESC, ... [GROUP [AND ORDER] BY x AS y, ROLLUP(a, b), ...] */
export function parsePipeAggregate(cursor: Cursor): PipeAggregate {
  const { start } = cursor.next();
  const items: SelectItem[] = [];
  const orders: (OrderSuffix | null)[] = [];
  while (!cursor.at('GROUP') && !cursor.atPipeEnd()) {
    items.push(parseSelectItem(cursor));
    orders.push(parseOrderSuffix(cursor));
    if (!cursor.accept(',')) break;
  }
  refuseBareStar(cursor, items, 'AGGREGATE');
  const groupBy = cursor.at('GROUP') ? parseGroupBy(cursor) : null;
  const span = cursor.spanFrom(start);
  if (items.length === 0 && (groupBy === null || groupBy.items.every(isEmpty))) {
    cursor.fault('Pipe AGGREGATE cannot have both an empty aggregate list and an empty GROUP BY.', span);
  }
  return { kind: 'pipe_aggregate', items, orders, groupBy, span };
}

function isEmpty(item: GroupingItem): boolean {
  return item.kind === 'list' && item.expressions.length === 0;
}

function parseGroupBy(cursor: Cursor): PipeGroupBy {
  const { start } = cursor.expect('GROUP');
  const ordered = cursor.accept('AND');
  if (ordered) cursor.expect('ORDER');
  cursor.expect('BY');
  const items: GroupingItem[] = [];
  const suffixes: PipeGroupBy['suffixes'][number][] = [];
  do {
    const item = parseGroupingItem(cursor);
    items.push(item);
    suffixes.push(item.kind === 'expression' ? parseSuffix(cursor) : { alias: null, order: null });
  } while (cursor.accept(',') && !atListEnd(cursor));
  return { ordered, items, suffixes, span: cursor.spanFrom(start) };
}

function parseSuffix(cursor: Cursor): PipeGroupBy['suffixes'][number] {
  const alias = cursor.accept('AS') || cursor.atName() ? cursor.name('an alias') : null;
  return { alias, order: parseOrderSuffix(cursor) };
}

/** ASC, DESC, with or without NULLS FIRST, NULLS LAST. */
function parseOrderSuffix(cursor: Cursor): OrderSuffix | null {
  const descending = cursor.at('DESC');
  const written = descending || cursor.at('ASC');
  if (written) cursor.next();
  const nulls = parseNullOrder(cursor);
  return written || nulls !== null ? { descending, nulls } : null;
}
