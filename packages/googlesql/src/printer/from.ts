/** FROM: tables, CTEs, arrays, joins. */
import type { CteScan, Expr, JoinRelation, TableScan, UnnestScan } from '../resolved';
import { blockFrom, guardSql, nested, rowsOf, type Block, type Item } from './block';
import { exprSql } from './expressions';
import { ensureCte } from './queries';
import { columnsRead } from '../columns-read';
import { isOnlyFrom, relationBlock } from './relations';
import type { PrintSession, Rows } from './session';

export function tableBlock(session: PrintSession, { table, columns }: TableScan): Block {
  const { names } = session;
  for (const { name } of table.columns) names.seen(name);
  const alias = names.fresh('t');
  const items = columns.map(({ column, source }): [number, Item] => [
    column.id,
    { sql: `${alias}.${names.quoted(source)}`, simple: true },
  ]);
  const guard = session.guardOf(table.name);
  const guards = guard === null ? [] : [`${alias}.${names.quoted(guard)}`];
  return blockFrom(session.printed(`${names.quoted(table.name)} AS ${alias}`), new Map(items), guards);
}

export function cteBlock(session: PrintSession, { cte, columns }: CteScan): Block {
  const { names } = session;
  const name = ensureCte(session, cte);
  const alias = names.fresh('t');
  const items = columns.map(({ column, source }): [number, Item] => [
    column.id,
    { sql: `${alias}.${names.column(source.id)}`, simple: true },
  ]);
  const guards = session.guardedCtes.get(cte.id) === true ? [`${alias}.${names.guard}`] : [];
  return blockFrom(session.printed(`${name} AS ${alias}`), new Map(items), guards);
}

/** Array elements: joined to the rows that the array is of, or alone. */
export function unnestBlock(
  session: PrintSession,
  scan: UnnestScan,
  needed: ReadonlySet<number>,
  outer: Rows | null,
): Block {
  const { names } = session;
  const { input, array, element, offset, on } = scan;
  if (element.type.kind === 'STRUCT') for (const { name } of element.type.fields) if (name !== null) names.seen(name);
  const before = input === null ? null : fromBlock(session, input, [array, on], needed, outer);
  const own: [number, Item][] = [[element.id, { sql: names.column(element.id), simple: true }]];
  if (offset !== null) own.push([offset.id, { sql: names.column(offset.id), simple: true }]);
  const rows = before === null ? outerRows(outer) : rowsOf(before, outer);
  const ordinal = offset === null ? '' : ` WITH OFFSET AS ${names.column(offset.id)}`;
  const item = `UNNEST(${exprSql(session, array, rows)}) AS ${names.column(element.id)}${ordinal}`;
  if (before === null) return blockFrom(item, new Map(own), []);

  const joined: Block = { ...before, oneItem: false, columns: new Map([...before.columns, ...own]) };
  const condition = on === null ? null : exprSql(session, on, rowsOf(joined, outer));
  const from = scan.outer
    ? `${before.from} LEFT JOIN ${item} ON ${condition ?? 'TRUE'}`
    : condition === null
      ? `${before.from} CROSS JOIN ${item}`
      : `${before.from} JOIN ${item} ON ${condition}`;
  return { ...joined, from };
}

/** An array without rows beside it may read those around the query, and nothing else. */
function outerRows(outer: Rows | null): Rows {
  return (
    outer ?? {
      column: (id) => {
        throw new Error(`no column ${id}`);
      },
      guard: null,
    }
  );
}

const JOINS: Readonly<Record<JoinRelation['type'], string>> = {
  inner: 'JOIN',
  left: 'LEFT JOIN',
  right: 'RIGHT JOIN',
  full: 'FULL JOIN',
};

export function joinBlock(
  session: PrintSession,
  join: JoinRelation,
  needed: ReadonlySet<number>,
  outer: Rows | null,
): Block {
  const left = fromBlock(session, join.left, [join.on], needed, outer);
  const right = fromBlock(session, join.right, [join.on], needed, outer);
  const joined: Block = {
    ...left,
    oneItem: false,
    columns: new Map([...left.columns, ...right.columns]),
    guards: [...left.guards, ...right.guards],
  };
  const item = right.oneItem ? right.from : `(${right.from})`;
  const cross = join.type === 'inner' && join.on === null;
  const condition = cross
    ? ''
    : ` ON ${join.on === null ? 'TRUE' : conditionSql(session, join.on, left, right, outer)}`;
  return { ...joined, from: `${left.from} ${cross ? 'CROSS JOIN' : JOINS[join.type]} ${item}${condition}` };
}

/** A side of a join: tables, subqueries and arrays, and nothing that comes after FROM. */
function fromBlock(
  session: PrintSession,
  relation: JoinRelation['left'],
  exprs: readonly (Expr | null)[],
  needed: ReadonlySet<number>,
  outer: Rows | null,
): Block {
  const all = columnsRead(exprs, new Set(needed));
  const block = relationBlock(session, relation, all, outer);
  return isOnlyFrom(block, all) ? block : nested(session, block, all);
}

/**
 * The condition of a join. BigQuery joins by equalities between a value of one side and a value of the other, and takes
 * no outer join without one: such values stay values of their side, each under the guard of that side alone. Everything
 * else is under the guards of both.
 */
function conditionSql(session: PrintSession, on: Expr, left: Block, right: Block, outer: Rows | null): string {
  const columns = new Map([...left.columns, ...right.columns]);
  const side = (guards: readonly string[]): Rows => ({
    ...rowsOf({ ...left, columns }, outer),
    guard: guardSql(guards),
  });
  const both = side([...left.guards, ...right.guards]);
  const sideOf = (operand: Expr): Rows => {
    const read = [...columnsRead([operand])];
    if (read.length === 0) return both;
    if (read.every((id) => left.columns.has(id))) return side(left.guards);
    return read.every((id) => right.columns.has(id)) ? side(right.guards) : both;
  };
  const conjuncts = on.kind === 'call' && on.function === '$and' ? on.args : [on];
  return conjuncts
    .map((conjunct) => {
      const [a, b] = conjunct.kind === 'call' && conjunct.function === '$equal' ? conjunct.args : [];
      if (a === undefined || b === undefined) return exprSql(session, conjunct, both);
      const [first, second] = [sideOf(a), sideOf(b)];
      const keyed = first !== both && second !== both && first.guard !== second.guard;
      return `${exprSql(session, a, keyed ? first : both)} = ${exprSql(session, b, keyed ? second : both)}`;
    })
    .join(' AND ');
}
