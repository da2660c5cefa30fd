/**
 * Relations: each prints as one SELECT that shows exactly the columns wanted of it, under names `c<id>`. DuckDB folds the
 * nesting away; leaving unwanted columns out here keeps wide records from travelling through UNNEST, sorts and joins.
 */
import {
  columnsRead,
  relationExpressions,
  visibleColumns,
  type ComputedColumn,
  type CteScan,
  type Expr,
  type JoinRelation,
  type Limit,
  type Relation,
  type ResolvedQuery,
  type SetRelation,
  queryOf,
  columnRef,
} from '@logquay/googlesql';
import { gathersRows, printAggregate, printWindow } from '../functions/aggregates';
import { withExtremeKeysComputed } from '../functions/having-extremes';
import { withOuterColumnsComputed, withOuterColumnsOfLambdas, withSubqueriesComputed } from './computed-inputs';
import { selectList } from '../select-list';
import { columnName, Context } from '../context';
import { conjuncts } from './subquery-lists';
import { printCondition, printExpr, printSortKeys, allInOrder } from '../expressions/expressions';
import { printUnnest } from './unnest';
import { isClosed } from './ctes';

export type Wanted = ReadonlySet<number>;

const NO_COLUMNS: Wanted = new Set();

/**
 * The SELECT text of `relation`. `ordered`: the rows' order matters to whoever reads them; a Sort that nobody
 * looks at (an ORDER BY in a CTE) is left out.
 */
export function printRelation(ctx: Context, relation: Relation, wanted: Wanted, ordered: boolean): string {
  ctx.budget.step();
  return ctx.budget.checked(textOf(ctx, relation, wanted, ordered));
}

function textOf(ctx: Context, relation: Relation, wanted: Wanted, ordered: boolean): string {
  const from = (input: Relation, ids: Set<number>, inputOrdered: boolean): string =>
    ` FROM (${printRelation(ctx, input, ids, inputOrdered)})`;
  const namesBut = (own: Wanted): string[] =>
    visibleColumns(relation)
      .filter(({ id }) => wanted.has(id) && !own.has(id))
      .map(({ id }) => columnName(id));
  const select = (): string => selectList(namesBut(NO_COLUMNS));
  switch (relation.kind) {
    case 'single_row':
      return selectList([]);
    case 'table': {
      return ctx.printScan(
        relation.table,
        relation.columns.filter((c) => wanted.has(c.column.id)),
      );
    }
    case 'cte':
      return printCteScan(ctx, relation, wanted);
    case 'query':
      return printQuery(ctx, relation.query, wanted, ordered);
    case 'unnest': {
      const local = withOuterColumnsOfLambdas(ctx, relation);
      if (local !== null) return printRelation(ctx, local, wanted, ordered);
      return printUnnest(ctx, relation, wanted);
    }
    case 'join': {
      const simpler = withoutConstantRow(ctx, relation);
      if (simpler !== null) return printRelation(ctx, simpler, wanted, ordered);
      return `${select()} FROM ${printJoin(ctx, relation, wanted)}`;
    }
    case 'filter': {
      const local = withOuterColumnsOfLambdas(ctx, relation);
      if (local !== null) return printRelation(ctx, local, wanted, ordered);
      const ids = columnsRead([relation.condition], new Set(wanted));
      const input = printRelation(ctx, relation.input, ids, ordered);
      return `${select()} FROM ${printFilter(ctx, input, relation.condition)}`;
    }
    case 'compute': {
      const columns = relation.columns.filter((c) => wanted.has(c.column.id));
      const local = withOuterColumnsOfLambdas(ctx, { ...relation, columns });
      if (local !== null) return printRelation(ctx, local, wanted, ordered);
      const ids = new Set(wanted);
      columnsRead(
        columns.map((c) => c.expr),
        ids,
      );
      const own = new Set(columns.map((c) => c.column.id));
      const list = [...namesBut(own), ...printComputed(ctx, columns)];
      return `${selectList(list)}${from(relation.input, ids, ordered)}`;
    }
    case 'aggregate': {
      const local = withOuterColumnsComputed(ctx, relation);
      if (local !== null) return printRelation(ctx, local, wanted, ordered);
      const extremes = withExtremeKeysComputed(ctx, relation);
      if (extremes !== null) return printRelation(ctx, extremes, wanted, ordered);
      const aggregates = relation.aggregates.filter((a) => wanted.has(a.column.id));
      const ids = columnsRead(relationExpressions({ ...relation, aggregates }));
      return printAggregate(ctx, relation, wanted, from(relation.input, ids, false));
    }
    case 'window': {
      const local = withOuterColumnsComputed(ctx, relation) ?? withSubqueriesComputed(ctx, relation);
      if (local !== null) return printRelation(ctx, local, wanted, ordered);
      const functions = relation.functions.filter((f) => wanted.has(f.column.id));
      const ids = columnsRead(relationExpressions({ ...relation, functions }), new Set(wanted));
      const own = new Set(functions.map((f) => f.column.id));
      const list = [
        ...namesBut(own),
        ...functions.map((f) => `${printWindow(ctx, f.call)} AS ${columnName(f.column.id)}`),
      ];
      const rows = `${selectList(list)}${from(relation.input, ids, false)}`;
      return functions.some(({ call }) => gathersRows(call)) ? onOneThread(rows) : rows;
    }
    case 'sort': {
      if (!ordered) return printRelation(ctx, relation.input, wanted, false);
      const ids = columnsRead(relationExpressions(relation), new Set(wanted));
      const keys = printSortKeys(ctx, relation.keys);
      const order = keys.length === 0 ? '' : ` ORDER BY ${keys.join(', ')}`;
      return `${select()}${from(relation.input, ids, false)}${order}`;
    }
    case 'limit': {
      const limit = ` LIMIT ${printExpr(ctx, relation.count)}`;
      const offset = relation.offset === null ? '' : ` OFFSET ${printExpr(ctx, relation.offset)}`;
      if (ctx.inOrder && isClosed(asQuery(relation))) return printCut(ctx, relation, wanted, `${limit}${offset}`);
      // Beside its own ORDER BY, so that it becomes a Top-N; elsewhere around whatever the input is.
      const input = printRelation(ctx, relation.input, wanted, true);
      return relation.input.kind === 'sort'
        ? `${input}${limit}${offset}`
        : `${select()} FROM (${input})${limit}${offset}`;
    }
    case 'set':
      return printSet(ctx, relation, wanted);
  }
}

/**
 * A LIMIT of which every row is computed before any is cut off, so that whether one that fails is reached does not depend on what DuckDB
 * reads first. Rows that its ORDER BY takes for equal come as they lie.
 */
function printCut(ctx: Context, { input }: Limit, wanted: Wanted, limit: string): string {
  const [sorted, sortKeys] = input.kind === 'sort' ? [input.input, input.keys] : [input, []];
  const ids = columnsRead(
    sortKeys.map(({ expr }) => expr),
    new Set(wanted),
  );
  const rows = printRelation(ctx, sorted, ids, true);
  const keys = [...printSortKeys(ctx, sortKeys), '"place"'];
  const shown = visibleColumns(input)
    .filter(({ id }) => wanted.has(id))
    .map(({ id }) => columnName(id));
  const placed = `SELECT *, row_number() OVER () AS "place" FROM (${rows})`;
  return `${selectList(shown)} FROM (${placed}) ORDER BY ${keys.join(', ')}${limit}`;
}

function asQuery(relation: Relation): ResolvedQuery {
  return queryOf(relation);
}

/** What stands behind FROM: the rows of a relation for which a condition holds. */
export function printFilter(ctx: Context, relation: string, condition: Expr): string {
  return `(${relation}) WHERE ${printCondition(ctx, condition)}`;
}

function printComputed(ctx: Context, columns: readonly ComputedColumn[]): string[] {
  return columns.map(({ expr, column }) => `${printExpr(ctx, expr)} AS ${columnName(column.id)}`);
}

/** The SELECT text of a query for those of its output columns that are wanted. */
export function printQuery(ctx: Context, query: ResolvedQuery, wanted: Wanted, ordered: boolean): string {
  return printRelation(ctx, query.relation, wanted, ordered);
}

/**
 * A window function's rows, computed by one thread. Of several that build the tree over a window together, DuckDB 1.5.6 leaves one waiting for
 * ever, whatever interrupts it, where another finds no memory for what it gathers. Numbering rows keeps a pipeline to one thread.
 */
function onOneThread(rows: string): string {
  return `SELECT * EXCLUDE ("place") FROM (SELECT *, row_number() OVER () AS "place" FROM (${rows})) WHERE "place" > 0`;
}

function printCteScan(ctx: Context, { cte, columns }: CteScan, wanted: Wanted): string {
  const read = columns.filter((c) => wanted.has(c.column.id));
  const list = read.map((c) => `${columnName(c.source.id)} AS ${columnName(c.column.id)}`);
  if (!ctx.worthKeeping(cte)) {
    const sources = new Set(read.map((c) => c.source.id));
    return `${selectList(list)} FROM (${printQuery(ctx, cte.query, sources, false)})`;
  }
  let entry = ctx.materialized.get(cte.id);
  if (entry === undefined) ctx.materialized.set(cte.id, (entry = { cte, wanted: new Set() }));
  for (const { source } of read) entry.wanted.add(source.id);
  return `${selectList(list)} FROM ${ctx.cteName(cte.id)}`;
}

function printJoin(ctx: Context, { type, left, right, on }: JoinRelation, wanted: Wanted): string {
  const ids = columnsRead([on], new Set(wanted));
  const [first, second] = [left, right].map((side) => `(${printRelation(ctx, side, ids, false)})`);
  if (on === null && type === 'inner') return `${first} CROSS JOIN ${second}`;
  const condition = on === null ? 'true' : printJoinCondition(ctx, type, on);
  return `${first} ${type.toUpperCase()} JOIN ${second} ON ${condition}`;
}

/**
 * In order, what can fail is evaluated on pairs for which all before it holds, and the equalities before all. An inner join keeps
 * those for itself; an outer one looks at each pair anyway.
 */
function printJoinCondition(ctx: Context, type: JoinRelation['type'], on: Expr): string {
  if (!ctx.inOrder) return printExpr(ctx, on);
  const all = conjuncts(on);
  const { failing } = ctx;
  const equalities = all.filter(isEquality).map((one) => printExpr(ctx, one));
  const others = all.filter((one) => !isEquality(one)).map((one) => printCondition(ctx, one));
  if (ctx.failing === failing || others.length === 0) return [...equalities, ...others].join(' AND ');
  return type === 'inner' ? [...equalities, allInOrder(others)].join(' AND ') : allInOrder([...equalities, ...others]);
}

function isEquality(expr: Expr): boolean {
  return expr.kind === 'call' && expr.function === '$equal';
}

const SET_OPERATORS = { union: 'UNION', intersect: 'INTERSECT', except: 'EXCEPT' };

function printSet(ctx: Context, relation: SetRelation, wanted: Wanted): string {
  const { columns, inputs, operator, distinct } = relation;
  // Only UNION ALL may drop columns: everywhere else they decide which rows are equal.
  const all = operator === 'union' && !distinct;
  const used = columns.map((column, i) => ({ column, i })).filter(({ column }) => !all || wanted.has(column.id));
  const selects = inputs.map((query) => {
    const sources = used.map(({ i }) => query.output[i]!.column.id);
    const list = used.map(({ column }, k) => `${columnName(sources[k]!)} AS ${columnName(column.id)}`);
    return `(${selectList(list)} FROM (${printQuery(ctx, query, new Set(sources), false)}))`;
  });
  const text = selects.join(` ${SET_OPERATORS[operator]}${distinct ? '' : ' ALL'} `);
  const shown = columns.filter((c) => wanted.has(c.id)).map((c) => columnName(c.id));
  return `${selectList(shown)} FROM (${text})`;
}

// ------------------------------------------------------------------------------------------
// A join with one constant row (`FROM logs, params`, params being a SELECT without FROM) is no join: its columns are computed beside the
// other side's. What they hold then folds, and a time bound made of them reaches the scan.

/** `join` without its constant row; null where neither side is one. */
function withoutConstantRow(ctx: Context, join: JoinRelation): Relation | null {
  if (join.type !== 'inner') return null;
  for (const [side, other] of [
    [join.right, join.left],
    [join.left, join.right],
  ] as const) {
    const steps = constantRow(side);
    if (steps === null || !steps.every((columns) => columns.every((c) => isFoldable(ctx, c)))) continue;
    const computed = steps.reduce<Relation>((input, columns) => ({ kind: 'compute', input, columns }), other);
    return join.on === null ? computed : { kind: 'filter', input: computed, condition: join.on };
  }
  return null;
}

/** The columns of a relation that is exactly one row without reading anything, in the steps they are computed in. */
function constantRow(relation: Relation): readonly (readonly ComputedColumn[])[] | null {
  switch (relation.kind) {
    case 'single_row':
      return [];
    case 'compute': {
      const before = constantRow(relation.input);
      return before === null ? null : [...before, relation.columns];
    }
    case 'query':
      return constantRow(relation.query.relation);
    case 'cte': {
      const before = constantRow(relation.cte.query.relation);
      if (before === null) return null;
      const renamed = relation.columns.map(({ column, source }) => ({
        column,
        expr: columnRef(source),
      }));
      return [...before, renamed];
    }
    default:
      return null;
  }
}

/** Whether DuckDB computes the column once: it is neither volatile nor able to fail, and reads no other rows. */
function isFoldable(ctx: Context, { expr }: ComputedColumn): boolean {
  // Printed on the side: what is not kept must not leave its parameters behind.
  const aside = new Context(ctx.printScan, ctx.worthKeeping, ctx.ctesAreTables, ctx.estimates, new Set(), ctx.budget);
  return !/\b(?:error|random|uuid)\(|\bSELECT\b/.test(printExpr(aside, expr));
}
