/** The select list: expressions, and stars spelt out. */
import { QueryError } from '../errors';
import type { Expr, Column, OutputColumn, Relation } from '../resolved';
import type { Identifier, SelectExpression, SelectItem, SelectStar, Span, Select } from '../tree';
import type { SqlType } from '../types';
import { fieldAt, rowValue, shortType } from './access';
import type { Context } from './context';
import { inferredName, resolveExpr } from './expression';
import { lookup, type NameList } from './scope';
import { invalid, type Session } from './session';
import { nearest, suggestion } from './suggestion';

export interface ListItem {
  readonly name: string | null;
  readonly expr: Expr;
  readonly span: Span;
  readonly hasAggregate: boolean;
  readonly hasWindow: boolean;
  /** The syntax it came from; null: out of a star. */
  readonly written: SelectExpression | null;
}

/** Every item resolved among the rows of FROM; aggregates and windows are collected by the context. */
export function resolveSelectList(context: Context, items: readonly SelectItem[], from: NameList | null): ListItem[] {
  return items.flatMap((item) =>
    item.kind === 'select_star'
      ? context.session.recover(
          () => resolveStar(context, item, from),
          () => [],
        )
      : [resolveItem(context, item)],
  );
}

/** What an expression added to the aggregates and windows of its SELECT. */
function watched(context: Context, resolve: () => Expr): { expr: Expr; hasAggregate: boolean; hasWindow: boolean } {
  const count = (sink: Context['aggregates'] | Context['windows']): number =>
    typeof sink === 'string' ? 0 : sink.calls.length;
  const before = [count(context.aggregates), count(context.windows)];
  const expr = resolve();
  return {
    expr,
    hasAggregate: count(context.aggregates) !== before[0],
    hasWindow: count(context.windows) !== before[1],
  };
}

function resolveItem(context: Context, item: SelectExpression): ListItem {
  const { expr, hasAggregate, hasWindow } = watched(context, () => resolveExpr(context, item.expression));
  const name = item.alias?.name ?? inferredName(item.expression);
  return { name, expr, span: item.span, hasAggregate, hasWindow, written: item };
}

interface StarColumn {
  readonly name: string | null;
  readonly expr: Expr;
}

function resolveStar(context: Context, star: SelectStar, from: NameList | null): ListItem[] {
  const columns = starColumns(context, star, from);
  if (from?.open === true) context.session.survey?.useUnknown();
  const { span } = star;
  const asItem = ({ name, expr }: StarColumn): ListItem => {
    return { name, expr, span, hasAggregate: false, hasWindow: false, written: null };
  };
  // Stars of stars have thousands of columns.
  if (star.except.length === 0 && star.replace.length === 0) return columns.map(asItem);
  const except = namesOf(star.except, 'EXCEPT');
  const replaced = namesOf(
    star.replace.map(({ alias }) => alias),
    'REPLACE',
  );
  for (const [key, name] of replaced)
    if (except.has(key))
      throw invalid(`Column ${name.name} cannot occur in both SELECT * EXCEPT and REPLACE.`, name.span);
  const known = new Set(columns.map(({ name }) => name?.toLowerCase()));
  for (const [list, names] of [
    ['EXCEPT', except],
    ['REPLACE', replaced],
  ] as const)
    for (const [key, name] of names) if (!known.has(key)) throw missing(name, list, columns);
  const items: ListItem[] = [];
  for (const column of columns) {
    const key = column.name?.toLowerCase();
    if (key !== undefined && except.has(key)) continue;
    const replacement = star.replace.find(({ alias }) => alias.name.toLowerCase() === key);
    if (replacement === undefined) {
      items.push(asItem(column));
    } else {
      const item = watched(context, () => resolveExpr(context, replacement.expression));
      items.push({ ...item, name: replacement.alias.name, span, written: null });
    }
  }
  if (items.length === 0) throw invalid('SELECT * expands to zero columns after applying EXCEPT.', star.span);
  return items;
}

function missing({ name, span }: Identifier, list: string, columns: readonly StarColumn[]): QueryError {
  const names = columns.flatMap((column) => (column.name === null ? [] : [column.name]));
  const near = nearest(name, names);
  return new QueryError('unknownField', `Column ${name} in SELECT * ${list} list does not exist.`, span, {
    ...suggestion(name, near),
  });
}

function namesOf(names: readonly Identifier[], list: string): Map<string, Identifier> {
  const found = new Map<string, Identifier>();
  for (const name of names) {
    const key = name.name.toLowerCase();
    if (found.has(key)) throw invalid(`Duplicate column ${name.name} in SELECT * ${list} list.`, name.span);
    found.set(key, name);
  }
  return found;
}

function starColumns(context: Context, { of, span }: SelectStar, from: NameList | null): StarColumn[] {
  const { session } = context;
  if (of === null) {
    if (from === null) throw invalid('SELECT * must have a FROM clause.', span);
    return listColumns(session, from, span);
  }
  const [alias] = of.kind === 'path' && of.parts.length === 1 ? of.parts : [];
  if (alias !== undefined) {
    const target = lookup(context.scope, alias.name);
    if (target?.kind === 'range' && !target.list.isValueTable) return listColumns(session, target.list, span);
    if (target?.kind === 'range') return structColumns(session, rowValue(session, target.list, span), span);
  }
  return structColumns(session, resolveExpr(context, of), span);
}

function listColumns(session: Session, list: NameList, span: Span): StarColumn[] {
  session.budget.columns(list.columns.length);
  return list.columns.flatMap(({ name, column, valueTable, hidden }): StarColumn[] => {
    const expr = session.ref(column, span);
    if (!valueTable || column.type.kind !== 'STRUCT') return [{ name, expr }];
    return structColumns(session, expr, span).filter(
      (field) => field.name === null || !hidden.has(field.name.toLowerCase()),
    );
  });
}

function structColumns(session: Session, value: Expr, span: Span): StarColumn[] {
  const { type } = value;
  if (type.kind !== 'STRUCT') throw invalid(`Dot-star is not supported for type ${shortType(type)}.`, span);
  if (type.fields.length === 0) throw invalid('This struct has no fields for a star.', span);
  session.budget.columns(type.fields.length);
  return type.fields.map(({ name }, i) => ({ name, expr: fieldAt(value, i, span) }));
}

export function asValue(
  session: Session,
  as: NonNullable<Select['as']>,
  span: Span,
  input: Relation,
  output: readonly OutputColumn[],
): { readonly relation: Relation; readonly column: Column } {
  if (as === 'value') {
    const [only] = output;
    if (output.length !== 1 || only === undefined) throw invalid('SELECT AS VALUE has one column.', span);
    return { relation: input, column: only.column };
  }
  const type: SqlType = { kind: 'STRUCT', fields: output.map(({ name, column }) => ({ name, type: column.type })) };
  session.budget.value(type, span);
  const column = session.column(null, type);
  const fields = output.map((out) => session.ref(out.column, span));
  const expr: Expr = { kind: 'make_struct', fields, type, span };
  return { relation: { kind: 'compute', input, columns: [{ column, expr }] }, column };
}
