/** GROUP BY, aggregate functions and window functions. */
import {
  type AggregateCall,
  type Relation,
  type ResolvedBound,
  type SortKey,
  type WindowCall,
  functionOf,
} from '@logquay/googlesql';
import { duckType, fail } from '../../sql';
import type { Bind } from '../expressions/call';
import { sumOfFloatList } from './sums';
import { aggregateRow, printAggregateCall } from './aggregate-functions';
import { Extremes } from './having-extremes';
import { columnName, type Context } from '../context';
import { printExpr, printSortKeys } from '../expressions/expressions';
import type { Wanted } from '../relations/relations';
import { selectList } from '../select-list';

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

type AggregateRelation = Extract<Relation, { kind: 'aggregate' }>;

/** `from` is the text of the FROM clause, with everything that keys and wanted aggregates read. */
export function printAggregate(ctx: Context, relation: AggregateRelation, wanted: Wanted, from: string): string {
  const { keys, groupingSets } = relation;
  const aggregates = relation.aggregates.filter((a) => wanted.has(a.column.id));
  if (groupingSets !== null) return printGroupingSets(ctx, relation, wanted, from);
  // Keys that nobody reads still make the groups.
  const names = keys.map((k) => printExpr(ctx, k.expr));
  const extremes = new Extremes(ctx, [names]);
  const list = [
    ...keys.map((k, i) => `${names[i]!} AS ${columnName(k.column.id)}`),
    ...printCalls(ctx, aggregates, extremes),
  ];
  // A SELECT without an aggregate would not be one group.
  if (keys.length === 0 && aggregates.length === 0) list.push('count(*) AS "none"');
  const by = keys.length === 0 ? '' : ` GROUP BY ${keys.map((_, i) => i + 1).join(', ')}`;
  return `${selectList(list)}${extremes.over(from)}${by}`;
}

function printCalls(ctx: Context, aggregates: AggregateRelation['aggregates'], extremes: Extremes): string[] {
  return aggregates.map(({ column, call }) => {
    const text = extremes.print(call, (filter) => printAggregateCall(ctx, call, { filter }));
    return `${text} AS ${columnName(column.id)}`;
  });
}

/** ROLLUP, CUBE and GROUPING SETS: keys are made columns first, since sets name them more than once. */
function printGroupingSets(ctx: Context, relation: AggregateRelation, wanted: Wanted, from: string): string {
  const { keys, groupingSets } = relation;
  const aggregates = relation.aggregates.filter((a) => wanted.has(a.column.id));
  const names = keys.map((k) => columnName(k.column.id));
  const inner = `SELECT *, ${keys.map((k, i) => `${printExpr(ctx, k.expr)} AS ${names[i]!}`).join(', ')}${from}`;
  const groupings = (groupingSets ?? []).map((set) => set.map((i) => names[i]!));
  const extremes = new Extremes(ctx, groupings);
  const list = [...names, ...printCalls(ctx, aggregates, extremes)];
  const sets = groupings.map((set) => `(${set.join(', ')})`);
  return `${selectList(list)}${extremes.over(` FROM (${inner})`)} GROUP BY GROUPING SETS (${sets.join(', ')})`;
}

export function printWindow(ctx: Context, window: WindowCall): string {
  return printAggregateCall(ctx, window.call, { over: printOver(ctx, window) });
}

/** The OVER clause without the word. */
function printOver(ctx: Context, { partitionBy, orderBy, frame }: WindowCall): string {
  const parts: string[] = [];
  if (partitionBy.length > 0) parts.push(`PARTITION BY ${partitionBy.map((p) => printExpr(ctx, p)).join(', ')}`);
  const keys = isNumericRange(frame) ? [rangeKey(ctx, orderBy)] : printSortKeys(ctx, orderBy);
  if (keys.length > 0) parts.push(`ORDER BY ${keys.join(', ')}`);
  if (frame !== null) {
    const bound = (side: ResolvedBound): string => printBound(ctx, side, isNumericRange(frame));
    parts.push(`${frame.unit.toUpperCase()} BETWEEN ${bound(frame.from)} AND ${bound(frame.to)}`);
  }
  return `(${parts.join(' ')})`;
}

const TEXTS: ReadonlySet<string> = new Set(['STRING', 'BYTES']);

/** Whether what a window function keeps of the rows of its frames grows with them. */
export function gathersRows({ call, orderBy, frame }: WindowCall): boolean {
  if (functionOf(call).mode === 'analytic' || (orderBy.length === 0 && frame === null)) return false;
  return call.distinct || !aggregateRow(call).isFixed || TEXTS.has(call.type.kind);
}

type Frame = NonNullable<WindowCall['frame']>;

/** A RANGE frame that counts from the key of the current row. */
function isNumericRange(frame: WindowCall['frame']): frame is Frame {
  return frame?.unit === 'range' && (frame.from.offset !== null || frame.to.offset !== null);
}

/**
 * The one key of a RANGE frame with an offset, a literal too. NaN stands at the other end in DuckDB than in GoogleSQL: a FLOAT64 is
 * negated and its order turned round, which keeps all distances.
 */
function rangeKey(ctx: Context, [key]: readonly SortKey[]): string {
  if (key === undefined) throw new Error('a RANGE frame without a key');
  const { kind } = key.expr.type;
  if (kind === 'BIGNUMERIC')
    return ctx.unsupported('RANGE frame with an offset over BIGNUMERIC', key.expr.span, 'ORDER BY it AS NUMERIC');
  const text = printExpr(ctx, key.expr);
  // The ends of an INT64's frame may lie beyond it.
  const wide = kind === 'INT64' ? `CAST(${text} AS HUGEINT)` : kind === 'FLOAT64' ? `(-${text})` : text;
  const value = key.expr.kind === 'literal' || key.expr.kind === 'parameter' ? `CASE WHEN true THEN ${wide} END` : wide;
  const descends = key.descending !== (kind === 'FLOAT64');
  return `${value} ${descends ? 'DESC' : 'ASC'} ${key.nullsFirst ? 'NULLS FIRST' : 'NULLS LAST'}`;
}

/** @param wide in a frame by value */
function printBound(ctx: Context, { kind, offset }: ResolvedBound, wide: boolean): string {
  switch (kind) {
    case 'unbounded_preceding':
      return 'UNBOUNDED PRECEDING';
    case 'unbounded_following':
      return 'UNBOUNDED FOLLOWING';
    case 'current_row':
      return 'CURRENT ROW';
    case 'preceding':
    case 'following':
      if (offset === null) throw new Error('a frame bound without an offset');
      return wide && offset.type.kind === 'INT64'
        ? `CAST(${printExpr(ctx, offset)} AS HUGEINT) ${kind.toUpperCase()}`
        : `${printExpr(ctx, offset)} ${kind.toUpperCase()}`;
  }
}
