/** GROUP BY, SELECT DISTINCT and aggregates without GROUP BY. */
import type {
  AggregateCall,
  Expr,
  ResolvedBound,
  ResolvedFrame,
  SortKey,
  WindowCall,
  Aggregate,
  Column,
  ColumnRef,
  ComputedColumn,
} from '../resolved';
import { functionOf } from '../functions/catalogue';
import { exprSql, maskedSql } from './expressions';
import { aggregateFailsItself, canFail } from '../totality';
import { unguarded, type Rows, type PrintSession } from './session';
import { columnRef } from '../resolved-nodes';
import { relationExpressions } from '../resolved-walk';
import { nested, rowsOf, type Block, type Item } from './block';
import { inputBlock, isBeforeSelect } from './relations';

/**
 * The call over the rows of a group. Where the call itself may fail, rows that the guard leaves out give it NULL, though
 * no such row is ever in a group.
 */
function aggregateSql(session: PrintSession, call: AggregateCall, rows: Rows): string {
  const head = call.distinct ? 'DISTINCT ' : '';
  const nulls = call.nulls === null ? '' : ` ${call.nulls.toUpperCase()} NULLS`;
  const having =
    call.having === null ? '' : ` HAVING ${call.having.kind.toUpperCase()} ${exprSql(session, call.having.expr, rows)}`;
  if (call.function === '$count_star') return `COUNT(*${having})`;
  const keys = call.orderBy.map((key) => valueSql(session, call, key.expr, rows) + directionSql(key));
  const order = keys.length === 0 ? '' : ` ORDER BY ${keys.join(', ')}`;
  const limit = call.limit === null ? '' : ` LIMIT ${constantSql(session, call.limit, rows)}`;
  const args = argumentsSql(session, call, rows).join(', ');
  session.count(call.function.length);
  return `${call.safe ? 'SAFE.' : ''}${call.function}(${head}${args}${nulls}${having}${order}${limit})`;
}

function argumentsSql(session: PrintSession, call: AggregateCall, rows: Rows): string[] {
  const constant = functionOf(call).constant?.at;
  return call.args.map((arg, i) =>
    constant === i ? constantSql(session, arg, rows) : valueSql(session, call, arg, rows),
  );
}

/** An argument, or what it is sorted by: alike for both, as DISTINCT sorts by nothing but its argument. */
function valueSql(session: PrintSession, call: AggregateCall, expr: Expr, rows: Rows): string {
  if (!aggregateFailsItself(call) || canFail(expr)) return exprSql(session, expr, rows);
  return maskedSql(session, exprSql(session, expr, unguarded(rows)), rows);
}

/** What GoogleSQL takes as a literal or parameter only: the same for all rows, so there is nothing to guard. */
export function constantSql(session: PrintSession, expr: Expr, rows: Rows): string {
  const constant = expr.kind === 'cast' && expr.input.kind === 'parameter' ? expr.input : expr;
  return exprSql(session, constant, unguarded(rows));
}

function sortKeysSql(session: PrintSession, keys: readonly SortKey[], rows: Rows): string {
  return keys.map((key) => exprSql(session, key.expr, rows) + directionSql(key)).join(', ');
}

/** GoogleSQL puts NULLs first ascending and last descending: what says the same is left out. */
export function directionSql({ descending, nullsFirst }: SortKey): string {
  const nulls = nullsFirst === !descending ? '' : nullsFirst ? ' NULLS FIRST' : ' NULLS LAST';
  return (descending ? ' DESC' : '') + nulls;
}

export function windowSql(session: PrintSession, { call, ...window }: WindowCall, rows: Rows): string {
  const { partitionBy, orderBy, frame } = window;
  const parts: string[] = [];
  if (partitionBy.length > 0)
    parts.push(`PARTITION BY ${partitionBy.map((expr) => exprSql(session, expr, rows)).join(', ')}`);
  if (orderBy.length > 0) parts.push(`ORDER BY ${sortKeysSql(session, orderBy, rows)}`);
  if (frame !== null) parts.push(frameSql(session, frame, rows));
  return `${aggregateSql(session, call, rows)} OVER (${parts.join(' ')})`;
}

function frameSql(session: PrintSession, { unit, from, to }: ResolvedFrame, rows: Rows): string {
  const bound = ({ kind, offset }: ResolvedBound): string =>
    (offset === null ? '' : `${constantSql(session, offset, rows)} `) + kind.replace('_', ' ').toUpperCase();
  return `${unit.toUpperCase()} BETWEEN ${bound(from)} AND ${bound(to)}`;
}

const NOTHING: ReadonlySet<number> = new Set();

/** A group's guard: that one of its rows may be seen. Every group of the query has such rows alone. */
export function aggregateBlock(
  session: PrintSession,
  relation: Aggregate,
  needed: ReadonlySet<number>,
  outer: Rows | null,
): Block {
  const aggregate = relation.groupingSets === null ? relation : withNamedKeys(relation);
  const fits = (candidate: Block): boolean => candidate.from !== null && isBeforeSelect(candidate);
  const block = inputBlock(session, aggregate.input, relationExpressions(aggregate), NOTHING, outer, fits);
  const rows = rowsOf(block, outer);
  const columns = new Map<number, Item>();
  for (const { column, expr } of aggregate.keys)
    columns.set(column.id, { sql: exprSql(session, expr, rows), simple: false });
  for (const { column, call } of aggregate.aggregates) {
    if (!needed.has(column.id)) continue;
    const [key] = call.function === 'GROUPING' ? call.args : [];
    const sql =
      key?.kind === 'column' ? `GROUPING(${columns.get(key.column.id)?.sql ?? ''})` : aggregateSql(session, call, rows);
    columns.set(column.id, { sql, simple: false });
  }
  const selected = new Set([...needed, ...aggregate.keys.map(({ column }) => column.id)]);
  const [first] = aggregate.aggregates;
  if (columns.size === 0 && first !== undefined) {
    // One row it is only by an aggregate, whether or not anything reads it.
    columns.set(first.column.id, { sql: 'COUNT(*)', simple: false });
    selected.add(first.column.id);
  }
  const guards = rows.guard === null ? [] : [`LOGICAL_OR(${rows.guard})`];
  const grouped: Block = { ...block, columns, guards, groupBy: groupBySql(session, aggregate, columns) };
  // Keys are named in GROUP BY by their aliases, so all of them are selected.
  return nested(session, grouped, selected);
}

function groupBySql(session: PrintSession, aggregate: Aggregate, columns: ReadonlyMap<number, Item>): string {
  const { keys, groupingSets } = aggregate;
  if (groupingSets === null) return keys.map(({ column }) => session.names.column(column.id)).join(', ');
  const key = (at: number): string => session.printed(columns.get(keys[at]?.column.id ?? 0)?.sql ?? '');
  return `GROUPING SETS (${groupingSets.map((set) => `(${set.map(key).join(', ')})`).join(', ')})`;
}

/** Above the ids of all columns of a query. */
const COMPUTED = 1_000_000;

/** Keys computed beforehand: what GROUPING SETS and GROUPING name has to be a column. */
function withNamedKeys(aggregate: Aggregate): Aggregate {
  const computed: ComputedColumn[] = [];
  const keys = aggregate.keys.map(({ column, expr }): ComputedColumn => {
    if (expr.kind === 'column') return { column, expr };
    const named: Column = { ...column, id: COMPUTED + column.id };
    computed.push({ column: named, expr });
    const ref: ColumnRef = columnRef(named, expr.span);
    return { column, expr: ref };
  });
  if (computed.length === 0) return aggregate;
  return { ...aggregate, keys, input: { kind: 'compute', input: aggregate.input, columns: computed } };
}
