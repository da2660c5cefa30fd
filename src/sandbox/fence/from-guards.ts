/** What FROM of a stored SELECT says of the rows that it leaves out. */
import { firstName, type FromItem, type Identifier, type Join, type Query } from '@logquay/googlesql/syntax';
import { quotedName } from '@logquay/googlesql/types';
import { Unfenceable } from './source-text';
import type { SourceText } from './source-text';
import { isVolatile, mayFail } from './written-totality';

/** Guard columns of the CTEs that may be named, by lower-case name; why a CTE has none. */
export type GuardScope = ReadonlyMap<string, string | Unfenceable>;

export interface FromGuards {
  /** Conditions, TRUE or FALSE, that are TRUE on every row that the query is defined on. */
  readonly conditions: readonly string[];
  /** Guard columns that a star would list, with the alias that they are columns of. */
  readonly columns: readonly { readonly alias: string | null; readonly guard: string }[];
}

export interface FromContext {
  readonly source: SourceText;
  readonly scope: GuardScope;
  /** Adds a guard column to a query in FROM; its name. @throws Unfenceable */
  readonly guardQuery: (query: Query) => string;
}

const NONE: FromGuards = { conditions: [], columns: [] };

/** @throws Unfenceable */
export function fromGuards(context: FromContext, item: FromItem): FromGuards {
  switch (item.kind) {
    case 'table_path': {
      const guard = item.path.length > 1 ? undefined : context.scope.get(firstName(item));
      if (guard instanceof Unfenceable) throw guard;
      return guard === undefined ? NONE : guardedTable(item.alias ?? item.path.at(-1) ?? null, guard);
    }
    case 'unnest':
      if (mayFail(item.array)) throw new Unfenceable('an UNNEST of an expression that may fail');
      return NONE;
    case 'subquery_item':
      return guardedTable(item.alias, context.guardQuery(item.query));
    case 'parenthesised_join':
      return fromGuards(context, item.item);
    case 'join':
      return joinGuards(context, item);
    case 'pivot':
      throw new Unfenceable('a PIVOT');
    case 'unpivot':
      throw new Unfenceable('an UNPIVOT');
    case 'table_function':
      throw new Unfenceable('a table function');
  }
}

/** The guard columns of the CTEs that FROM names itself. */
export function tableGuards(context: FromContext, item: FromItem): FromGuards['columns'] {
  switch (item.kind) {
    case 'table_path':
      return fromGuards(context, item).columns;
    case 'join':
      return [...tableGuards(context, item.left), ...tableGuards(context, item.right)];
    case 'parenthesised_join':
      return tableGuards(context, item.item);
    case 'pivot':
    case 'unpivot':
      throw new Unfenceable('a PIVOT or UNPIVOT in a subquery');
    case 'subquery_item':
    case 'unnest':
    case 'table_function':
      return [];
  }
}

function guardedTable(alias: Identifier | null, guard: string): FromGuards {
  const column = alias === null ? guard : `${written(alias)}.${guard}`;
  return {
    conditions: [`${column} IS NOT FALSE`],
    columns: [{ alias: alias?.name.toLowerCase() ?? null, guard }],
  };
}

function written({ name }: Identifier): string {
  return quotedName(name);
}

function joinGuards(context: FromContext, join: Join): FromGuards {
  const left = fromGuards(context, join.left);
  const right = fromGuards(context, join.right);
  return {
    conditions: [...left.conditions, ...right.conditions, ...joinConditions(context, join, right)],
    columns: [...left.columns, ...right.columns],
  };
}

function joinConditions({ source }: FromContext, join: Join, right: FromGuards): string[] {
  const { type, on, using } = join;
  if (using.length > 0) {
    if (type !== 'inner') throw new Unfenceable('an outer join with USING');
    return using.map(({ name }) => `(${columnOf(join.left, name)} = ${columnOf(join.right, name)}) IS TRUE`);
  }
  if (on === null || (on.kind === 'literal' && on.value.toLowerCase() === 'true')) return [];
  if (isVolatile(on)) throw new Unfenceable('a condition that is different each time');
  const condition = `(${source.expression(on.span)}) IS TRUE`;
  if (type === 'inner') return [condition];
  // Where the right side has no row its guard is NULL, and the condition says nothing.
  const [marker] = join.right.kind === 'table_path' || join.right.kind === 'subquery_item' ? right.columns : [];
  if (type !== 'left' || marker?.alias === undefined || marker.alias === null)
    throw new Unfenceable('an outer join to a table');
  return [`(\`${marker.alias}\`.${marker.guard} IS NULL OR ${condition})`];
}

function columnOf(item: FromItem, column: string): string {
  const alias = item.kind === 'table_path' ? (item.alias ?? item.path.at(-1)) : null;
  const named = alias ?? (item.kind === 'subquery_item' ? item.alias : null);
  if (named === null || named === undefined) throw new Unfenceable('a join with USING of more than two tables');
  return `${written(named)}.\`${column}\``;
}
