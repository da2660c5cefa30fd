/** One SELECT in the making: clauses as text, and the SQL of each column that its rows have. */
import type { Names } from './names';
import type { PrintSession, Rows } from './session';

export interface Item {
  readonly sql: string;
  /** A name or a path of names: it may be repeated wherever the column is read. */
  readonly simple: boolean;
}

export interface Block {
  /** null: SELECT without FROM. */
  readonly from: string | null;
  /** Whether `from` is one item, which may stand right of a join without parentheses. */
  readonly oneItem: boolean;
  readonly where: readonly string[];
  /** Keys of GROUP BY; empty: none. */
  readonly groupBy: string;
  /** Whether a column is a window function, which is computed after WHERE and before ORDER BY. */
  readonly windowed: boolean;
  readonly orderBy: readonly OrderKey[];
  readonly limit: string | null;
  readonly columns: ReadonlyMap<number, Item>;
  /** BOOL expressions over the rows: TRUE or NULL on rows that the query is defined on; FALSE tells one that is not. */
  readonly guards: readonly string[];
}

export interface OrderKey {
  readonly sql: string;
  /** ` DESC NULLS FIRST` and the like. */
  readonly direction: string;
}

export const NO_ROWS_FROM: Block = {
  from: null,
  oneItem: true,
  where: [],
  groupBy: '',
  windowed: false,
  orderBy: [],
  limit: null,
  columns: new Map(),
  guards: [],
};

/** A SELECT from one item with nothing else to it yet. */
export function blockFrom(from: string, columns: ReadonlyMap<number, Item>, guards: readonly string[]): Block {
  return { ...NO_ROWS_FROM, from, columns, guards };
}

/** A condition that is TRUE on every row that the query is defined on; a null-extended side of a join says nothing. */
export function guardSql(guards: readonly string[]): string | null {
  return guards.length === 0 ? null : guards.map((guard) => `${guard} IS NOT FALSE`).join(' AND ');
}

/** The rows of a block, for expressions in its clauses; `outer`: rows around the query. */
export function rowsOf({ columns, guards }: Block, outer: Rows | null): Rows {
  return {
    column: (id) => {
      const item = columns.get(id);
      if (item === undefined) {
        if (outer === null) throw new Error(`no column ${id}`);
        return outer.column(id);
      }
      if (!item.simple) throw new Error(`column ${id} is not a name`);
      return item.sql;
    },
    guard: guardSql(guards),
  };
}

/** Whether columns of the block among these are expressions: to be read, they need a name first. */
export function readsExpression({ columns }: Block, read: ReadonlySet<number>): boolean {
  for (const id of read) if (columns.get(id)?.simple === false) return true;
  return false;
}

/** The block as a statement that selects `items`, in this order. */
export function selectSql(block: Block, items: readonly string[], as = ''): string {
  const { from, where, groupBy, orderBy, limit } = block;
  const keys = orderBy.map(({ sql, direction }) => sql + direction);
  return [
    `SELECT ${as}${items.join(', ')}`,
    from === null ? '' : ` FROM ${from}`,
    where.length === 0 ? '' : ` WHERE ${where.join(' AND ')}`,
    groupBy === '' ? '' : ` GROUP BY ${groupBy}`,
    keys.length === 0 ? '' : ` ORDER BY ${keys.join(', ')}`,
    limit ?? '',
  ].join('');
}

/** What a subquery selects: the columns under their names, and the guard of its rows. */
export function selectedItems(names: Names, { columns, guards }: Block, ids: Iterable<number>): string[] {
  const items: string[] = [];
  for (const id of ids) {
    const item = columns.get(id);
    if (item !== undefined) items.push(`${item.sql} AS ${names.column(id)}`);
  }
  const guard = guardSql(guards);
  if (guard !== null) items.push(`${guard} AS ${names.guard}`);
  return items.length === 0 ? [`1 AS ${names.prefix}c0`] : items;
}

/**
 * The block as a subquery in FROM, each needed column a name. With `ordered` the new block sorts its rows as the
 * subquery did: those of a subquery have no order.
 */
export function nested(session: PrintSession, block: Block, needed: ReadonlySet<number>, ordered = false): Block {
  const { names } = session;
  const alias = names.fresh('t');
  const ids = [...block.columns.keys()].filter((id) => needed.has(id));
  const items = selectedItems(names, block, ids);
  const keys = ordered ? block.orderBy.map((key) => ({ ...key, name: names.fresh('k') })) : [];
  items.push(...keys.map(({ sql, name }) => `${sql} AS ${name}`));
  session.count(items.length * names.column(0).length * 2);
  const from = `(${selectSql(block, items)}) AS ${alias}`;
  const columns = new Map(ids.map((id) => [id, { sql: `${alias}.${names.column(id)}`, simple: true }]));
  const guards = block.guards.length === 0 ? [] : [`${alias}.${names.guard}`];
  const orderBy = keys.map(({ name, direction }) => ({ sql: `${alias}.${name}`, direction }));
  return { ...blockFrom(from, columns, guards), orderBy };
}
