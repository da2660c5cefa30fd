/**
 * Which tables of a wildcard a query can have rows of: those whose suffixes pass what it says of `_TABLE_SUFFIX` alone. DuckDB finds that
 * out by itself for comparisons, and reads all tables where a suffix is compared with a formatted date.
 */
import {
  type Column,
  type Expr,
  type Relation,
  type ResolvedQuery,
  type TableScan,
  columnsRead,
  functionOf,
  NO_SPAN,
  operandsOf,
  visitQuery,
} from '@logquay/googlesql';
import { TABLE_SUFFIX, type TableSchema } from '@logquay/googlesql/types';
import { conjuncts } from './relations/subquery-lists';

/**
 * Queries that give the suffixes which pass, one for each scan of the wildcard; none: all do, as far as is known.
 *
 * @param suffixesOf those of a wildcard; none: it is none
 */
export function suffixFilters(
  query: ResolvedQuery,
  suffixesOf: (table: TableSchema) => readonly string[],
): ReadonlyMap<string, readonly ResolvedQuery[]> {
  const conditions = new Map<TableScan, Expr[]>();
  const filters: Extract<Relation, { kind: 'filter' }>[] = [];
  visitQuery(query, {
    relation: (relation) => {
      if (relation.kind === 'table' && suffixesOf(relation.table).length > 0) conditions.set(relation, []);
      if (relation.kind === 'filter') filters.push(relation);
    },
  });
  if (conditions.size === 0) return new Map();
  for (const { input, condition } of filters) {
    for (const scan of scansIn(input)) {
      const column = suffixColumn(scan);
      const own = column === undefined ? [] : conjuncts(condition).filter((expr) => isOf(column, expr));
      conditions.get(scan)?.push(...own);
    }
  }
  const found = new Map<string, ResolvedQuery[]>();
  const all = new Set<string>();
  for (const [scan, exprs] of conditions) {
    const { table } = scan;
    if (exprs.length === 0) all.add(table.name);
    else
      found.set(table.name, [...(found.get(table.name) ?? []), passing(suffixColumn(scan)!, suffixesOf(table), exprs)]);
  }
  for (const name of all) found.delete(name);
  return found;
}

const suffixColumn = ({ columns }: TableScan): Column | undefined =>
  columns.find(({ source }) => source === TABLE_SUFFIX.name)?.column;

/** The tables each of whose rows is left out where a condition over the relation is not true of it. */
function scansIn(relation: Relation): readonly TableScan[] {
  switch (relation.kind) {
    case 'table':
      return [relation];
    case 'filter':
    case 'compute':
      return scansIn(relation.input);
    case 'unnest':
      return relation.input === null ? [] : scansIn(relation.input);
    case 'join':
      if (relation.type === 'left') return scansIn(relation.left);
      return relation.type === 'inner' ? [...scansIn(relation.left), ...scansIn(relation.right)] : [];
    default:
      return [];
  }
}

/** Whether an expression is made of the column, parameters and literals, and is the same whenever it is computed. */
function isOf({ id }: Column, expr: Expr): boolean {
  const read = columnsRead([expr]);
  return read.size === 1 && read.has(id) && isFixed(expr);
}

function isFixed(expr: Expr): boolean {
  if (expr.kind === 'subquery' || (expr.kind === 'call' && functionOf(expr).value === 'random')) return false;
  return operandsOf(expr).every(isFixed);
}

function passing(column: Column, suffixes: readonly string[], conditions: readonly Expr[]): ResolvedQuery {
  const { type } = TABLE_SUFFIX;
  const elements = suffixes.map((value): Expr => ({ kind: 'literal', type, value, span: NO_SPAN }));
  const array: Expr = { kind: 'make_array', elements, type: { kind: 'ARRAY', element: type }, span: NO_SPAN };
  const rows: Relation = { kind: 'unnest', input: null, array, element: column, offset: null, outer: false, on: null };
  const relation = conditions.reduce<Relation>((input, condition) => ({ kind: 'filter', input, condition }), rows);
  return { ctes: [], relation, output: [{ name: 'suffix', column }], valueTable: false, ordered: false };
}
