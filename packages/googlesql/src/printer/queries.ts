/** Queries: as statements, as subqueries in expressions, as CTEs, as inputs of set operations. */
import type { Column, Cte, ResolvedQuery, SetRelation } from '../resolved';
import { blockFrom, guardSql, selectedItems, selectSql, type Block, type Item } from './block';
import { relationBlock } from './relations';
import type { PrintSession, Rows } from './session';

/** A statement whose result has the columns of the query, under their names and in its order. */
export function statementSql(session: PrintSession, query: ResolvedQuery): string {
  const block = outputBlock(session, query, null);
  const items = query.output.map(({ name, column }) => {
    const { sql, simple } = itemOf(block, column);
    if (query.valueTable) return sql;
    if (name !== null) return `${sql} AS ${session.printed(session.names.quoted(name))}`;
    // A path would lend the column its name.
    return simple ? `COALESCE(${sql})` : sql;
  });
  const select = selectSql(block, items, query.valueTable ? 'AS VALUE ' : '');
  const ctes = session.ctes.map(({ name, sql }) => `${name} AS (${sql})`);
  return ctes.length === 0 ? select : `WITH ${ctes.join(', ')} ${select}`;
}

/** A query in an expression, without parentheses. */
export function subquerySql(session: PrintSession, query: ResolvedQuery, outer: Rows): string {
  const block = outputBlock(session, query, outer);
  const items = query.output.map(({ column }) => namedItem(session, block, column));
  return selectSql(block, items.length === 0 ? ['1'] : items);
}

/** The name of a CTE, which is printed when something first reads it. */
export function ensureCte(session: PrintSession, { id, query }: Cte): string {
  const name = session.names.cte(id);
  if (session.guardedCtes.has(id)) return name;
  const block = outputBlock(session, query, null);
  session.guardedCtes.set(id, block.guards.length > 0);
  const ids = new Set(query.output.map(({ column }) => column.id).filter((column) => session.isReadOfCte(column)));
  session.ctes.push({ name, sql: selectSql(block, selectedItems(session.names, block, ids)) });
  return name;
}

/**
 * A set operation. The guard is one more column of every input: TRUE on all rows that the query is defined on, so that it
 * tells none of them apart.
 */
export function setBlock(session: PrintSession, relation: SetRelation, outer: Rows | null): Block {
  const { names } = session;
  const { operator, distinct, inputs, columns } = relation;
  const blocks = inputs.map((query) => ({ query, block: outputBlock(session, query, outer) }));
  const guarded = blocks.some(({ block }) => block.guards.length > 0);
  const branches = blocks.map(({ query, block }) => {
    const items = columns.map(({ id }, i) => {
      const output = query.output[i];
      if (output === undefined) throw new Error('every input has the same columns');
      return `${itemOf(block, output.column).sql} AS ${session.printed(names.column(id))}`;
    });
    if (guarded) items.push(`${guardSql(block.guards) ?? 'TRUE'} AS ${names.guard}`);
    return `(${selectSql(block, items)})`;
  });
  const alias = names.fresh('t');
  const between = ` ${operator.toUpperCase()} ${distinct ? 'DISTINCT' : 'ALL'} `;
  const items = columns.map(({ id }): [number, Item] => [id, { sql: `${alias}.${names.column(id)}`, simple: true }]);
  const from = `(${branches.join(between)}) AS ${alias}`;
  return blockFrom(from, new Map(items), guarded ? [`${alias}.${names.guard}`] : []);
}

function outputBlock(session: PrintSession, query: ResolvedQuery, outer: Rows | null): Block {
  return relationBlock(session, query.relation, new Set(query.output.map(({ column }) => column.id)), outer);
}

function itemOf({ columns }: Block, { id }: Column): Item {
  const item = columns.get(id);
  if (item === undefined) throw new Error(`no column ${id} to select`);
  return item;
}

function namedItem(session: PrintSession, block: Block, column: Column): string {
  return `${itemOf(block, column).sql} AS ${session.names.column(column.id)}`;
}
