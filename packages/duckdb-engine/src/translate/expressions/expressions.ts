/** Expressions: every name is a column already, so printing one never looks anything up. */
import {
  type Expr,
  type FunctionCall,
  type ResolvedCase,
  type SortKey,
  functionOf,
  failsItself,
} from '@logquay/googlesql';
import { timeZone, type SqlType } from '@logquay/googlesql/types';
import type { Argument, Call, FunctionRow } from './call';
import { printCast, printLiteral } from './casts';
import type { Context } from '../context';
import { functionRow } from '../functions/function-table';
import { goesInLatin1, overLatin1 } from '../functions/latin1';
import { equality, isComparedPlainly } from './membership';
import {
  duckType,
  fail,
  type Failure,
  overload,
  physicalFieldNames,
  quoteName,
  quoteText,
  structOf,
  volatile,
} from '../../sql';
import { printSubquery } from '../relations/subqueries';

export function printExpr(ctx: Context, expr: Expr): string {
  ctx.budget.step();
  if (mayFail(expr)) ctx.fails(expr);
  return ctx.budget.checked(textOf(ctx, expr));
}

/** DuckDB's TRY around what is called with SAFE. does not catch everything: the error of a cast that is folded, for one. */
function mayFail(expr: Expr): boolean {
  return failsItself(expr) || (expr.kind === 'call' && expr.safe);
}

function textOf(ctx: Context, expr: Expr): string {
  switch (expr.kind) {
    case 'literal':
      refuseRange(ctx, expr);
      return printLiteral(expr);
    case 'parameter':
      refuseRange(ctx, expr);
      // Of what is bound only an instant of `known-parameters.ts` is a TIMESTAMP.
      return expr.type.kind === 'TIMESTAMP'
        ? `make_timestamp(CAST(${ctx.parameter(expr.name)} AS BIGINT))`
        : `CAST(${ctx.parameter(expr.name)} AS ${duckType(expr.type)})`;
    case 'column':
    case 'field':
      return printPath(ctx, expr);
    case 'call':
      return printCall(ctx, expr);
    case 'cast':
      refuseRange(ctx, expr);
      return printCast(ctx, expr, printExpr(ctx, expr.input));
    case 'case':
      return printCase(ctx, expr);
    case 'make_array':
      refuseRange(ctx, expr);
      return expr.elements.length === 0
        ? `CAST([] AS ${duckType(expr.type)})`
        : `[${expr.elements.map((e) => printExpr(ctx, e)).join(', ')}]`;
    case 'make_struct':
      return printStruct(ctx, expr);
    case 'subquery':
      return printSubquery(ctx, expr);
  }
}

/** Whether a value of the type is a RANGE, or holds one. */
function holdsRange(type: SqlType): boolean {
  if (type.kind === 'ARRAY') return holdsRange(type.element);
  return type.kind === 'STRUCT' ? type.fields.some((field) => holdsRange(field.type)) : type.kind === 'RANGE';
}

/** What values of RANGE are made of, where no function makes them. */
function refuseRange(ctx: Context, { type, span }: Expr): void {
  if (holdsRange(type)) ctx.unsupported('RANGE', span, 'two columns');
}

/**
 * A condition where only TRUE counts, as of WHERE and IF. In order, operands are evaluated as they are written, each where those
 * before it have not settled the condition: DuckDB would take them in an order that depends on how long each takes.
 */
export function printCondition(ctx: Context, expr: Expr): string {
  if (!ctx.inOrder || expr.kind !== 'call' || !['$and', '$or'].includes(expr.function)) return printExpr(ctx, expr);
  ctx.budget.step();
  const { failing } = ctx;
  const texts = operandsOf(expr, { chained: true }).map((operand) => printCondition(ctx, operand));
  const isAnd = expr.function === '$and';
  const text =
    ctx.failing > failing
      ? isAnd
        ? allInOrder(texts)
        : anyInOrder(texts)
      : `(${texts.join(isAnd ? ' AND ' : ' OR ')})`;
  return ctx.budget.checked(text);
}

/** A column, or a field of one or of another value. */
function printPath(ctx: Context, expr: Expr): string {
  if (expr.kind === 'column') return ctx.column(expr.column.id);
  if (expr.kind !== 'field') return printExpr(ctx, expr);
  const { input, index } = expr;
  if (input.type.kind !== 'STRUCT') throw new Error('a field of something that is no struct');
  // A field of a struct just made is that field: no struct needs to be built.
  if (input.kind === 'make_struct') return printExpr(ctx, input.fields[index]!);
  const name = physicalFieldNames(input.type.fields)[index]!;
  const base = printPath(ctx, input);
  return /^(?:"c\d+"|v\d+)(?:\."(?:[^"]|"")+")*$/.test(base)
    ? `${base}.${quoteName(name)}`
    : `struct_extract(${base}, ${quoteText(name)})`;
}

function printStruct(ctx: Context, expr: Extract<Expr, { kind: 'make_struct' }>): string {
  if (expr.type.kind !== 'STRUCT') throw new Error('a struct without fields');
  if (expr.fields.length === 0) ctx.unsupported('STRUCT without fields', expr.span);
  const names = physicalFieldNames(expr.type.fields);
  return structOf(expr.fields.map((f, i) => [names[i]!, printExpr(ctx, f)]));
}

function printCase(ctx: Context, expr: ResolvedCase): string {
  const { random } = ctx;
  const operand = expr.operand === null ? '' : printExpr(ctx, expr.operand);
  // DuckDB computes the operand again for each comparison.
  if (ctx.random > random) return ctx.bind([operand], (name) => printBranches(ctx, expr, name));
  return printBranches(ctx, expr, operand);
}

function printBranches(ctx: Context, expr: ResolvedCase, value: string): string {
  const type = expr.operand?.type ?? null;
  const isEqual = type !== null && !isComparedPlainly(type);
  const printWhen = (context: Context, when: Expr): string => {
    if (type === null) return printCondition(context, when);
    const text = printExpr(context, when);
    const mayBeNaN = when.kind !== 'literal' || when.value === 'NaN';
    return isEqual ? equality((values, body) => context.bind(values, body), value, text, type, mayBeNaN) : text;
  };
  const operand = type === null || isEqual ? '' : ` ${value}`;
  const whens = expr.whens.map(({ when, then }) => ` WHEN ${printWhen(ctx, when)} THEN ${printExpr(ctx, then)}`);
  const last = expr.else === null ? '' : printExpr(ctx, expr.else);
  const otherwise = last === '' ? '' : ` ELSE ${last}`;
  return `CASE${operand}${whens.join('')}${otherwise} END`;
}

export function printArgument(ctx: Context, expr: Expr, print = printExpr): Argument {
  return {
    sql: print(ctx, expr),
    type: expr.type,
    expr,
    constant: expr.kind === 'literal' ? expr.value : null,
  };
}

function operandsOf(expr: FunctionCall, { chained }: Pick<FunctionRow, 'chained'>): readonly Expr[] {
  const { function: name, type, args } = expr;
  if (chained !== true || type.kind === 'ARRAY') return args;
  return args.flatMap((a) => (a.kind === 'call' && a.function === name && !a.safe ? operandsOf(a, { chained }) : [a]));
}

function printCall(ctx: Context, expr: FunctionCall): string {
  const row = functionRow(ctx, expr);
  if (functionOf(expr).value === 'random') ctx.random++;
  const operands = operandsOf(expr, row);
  const random: number[] = [];
  const args = operands.map((a, i) => {
    const before = ctx.random;
    const argument = printArgument(ctx, a, i === 0 && expr.function === 'IF' ? printCondition : printExpr);
    if (ctx.random > before) random.push(i);
    return argument;
  });
  const named = Object.fromEntries(Object.entries(expr.named).map(([name, a]) => [name, printArgument(ctx, a)]));
  const inLatin1 = goesInLatin1(row, args);
  // Around what is not to be caught `overLatin1` puts no TRY.
  const caught = expr.safe && row.raises === true && !inLatin1;
  let raises = false;
  const raising = (failure: Failure): string => {
    raises = true;
    return fail(failure, expr.span);
  };
  const emit = (values: readonly Argument[]): string => {
    const call: Call = {
      name: expr.function,
      args: values,
      named,
      part: expr.part,
      type: expr.type,
      safe: expr.safe,
      span: expr.span,
      isLarge: ctx.estimates.isLarge(expr),
      // A bound of ours is no error of the values; TRY may hold no `error()`.
      fail: (failure) => (expr.safe && (failure !== 'size' || row.raises === true) ? 'NULL' : raising(failure)),
      overload: () => {
        raises = true;
        return overload(expr.function, expr.span);
      },
      bind: (bound, body) => ctx.bind(bound, body),
      now: () => ctx.now(),
      unsupported: (what, instead) => ctx.unsupported(what, expr.span, instead),
    };
    return inLatin1 ? overLatin1(call, row) : row.emit(call);
  };
  if (row.nullFirst === true && mayHoldNull(expr.function, row, args) && mayFail(expr)) {
    const text = nullFirst(ctx, args, (named) => {
      const printed = emit(named);
      return caught ? `TRY(${printed})` : printed;
    });
    if (raises) ctx.fails(expr);
    return text;
  }
  if (!caught) {
    const printed = emit(args);
    const again =
      row.writtenOut === true
        ? random.length > 0
        : row.lazy !== true && random.some((i) => isRepeated(args[i]!.sql, printed));
    const text = again ? withNames(ctx, args, emit) : printed;
    if (raises) ctx.fails(expr);
    return text;
  }
  // SAFE. is for the function alone: an error of an argument stays one, and TRY may hold no `error()`.
  return withNames(ctx, args, (named) => `TRY(${emit(named)})`);
}

/** Whether DuckDB would compute it more than once. */
function isRepeated(sql: string, text: string): boolean {
  return text.indexOf(sql) !== text.lastIndexOf(sql);
}

function withNames(ctx: Context, args: readonly Argument[], print: (named: readonly Argument[]) => string): string {
  return ctx.bind(
    args.map(({ sql }) => sql),
    (...names) => print(args.map((a, i) => ({ ...a, sql: names[i]! }))),
  );
}

/** More than one argument whose value shows only later, or a NULL as it stands. */
function mayHoldNull(name: string, row: FunctionRow, args: readonly Argument[]): boolean {
  const unknown = args.filter(({ constant }) => constant === null);
  if (unknown.length > 1 || (unknown.length === 1 && name.endsWith('_BUCKET'))) return true;
  return (
    args.length > 1 && unknown.some(({ expr }) => expr.kind === 'literal' || args.some((a, i) => isSuspect(row, a, i)))
  );
}

/** A literal that may be an error by itself: a negative count, an empty text, a time zone that is invalid. */
function isSuspect({ zoned }: FunctionRow, { constant, type }: Argument, i: number): boolean {
  if (constant === null || i === 0) return false;
  return (
    constant === '' ||
    constant.startsWith('-') ||
    (zoned === true && type.kind === 'STRING' && timeZone(constant) === null)
  );
}

/** NULL where an argument is, and else what `print` makes of names for the arguments. */
function nullFirst(ctx: Context, args: readonly Argument[], print: (args: readonly Argument[]) => string): string {
  const unknown = args.filter(({ constant }) => constant === null);
  return ctx.bind(
    unknown.map(({ sql }) => sql),
    (...names) => {
      const next = names.values();
      const named = args.map((a) => (a.constant === null ? { ...a, sql: next.next().value! } : a));
      return `CASE WHEN ${names.map((name) => `${name} IS NULL`).join(' OR ')} THEN NULL ELSE ${print(named)} END`;
    },
  );
}

/** What the text of a type's name becomes, for one. */
const TEXT_LITERAL = /^\(?'(?:[^']|'')*'\)?$/;

/**
 * ORDER BY keys. Constants are left out: DuckDB reads a bare one as a column's number. NaN sorts below all numbers in
 * GoogleSQL and above them in DuckDB.
 */
export function printSortKeys(ctx: Context, keys: readonly SortKey[]): string[] {
  return keys
    .filter(({ expr }) => expr.kind !== 'literal' && expr.kind !== 'parameter')
    .flatMap(({ expr, descending, nullsFirst }) => {
      const text = printExpr(ctx, expr);
      if (TEXT_LITERAL.test(text)) return [];
      const nulls = nullsFirst ? 'NULLS FIRST' : 'NULLS LAST';
      const key = `${text} ${descending ? 'DESC' : 'ASC'} ${nulls}`;
      return expr.type.kind === 'FLOAT64' ? [`isnan(${text}) ${descending ? 'ASC' : 'DESC'} ${nulls}`, key] : [key];
    });
}

// ------------------------------------------------------------------------------------------
// Conditions that are evaluated as they are written: whether one that can fail does so must not depend on what DuckDB takes first.

/** A column, or what a lambda is given. */
const OF_A_ROW = /"[cv]\d+"|\bv\d+\b/;

/**
 * A condition that can fail, as WHEN takes it: one that reads no column DuckDB evaluates there even where no row is left for it
 * (`CASE WHEN x THEN CASE WHEN sqrt(-1) > 0 THEN ...`), unless it is volatile.
 */
export function afterOthers(condition: string): string {
  return OF_A_ROW.test(condition) ? condition : volatile(condition);
}

/** TRUE where all conditions are: each is evaluated where those before it are TRUE, and nothing nests however many there are. */
export function allInOrder(conditions: readonly string[]): string {
  if (conditions.length === 1) return conditions[0]!;
  return `CASE ${conditions.map((condition) => `WHEN (${afterOthers(condition)}) IS NOT TRUE THEN false`).join(' ')} ELSE true END`;
}

/** TRUE where one of the conditions is: each is evaluated where those before it are not TRUE. */
function anyInOrder(conditions: readonly string[]): string {
  return `CASE ${conditions.map((condition) => `WHEN ${afterOthers(condition)} THEN true`).join(' ')} ELSE false END`;
}
