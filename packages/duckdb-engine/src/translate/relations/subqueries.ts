/** Subqueries in expressions: as list functions where they only take arrays of the row apart, else as they are. */
import type { Expr, SubqueryExpr } from '@logquay/googlesql';
import type { SqlType } from '@logquay/googlesql/types';
import { NeedsRelation, columnName, type Context } from '../context';
import { printExpr } from '../expressions/expressions';
import { equality, isComparedPlainly } from '../expressions/membership';
import { outerColumns, outerColumnsOf } from './ctes';
import { printAsLists } from './subquery-lists';
import { printQuery } from './relations';
import { duckType } from '../../sql';

export function printSubquery(ctx: Context, expr: SubqueryExpr): string {
  ctx.subqueries++;
  try {
    return printClosed(ctx, expr) ?? printInside(ctx, expr);
  } finally {
    ctx.subqueries--;
  }
}

/**
 * As lists whose lambdas read no column around the subquery where DuckDB does not find these, which is in a subquery that is in
 * another.
 *
 * @returns null where it needs a relation
 */
function printClosed(ctx: Context, expr: SubqueryExpr): string | null {
  const plain = printAsLists(ctx, expr);
  if (plain === null || !plain.includes('lambda')) return plain;
  const columns = columnsInLambdas(ctx, expr);
  if (columns.length === 0) return plain;
  const values = columns.map(columnName);
  let isPrinted = true;
  const text = ctx.bind(values, (...names) => {
    columns.forEach((id, i) => ctx.bound.set(id, names[i]!));
    try {
      const asLists = printAsLists(ctx, expr);
      isPrinted = asLists !== null;
      return asLists ?? '';
    } finally {
      for (const id of columns) ctx.bound.delete(id);
    }
  });
  // A lambda may hold no subquery.
  return isPrinted && !text.includes('SELECT') ? text : plain;
}

/** Ids of the columns around a subquery that its lambdas must not read. */
function columnsInLambdas(ctx: Context, { query, operand }: SubqueryExpr): readonly number[] {
  if (ctx.subqueries < 2) return [];
  const ofOperand = operand === null ? [] : outerColumnsOf(operand);
  return [...new Set([...outerColumns(query), ...ofOperand])].filter((id) => !ctx.bound.has(id));
}

function printInside(ctx: Context, expr: SubqueryExpr): string {
  if (ctx.lambdas > 0) throw new NeedsRelation();
  const ids = new Set(expr.query.output.map((o) => o.column.id));
  const column = expr.query.output[0]?.column;
  if (column === undefined) throw new Error('a subquery without a column');
  const query = printQuery(ctx, expr.query, ids, expr.mode === 'array');
  const value = columnName(column.id);
  switch (expr.mode) {
    case 'exists':
      return `EXISTS (${query})`;
    case 'scalar':
      return `(SELECT ${value} FROM (${query}))`;
    case 'array':
      return `coalesce(ARRAY(SELECT ${value} FROM (${query})), CAST([] AS ${duckType(expr.type)}))`;
    case 'in':
      return among(ctx, printExpr(ctx, operandOf(expr)), value, query, column.type);
  }
}

function among(ctx: Context, operand: string, value: string, query: string, type: SqlType): string {
  if (isComparedPlainly(type)) return `(${operand} IN (SELECT ${value} FROM (${query})))`;
  // NaN is equal to nothing.
  if (type.kind === 'FLOAT64')
    return `(${operand} IN (SELECT ${value} FROM (${query}) WHERE ${value} IS NULL OR NOT isnan(${value})))`;
  const equal = equality((values, body) => ctx.bind(values, body), operand, value, type);
  const found = `SELECT ${equal} AS "equal" FROM (${query})`;
  return `(SELECT CASE WHEN bool_or("equal") THEN true WHEN count("equal") = count(*) THEN false END FROM (${found}))`;
}

export function operandOf(expr: SubqueryExpr): Expr {
  if (expr.operand === null) throw new Error('IN without an operand');
  return expr.operand;
}
