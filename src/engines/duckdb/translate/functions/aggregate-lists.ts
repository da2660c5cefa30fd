/** Aggregates over a list instead of over rows. */
import type { AggregateCall } from '../../../../googlesql/resolved';
import { duckType, fail } from '../../sql';
import type { Bind } from '../expressions/call';
import { sumOfFloatList } from './sums';

/**
 * `call` over the elements of `list`, or null where only rows will do. `rest` are the printed further arguments.
 */
export function aggregateOfList(call: AggregateCall, list: string, rest: readonly string[], bind: Bind): string | null {
  if (call.orderBy.length > 0 || call.limit !== null || call.having !== null || call.safe) return null;
  const type = duckType(call.type);
  const float = call.args[0]?.type.kind === 'FLOAT64';
  const nested = ['STRUCT', 'ARRAY'].includes(call.args[0]?.type.kind ?? '');
  if (call.distinct) {
    if (call.function !== 'COUNT' || nested) return null;
    return `CAST(coalesce(list_unique(${list}), 0) AS BIGINT)`;
  }
  switch (call.function) {
    case '$count_star':
      return `CAST(coalesce(len(${list}), 0) AS BIGINT)`;
    case 'COUNT':
      return `CAST(coalesce(list_count(${list}), 0) AS BIGINT)`;
    case 'COUNTIF':
      return `CAST(coalesce(len(list_filter(${list}, lambda b: b)), 0) AS BIGINT)`;
    case 'SUM':
      if (float) return sumOfFloatList(bind, list, fail('overflow', call.span));
      return call.type.kind === 'INT64' ? `CAST(list_sum(${list}) AS ${type})` : null;
    case 'AVG':
      return call.args[0]?.type.kind === 'INT64' ? `list_avg(${list})` : null;
    case 'MIN':
      return float ? null : `list_min(${list})`;
    case 'MAX':
      return `list_max(${list})`;
    case 'LOGICAL_OR':
      return `list_bool_or(${list})`;
    case 'LOGICAL_AND':
      return `list_bool_and(${list})`;
    case 'STRING_AGG':
      if (call.args[0]?.type.kind !== 'STRING') return null;
      return bind([list], (l) => `CASE WHEN list_count(${l}) > 0 THEN array_to_string(${l}, ${rest[0] ?? "','"}) END`);
    case 'ARRAY_AGG':
      return call.nulls === 'ignore' ? null : bind([list], (l) => `CASE WHEN len(${l}) > 0 THEN ${l} END`);
    default:
      return null;
  }
}
