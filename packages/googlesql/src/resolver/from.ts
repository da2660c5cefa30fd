/** FROM: a relation, and the names that it brings into scope. Items to the right see those to the left in UNNEST. */
import { QueryError } from '../errors';
import { isArrayPath } from '../from-paths';
import { insteadOfTableFunction } from '../functions/other-dialects';
import type { Column, Cte, Expr, Relation, ResolvedQuery } from '../resolved';
import type { FromItem, Identifier, OffsetClause, SubqueryItem, TableFunction, TablePath } from '../tree';
import type { NamedType, SqlType } from '../types';
import { resolvePath, shortType } from './access';
import { plainContext } from './context';
import { resolveExpr } from './expression';
import { resolveJoin } from './joins';
import { resolvePivot } from './pivot';
import { namesOf, resolveNamedQuery } from './queries';
import { lookup, NameList, scopeOf, type Scope } from './scope';
import { invalid, type CteScope, type Session } from './session';
import { nearest, suggestion } from './suggestion';
import { resolveUnpivot } from './unpivot';

export interface FromContext {
  readonly session: Session;
  /** Rows around this query, where it is a subquery in an expression. */
  readonly outer: Scope | null;
  readonly ctes: CteScope | null;
  /** Items further left in the same FROM: what UNNEST may read. */
  readonly left: NameList;
}

export interface Source {
  readonly relation: Relation;
  readonly list: NameList;
}

export function resolveFrom(context: FromContext, item: FromItem): Source {
  return context.session.recover(
    () => resolveItem(context, item),
    () => ({ relation: { kind: 'single_row' }, list: NameList.empty.opened() }),
  );
}

function resolveItem(context: FromContext, item: FromItem): Source {
  switch (item.kind) {
    case 'table_path':
      return namesArray(context, item) ? resolveArray(context, item) : resolveTable(context, item);
    case 'unnest':
      return resolveArray(context, item);
    case 'subquery_item':
      return resolveSubqueryItem(context, item);
    case 'join':
      return resolveJoin(context, item);
    case 'parenthesised_join':
      return resolveFrom(context, item.item);
    case 'pivot':
      return resolvePivot(context, item);
    case 'unpivot':
      return resolveUnpivot(context, item);
    case 'table_function':
      throw unknownTableFunction(item);
  }
}

function unknownTableFunction({ path, span }: TableFunction): QueryError {
  const name = path.map((part) => part.name).join('.');
  const hint = insteadOfTableFunction(path);
  if (hint === undefined) return invalid(`Table function not found: ${name}.`, span);
  return new QueryError('invalidQuery', `${name.toUpperCase()} is not supported.`, span, { hint });
}

const fromScope = (context: FromContext): Scope => scopeOf(context.left, context.outer);

function namesArray(context: FromContext, { path }: TablePath): boolean {
  return isArrayPath(path, (name) => lookup(fromScope(context), name) !== undefined);
}

function resolveTable({ session, ctes }: FromContext, { path, alias, offset, span }: TablePath): Source {
  const [first, ...rest] = path;
  const last = path.at(-1);
  if (first === undefined || last === undefined) throw new Error('a table path has a name');
  if (offset !== null) throw invalid('WITH OFFSET is for arrays; this is a table.', offset.span);
  const name = alias?.name ?? last.name.slice(last.name.lastIndexOf('.') + 1);
  if (rest.length === 0) {
    for (let scope = ctes; scope !== null; scope = scope.parent) {
      const cte = scope.names.get(first.name.toLowerCase());
      if (cte !== undefined) return scanCte(session, cte, name);
    }
  }
  const table = session.environment.findTable(path);
  if (table === undefined) {
    const written = path.map((part) => part.name).join('.');
    session.environment.onUnknown?.(written, { kind: 'table', ctes: cteNames(ctes) });
    const near = session.environment.suggestTable?.(written) ?? nearest(written, cteNames(ctes));
    throw new QueryError('invalidQuery', `Table not found: ${written}.`, span, suggestion(written, near));
  }
  const columns: { column: Column; source: string }[] = [];
  const scanned = ({ name: source, type }: NamedType): { name: string; column: Column } => {
    const column: Column = session.column(source, type);
    return { name: source, column: session.deferred(column, () => columns.push({ column, source })) };
  };
  const list = NameList.table(name, table.columns.map(scanned), false, (table.pseudo ?? []).map(scanned));
  return { relation: { kind: 'table', table, columns }, list };
}

function cteNames(ctes: CteScope | null): string[] {
  const names: string[] = [];
  for (let scope = ctes; scope !== null; scope = scope.parent)
    names.push(...Array.from(scope.names.values(), ({ name }) => name));
  return names;
}

function scanCte(session: Session, cte: Cte, alias: string): Source {
  const columns: { column: Column; source: Column }[] = [];
  const named = cte.query.output.map(({ name, column: source }) => {
    const column = session.column(name, source.type);
    if (session.survey?.isUnknown(source) === true) session.survey.markUnknown(column);
    return { name, column: session.deferred(column, () => columns.push({ column, source })) };
  });
  const relation: Relation = { kind: 'cte', cte, columns };
  const [only] = named;
  if (cte.query.valueTable && only !== undefined) return { relation, list: NameList.value(alias, only.column) };
  return { relation, list: listOf(session, cte.query, alias, named) };
}

/**
 * A subquery sees the rows around the whole query, never its neighbours in FROM. Without an alias of its own, the table
 * aliases of a query in pipe syntax are seen from outside.
 */
function resolveSubqueryItem({ session, outer, ctes }: FromContext, { query: item, alias }: SubqueryItem): Source {
  const { query, names } = resolveNamedQuery(session, item, outer, ctes);
  const relation: Relation = { kind: 'query', query };
  if (alias !== null) return { relation, list: names.aliased(alias.name) };
  // Aliases reach columns that are not in the output.
  if (names.ranges.size > 0 && query.ctes.length === 0) return { relation: query.relation, list: names };
  return { relation, list: namesOf(session, query) };
}

/** The names of a query's columns under `alias`; in a survey not all of them may be known. */
function listOf(
  { survey }: Session,
  { output }: ResolvedQuery,
  alias: string | null,
  columns: readonly { name: string | null; column: Column }[],
): NameList {
  return NameList.table(alias, columns, survey?.isUnknown(output));
}

/** An array's elements as rows, in the form that a join to what is left of it takes. */
export interface ArrayItem {
  readonly array: Expr;
  readonly element: Column;
  readonly offset: Column | null;
  readonly list: NameList;
}

export function resolveArrayItem(context: FromContext, item: FromItem): ArrayItem | null {
  if (item.kind === 'unnest') {
    const array = resolveExpr(arrayContext(context), item.array);
    return arrayItem(context, array, item.alias, item.offset);
  }
  if (item.kind !== 'table_path' || !namesArray(context, item)) return null;
  const array = resolvePath(arrayContext(context), { kind: 'path', parts: item.path, span: item.span });
  return arrayItem(context, array, item.alias ?? item.path.at(-1) ?? null, item.offset);
}

const arrayContext = (context: FromContext): ReturnType<typeof plainContext> =>
  plainContext(context.session, fromScope(context), context.ctes, 'FROM clause');

function arrayItem(
  { session }: FromContext,
  array: Expr,
  alias: Identifier | null,
  offsetClause: OffsetClause | null,
): ArrayItem {
  if (array.type.kind !== 'ARRAY')
    throw invalid(
      `Values referenced in UNNEST must be arrays. UNNEST contains expression of type ${shortType(array.type)}.`,
      array.span,
    );
  const type: SqlType = array.type.element;
  const element = session.column(alias?.name ?? null, type);
  let list = NameList.value(alias?.name ?? null, element);
  if (offsetClause === null) return { array, element, offset: null, list };
  const name = offsetClause.alias?.name ?? 'offset';
  const offset = session.column(name, { kind: 'INT64' });
  list = list.merge(NameList.value(name, offset), () => {
    throw invalid(`Duplicate alias ${name} for the element and its offset.`, offsetClause.span);
  });
  return { array, element, offset, list };
}

function resolveArray(context: FromContext, item: FromItem): Source {
  const found = resolveArrayItem(context, item);
  if (found === null) throw new Error('not an array item');
  const { array, element, offset, list } = found;
  return { relation: { kind: 'unnest', input: null, array, element, offset, outer: false, on: null }, list };
}
