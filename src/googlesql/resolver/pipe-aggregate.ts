/** AGGREGATE: its keys, under the names that GROUP BY gives them, and then its aggregates. */
import type { Column, ComputedColumn, Relation, SortKey } from '../resolved';
import { replacing } from '../resolved-walk';
import type { OrderSuffix, PipeAggregate } from '../syntax';
import { checkedSortKey } from './aggregates';
import type { AggregateSink, Context } from './context';
import type { Source } from './from';
import { grouped, regroup, resolvePipeGroupBy } from './grouping';
import { NameList } from './scope';
import { resolveSelectList } from './select-list';
import { invalid } from './session';

/**
 * @param plain the context of the operator's input, `source`
 * @param start id of the first column of the query that the operator is part of
 */
export function resolvePipeAggregate(
  plain: Context,
  { items, orders, groupBy }: PipeAggregate,
  { relation: input, list }: Source,
  start: number,
): Source & { readonly order: readonly SortKey[] } {
  const { session } = plain;
  const from = { start, end: session.mark() };
  const sink: AggregateSink = { calls: [], scope: plain.scope };
  const windows = 'Pipe AGGREGATE cannot include analytic/window functions.';
  const context: Context = { ...plain, aggregates: sink, windows };
  const resolved = items.flatMap((item, i) => {
    const order = orders[i] ?? null;
    return resolveSelectList(context, [item], list).map((one) => ({ ...one, order }));
  });
  for (const { hasAggregate, span } of resolved)
    if (!hasAggregate) throw invalid('Pipe AGGREGATE cannot include non-aggregate expressions.', span);

  const { groups, outputs } = resolvePipeGroupBy({ ...plain, windows }, groupBy);
  const replace = regroup(session, groups.keys, from, 'AGGREGATE list expression');
  const inList = replacing(replace);
  const own = new Set(sink.calls.map(({ column }) => column.id));
  const computed: ComputedColumn[] = [];
  const named = resolved.map(({ name, expr, order }) => {
    const final = inList.expr(expr);
    if (final.kind === 'column' && own.has(final.column.id)) return { name, column: final.column, order };
    const column = session.column(name, final.type);
    computed.push({ column, expr: final });
    return { name, column, order };
  });
  let relation: Relation = grouped(session, input, groups, sink);
  if (computed.length > 0) relation = { kind: 'compute', input: relation, columns: computed };

  const ascending: OrderSuffix | null = groupBy?.ordered === true ? { descending: false, nulls: null } : null;
  const all: readonly { name: string | null; column: Column; order: OrderSuffix | null }[] = [
    ...outputs.map((output) => ({ ...output, order: output.order ?? ascending })),
    ...named,
  ];
  const order = all.flatMap(({ column, order: suffix }) => {
    if (suffix === null) return [];
    return [
      checkedSortKey(session.ref(column, groupBy?.span ?? { start: 0, end: 0 }), suffix.descending, suffix.nulls),
    ];
  });
  return { relation, list: NameList.table(null, all), order };
}
