/** GROUP BY, SELECT DISTINCT and aggregates without GROUP BY. */
import type { Aggregate, Column, ColumnRef, ComputedColumn } from '../resolved';
import { columnRef } from '../resolved-nodes';
import { relationExpressions } from '../resolved-walk';
import { aggregateSql } from './aggregates';
import { nested, rowsOf, type Block, type Item } from './block';
import { exprSql } from './expressions';
import { inputBlock, isBeforeSelect } from './relations';
import type { PrintSession, Rows } from './session';

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
