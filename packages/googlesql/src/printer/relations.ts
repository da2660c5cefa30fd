/** Relations as SELECTs: each operator joins the SELECT below it where its clause comes later, and else nests it. */
import type { ComputedColumn, Expr, Relation } from '../resolved';
import { relationExpressions } from '../resolved-walk';
import { constantSql, directionSql, windowSql, aggregateBlock } from './grouping';
import { nested, NO_ROWS_FROM, readsExpression, rowsOf, type Block, type Item } from './block';
import { exprSql } from './expressions';
import { cteBlock, joinBlock, tableBlock, unnestBlock } from './from';
import { setBlock } from './queries';
import { columnsRead } from '../columns-read';
import type { PrintSession, Rows } from './session';

/**
 * @param needed ids of the columns that are read above
 * @param outer rows around the query, whose columns it may read; null: none
 */
export function relationBlock(
  session: PrintSession,
  relation: Relation,
  needed: ReadonlySet<number>,
  outer: Rows | null,
): Block {
  switch (relation.kind) {
    case 'single_row':
      return NO_ROWS_FROM;
    case 'table':
      return tableBlock(session, relation);
    case 'cte':
      return cteBlock(session, relation);
    case 'query':
      return relationBlock(session, relation.query.relation, needed, outer);
    case 'set':
      return setBlock(session, relation, outer);
    case 'unnest':
      return unnestBlock(session, relation, needed, outer);
    case 'join':
      return joinBlock(session, relation, needed, outer);
    case 'aggregate':
      return aggregateBlock(session, relation, needed, outer);
    case 'filter': {
      const block = below(session, relation, needed, outer, isBeforeWhere);
      const condition = exprSql(session, relation.condition, rowsOf(block, outer));
      return { ...block, where: [...block.where, condition] };
    }
    case 'compute': {
      const block = below(session, relation, needed, outer, isBeforeSelect);
      const rows = rowsOf(block, outer);
      return withColumns(
        block,
        relation.columns
          .filter(({ column }) => needed.has(column.id))
          .map((computed) => [computed.column.id, itemOf(session, computed, rows)]),
      );
    }
    case 'window': {
      const block = below(session, relation, needed, outer, isBeforeSelect);
      const rows = rowsOf(block, outer);
      const items = relation.functions.map(({ column, call }): [number, Item] => [
        column.id,
        { sql: windowSql(session, call, rows), simple: false },
      ]);
      return { ...withColumns(block, items), windowed: true };
    }
    case 'sort': {
      const block = below(session, relation, needed, outer, isBeforeSort);
      const rows = rowsOf(block, outer);
      const orderBy = relation.keys.map((key) => ({
        sql: exprSql(session, key.expr, rows),
        direction: directionSql(key),
      }));
      return { ...block, orderBy };
    }
    case 'limit': {
      const inner = relationBlock(session, relation.input, needed, outer);
      const block = inner.limit === null ? inner : nested(session, inner, needed, true);
      const rows = rowsOf(block, outer);
      const offset = relation.offset === null ? '' : ` OFFSET ${constantSql(session, relation.offset, rows)}`;
      return { ...block, limit: ` LIMIT ${constantSql(session, relation.count, rows)}${offset}` };
    }
  }
}

type Operator = Extract<Relation, { readonly input: Relation }>;

/**
 * The input of an operator as a block that its clause can be put into: nested where `fits` says no, or where the operator
 * reads a column that is an expression.
 */
function below(
  session: PrintSession,
  relation: Operator,
  needed: ReadonlySet<number>,
  outer: Rows | null,
  fits: (block: Block) => boolean,
): Block {
  return inputBlock(session, relation.input, relationExpressions(relation), needed, outer, fits);
}

export function inputBlock(
  session: PrintSession,
  input: Relation,
  exprs: readonly Expr[],
  needed: ReadonlySet<number>,
  outer: Rows | null,
  fits: (block: Block) => boolean,
): Block {
  const read = columnsRead(exprs);
  const all = new Set([...needed, ...read]);
  const block = relationBlock(session, input, all, outer);
  return fits(block) && !readsExpression(block, read) ? block : nested(session, block, all);
}

const isUnsorted = ({ orderBy, limit }: Block): boolean => orderBy.length === 0 && limit === null;

function isBeforeWhere(block: Block): boolean {
  return block.from !== null && isBeforeSelect(block);
}

/** More columns may be computed on the rows that there are. */
export function isBeforeSelect(block: Block): boolean {
  return !block.windowed && isUnsorted(block);
}

function isBeforeSort(block: Block): boolean {
  return block.from !== null && isUnsorted(block);
}

/** A block of nothing but FROM, whose items may be joined to others. */
export function isOnlyFrom(block: Block, needed: ReadonlySet<number>): boolean {
  return isBeforeWhere(block) && block.where.length === 0 && !readsExpression(block, needed);
}

function withColumns(block: Block, added: readonly (readonly [number, Item])[]): Block {
  return { ...block, columns: new Map([...block.columns, ...added]) };
}

/** A column that is another's name or a path to a field of it needs no name of its own. */
function itemOf(session: PrintSession, { expr }: ComputedColumn, rows: Rows): Item {
  return { sql: exprSql(session, expr, rows), simple: isPath(expr) };
}

function isPath(expr: Expr): boolean {
  if (expr.kind === 'column') return true;
  if (expr.kind !== 'field' || expr.input.type.kind !== 'STRUCT' || !isPath(expr.input)) return false;
  const { fields } = expr.input.type;
  const name = fields[expr.index]?.name?.toLowerCase();
  return name !== undefined && fields.filter((field) => field.name?.toLowerCase() === name).length === 1;
}
