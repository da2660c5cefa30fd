/**
 * The first rows by time, found by their times alone: `WHERE timestamp IN (SELECT timestamp ... ORDER BY timestamp DESC LIMIT n)`.
 * DuckDB then skips whatever lies outside of these times, in all parts, before it reads a wide column. Without it, it reads the
 * columns of every row that it sorts (docs/decisions/resolved-tree.md).
 */
import {
  functionOf,
  type Expr,
  type Relation,
  type ResolvedQuery,
  type SortKey,
  type TableScan,
  operandsOf,
  canFail,
} from '@logquay/googlesql';

/** A table whose rows are filtered one by one. */
export interface FilteredTable {
  readonly scan: TableScan;
  /** Whether looking at every row twice costs next to nothing. */
  readonly areCheap: boolean;
}

/** null: the relation is more than a table with filters that cannot fail */
export function filteredTable(relation: Relation): FilteredTable | null {
  let areCheap = true;
  let next = relation;
  for (; next.kind !== 'table'; next = next.input) {
    if (next.kind !== 'filter' && next.kind !== 'compute') return null;
    const exprs = next.kind === 'filter' ? [next.condition] : next.columns.map(({ expr }) => expr);
    if (exprs.some((expr) => canFail(expr) || readsQuery(expr))) return null;
    if (next.kind === 'filter') areCheap &&= isCheap(next.condition);
  }
  return { scan: next, areCheap };
}

/**
 * A relation without rows that `ORDER BY key LIMIT most` over it cannot give.
 *
 * @param key first of the order: a column that is never NULL
 */
export function amongFirst(
  relation: Relation,
  key: SortKey & { readonly expr: Expr & { kind: 'column' } },
  most: Expr,
): Relation {
  const { column, span } = key.expr;
  const sort: Relation = { kind: 'sort', input: relation, keys: [key] };
  const first: Relation = { kind: 'limit', input: sort, count: most, offset: null };
  const output = [{ name: column.name, column }];
  const query: ResolvedQuery = { ctes: [], relation: first, output, valueTable: false, ordered: true };
  const condition: Expr = { kind: 'subquery', mode: 'in', operand: key.expr, query, type: { kind: 'BOOL' }, span };
  return { kind: 'filter', input: relation, condition };
}

/** Whether it is a condition that costs next to nothing, if it is evaluated twice. */
function isCheap(expr: Expr): boolean {
  if (expr.kind === 'call' && !['condition', 'conditional'].includes(functionOf(expr).category)) return false;
  return operandsOf(expr).every(isCheap);
}

function readsQuery(expr: Expr): boolean {
  return expr.kind === 'subquery' || operandsOf(expr).some(readsQuery);
}
