import type { OrderSuffix, PipeAggregate, PipeGroupBy, PipeGroupingItem } from '../syntax';
import type { Cursor } from './cursor';
import { parseGroupingItem } from './group-by';
import { parseNullOrder } from './ordering';
import { atListEnd, parseSelectItem } from './select';

/** AGGREGATE COUNT(*) AS n DESC, ... [GROUP [AND ORDER] BY x AS y, ROLLUP(a, b), ...] */
export function parsePipeAggregate(cursor: Cursor): PipeAggregate {
  const { start } = cursor.next();
  const items: PipeAggregate['items'][number][] = [];
  while (!cursor.at('GROUP') && !cursor.atPipeEnd()) {
    items.push({ item: parseSelectItem(cursor), order: parseOrderSuffix(cursor) });
    if (!cursor.accept(',')) break;
  }
  const groupBy = cursor.at('GROUP') ? parseGroupBy(cursor) : null;
  if (items.length === 0 && (groupBy === null || groupBy.items.every(isEmpty))) {
    cursor.fault('Pipe AGGREGATE cannot have both an empty aggregate list and an empty GROUP BY.', {
      start,
      end: cursor.end,
    });
  }
  return { kind: 'pipe_aggregate', items, groupBy, span: cursor.spanFrom(start) };
}

function isEmpty({ item }: PipeGroupingItem): boolean {
  return item.kind === 'list' && item.expressions.length === 0;
}

function parseGroupBy(cursor: Cursor): PipeGroupBy {
  const { start } = cursor.expect('GROUP');
  const ordered = cursor.accept('AND');
  if (ordered) cursor.expect('ORDER');
  cursor.expect('BY');
  const items: PipeGroupingItem[] = [];
  do items.push(parseItem(cursor));
  while (cursor.accept(',') && !atListEnd(cursor));
  return { ordered, items, span: cursor.spanFrom(start) };
}

function parseItem(cursor: Cursor): PipeGroupingItem {
  const { start } = cursor.token;
  const item = parseGroupingItem(cursor);
  if (item.kind !== 'expression') return { item, alias: null, order: null, span: cursor.spanFrom(start) };
  const alias = cursor.accept('AS') || cursor.atName() ? cursor.name('an alias') : null;
  return { item, alias, order: parseOrderSuffix(cursor), span: cursor.spanFrom(start) };
}

/** ASC, DESC, with or without NULLS FIRST, NULLS LAST. */
function parseOrderSuffix(cursor: Cursor): OrderSuffix | null {
  const descending = cursor.at('DESC');
  const written = descending || cursor.at('ASC');
  if (written) cursor.next();
  const nulls = parseNullOrder(cursor);
  return written || nulls !== null ? { descending, nulls } : null;
}
