/** What an operator may not compute itself on DuckDB becomes a column of its input. */
import {
  type Aggregate,
  type Column,
  type Compute,
  type ComputedColumn,
  type Expr,
  type Filter,
  type Relation,
  type UnnestScan,
  type Windowed,
  called,
  columnRef,
  queryOf,
  mapOperands,
  mapRelation,
  operandsOf,
  replacing,
  visitQuery,
  type Mapping,
  visibleColumns,
} from '@logquay/googlesql';
import type { Context } from '../context';
import { printExpr } from '../expressions/expressions';
import { outerColumns } from './ctes';
import { conjuncts, printAsLists } from './subquery-lists';

/**
 * DuckDB takes an aggregate whose arguments are all columns of the rows around the subquery for one of the query around it, and
 * window functions may read none. GoogleSQL's are of the subquery that they are written in: such columns become its input's.
 *
 * @returns null where there are none
 */
export function withOuterColumnsComputed(ctx: Context, relation: Aggregate | Windowed): Relation | null {
  return ctx.subqueries === 0 ? null : withColumnsComputed(ctx, relation, relation.input);
}

/**
 * DuckDB does not find a column of the rows around the subquery inside a lambda: it becomes one of the input of what has the lambda.
 * Elsewhere such a column stays where it is, so that an equality with it remains one.
 *
 * @returns null where no lambda reads one
 */
export function withOuterColumnsOfLambdas(ctx: Context, relation: Compute | Filter | UnnestScan): Relation | null {
  if (ctx.subqueries === 0) return null;
  switch (relation.kind) {
    case 'compute':
      return relation.columns.some(({ expr }) => hasLambda(ctx, relation.input, expr))
        ? withColumnsComputed(ctx, relation, relation.input)
        : null;
    case 'unnest': {
      const input = relation.input ?? SINGLE_ROW;
      if (relation.on !== null || !hasLambda(ctx, input, relation.array)) return null;
      return withColumnsComputed(ctx, { ...relation, input }, input);
    }
    case 'filter': {
      const all = conjuncts(relation.condition);
      const reading = all.filter((one) => hasLambda(ctx, relation.input, one));
      if (reading.length === 0) return null;
      const rest = all.filter((one) => !reading.includes(one));
      const input = filtered(relation.input, rest);
      return withColumnsComputed(ctx, filtered(input, reading) as Filter, input);
    }
  }
}

/**
 * DuckDB's parser lets no window function into the definition of another, nor into a subquery there.
 *
 * @returns null where no subquery is in one
 */
export function withSubqueriesComputed(ctx: Context, relation: Windowed): Relation | null {
  const columns: ComputedColumn[] = [];
  const expr = (written: Expr): Expr => {
    if (!hasSubquery(written)) return written;
    const { type, span } = written;
    const column = { id: ctx.newColumn(), name: '', type };
    ctx.estimates.define(column, written);
    columns.push({ column, expr: written });
    return columnRef(column, span);
  };
  const mapped = mapRelation(relation, { ...UNCHANGED, expr });
  if (columns.length === 0) return null;
  const input: Relation = { kind: 'compute', input: relation.input, columns };
  return mapRelation(mapped, { ...UNCHANGED, relation: () => input });
}

const UNCHANGED: Mapping = { expr: (expr) => expr, relation: (relation) => relation, query: (query) => query };

const hasSubquery = (expr: Expr): boolean => expr.kind === 'subquery' || operandsOf(expr).some(hasSubquery);

const SINGLE_ROW: Relation = { kind: 'single_row' };

function filtered(input: Relation, conditions: readonly Expr[]): Relation {
  return conditions.reduce((below, condition): Relation => ({ kind: 'filter', input: below, condition }), input);
}

/** Whether an expression over that input has a lambda beside a column around the subquery. */
function hasLambda(ctx: Context, input: Relation, expr: Expr): boolean {
  const around = (condition: Expr): number[] => [
    ...columnsAround(ctx, { kind: 'filter', input, condition }, input).keys(),
  ];
  const outer = around(expr);
  if (outer.length === 0) return false;
  const { failing } = ctx;
  try {
    const alone = withoutRelations(ctx, expr);
    return around(alone).some((id) => outer.includes(id)) && printExpr(ctx, alone).includes('lambda');
  } finally {
    ctx.failing = failing;
  }
}

/** The relations of a subquery are looked at by themselves. */
function withoutRelations(ctx: Context, expr: Expr): Expr {
  if (expr.kind !== 'subquery')
    return mapOperands(expr, { expr: (operand) => withoutRelations(ctx, operand), query: (query) => query });
  if (printAsLists(ctx, expr) !== null) return expr;
  const { type, span } = expr.operand ?? expr;
  const value = columnRef({ id: ctx.newColumn(), name: '', type }, span);
  if (expr.operand === null) return value;
  const args = [withoutRelations(ctx, expr.operand), value];
  return called('$equal', args, expr.type, span);
}

/** @param input of the relation, which gets the columns around it that the relation reads; null: it reads none */
function withColumnsComputed(
  ctx: Context,
  relation: Aggregate | Windowed | Compute | Filter | UnnestScan,
  input: Relation,
): Relation | null {
  const outer = columnsAround(ctx, relation, input);
  if (outer.size === 0) return null;
  const renamed = new Map<number, Column>();
  for (const [id, column] of outer) {
    const own = { ...column, id: ctx.newColumn() };
    renamed.set(id, own);
    ctx.estimates.rename(id, own.id);
  }
  const columns = [...outer].map(([id, column]) => ({
    column: renamed.get(id)!,
    expr: columnRef(column),
  }));
  const computed: Relation = { kind: 'compute', input, columns };
  const mapping = replacing((expr) => {
    const column = expr.kind === 'column' ? renamed.get(expr.column.id) : undefined;
    return column && { ...expr, column };
  });
  return mapRelation(relation, { ...mapping, relation: () => computed });
}

/** By their ids. What is bound inside a lambda is no column. */
function columnsAround(ctx: Context, relation: Relation, input: Relation): ReadonlyMap<number, Column> {
  const alone = mapRelation(relation, { ...UNCHANGED, relation: () => SINGLE_ROW });
  const query = queryOf(alone);
  const own = new Set(visibleColumns(input).map(({ id }) => id));
  const ids = [...outerColumns(query)].filter((id) => !own.has(id) && !ctx.bound.has(id));
  const columns = new Map<number, Column>();
  if (ids.length === 0) return columns;
  visitQuery(query, {
    expr: (expr) => {
      if (expr.kind === 'column' && ids.includes(expr.column.id)) columns.set(expr.column.id, expr.column);
    },
  });
  return columns;
}
