/** Queries each of whose rows comes of one row of one table, so that they can be run over rows as they arrive. */
import { QueryError } from './errors';
import { fromPaths } from './from-paths';
import { namedFunction } from './functions/catalogue';
import type { FromItem, Query, Select, Span, TablePath } from './tree';
import { forEachChild, type SyntaxNode, walk } from './tree-walk';

export interface RowByRow {
  /** The table, its parts joined by dots. */
  readonly table: string;
  /** The query without the ORDER BY and LIMIT of its outermost SELECT: blanks of the same length. */
  readonly sql: string;
}

/**
 * Reads a query as one that takes each row of a table by itself.
 *
 * @param sql what the query was parsed from
 * @throws QueryError invalidQuery for what looks at several rows
 */
export function rowByRow(query: Query, sql: string): RowByRow {
  return new Reader(query, sql).read();
}

/** Joins of a row to the elements of its own arrays. */
const JOINS = new Set(['comma', 'cross', 'inner', 'left']);

class Reader {
  readonly #paths: ReadonlyMap<SyntaxNode, ReturnType<typeof fromPaths>[number]>;
  /** Paths that the rows come through. */
  readonly #followed = new Set<SyntaxNode>();
  /** Entries of the WITH among them. */
  readonly #entries = new Set<unknown>([null]);
  #table = '';
  #blank: Span | null = null;

  constructor(
    private readonly root: Query,
    private readonly sql: string,
  ) {
    this.#paths = new Map(fromPaths(root).map((path) => [path.node, path]));
  }

  read(): RowByRow {
    this.#query(this.root, true);
    for (const { node, names, within } of this.#paths.values()) {
      if (names === 'array' || this.#followed.has(node) || !this.#entries.has(within)) continue;
      throw refusal('A second table', node.span);
    }
    const { start, end } = this.#blank ?? { start: 0, end: 0 };
    const sql = this.sql.slice(0, start) + ' '.repeat(end - start) + this.sql.slice(end);
    return { table: this.#table, sql };
  }

  #query({ body, orderBy, limit, pipes }: Query, outermost: boolean): void {
    const [pipe] = pipes;
    if (pipe !== undefined) throw refusal('A pipe operator', pipe.span);
    const end = limit?.span.end ?? orderBy.at(-1)?.span.end;
    if (end !== undefined && (!outermost || body.kind === 'query')) {
      if (limit !== null) throw refusal('LIMIT', limit.span);
    } else if (end !== undefined) {
      if (limit?.offset) throw refusal('OFFSET', limit.offset.span);
      this.#blank = { start: body.span.end, end };
    }
    switch (body.kind) {
      case 'query':
        return this.#query(body, outermost);
      case 'from_query':
        return this.#from(body.from);
      case 'set_operation':
        throw refusal('A set operation', body.span);
      case 'select':
        return this.#select(body);
    }
  }

  #select(select: Select): void {
    const { distinct, from, groupBy, having, qualify, windows, span } = select;
    if (distinct) throw refusal('SELECT DISTINCT', span);
    if (groupBy !== null) throw refusal('GROUP BY', groupBy.span);
    if (having !== null) throw refusal('HAVING', having.span);
    if (qualify !== null) throw refusal('QUALIFY', qualify.span);
    const [window] = windows;
    if (window !== undefined) throw refusal('WINDOW', window.span);
    if (from === null) throw refusal('SELECT without FROM', span);
    forEachChild(select, (child) => {
      if (child !== from) checkCalls(child);
    });
    this.#from(from);
  }

  #from(item: FromItem): void {
    switch (item.kind) {
      case 'table_path':
        return this.#path(item);
      case 'subquery_item':
        return this.#query(item.query, false);
      case 'parenthesised_join':
        return this.#from(item.item);
      case 'join': {
        const { left, right, type } = item;
        const isArray = right.kind === 'unnest' || this.#paths.get(right)?.names === 'array';
        if (!isArray || !JOINS.has(type)) throw refusal('A join with another table', item.span);
        return this.#from(left);
      }
      default:
        throw refusal('This in FROM', item.span);
    }
  }

  #path(item: TablePath): void {
    const path = this.#paths.get(item);
    if (path === undefined || path.names === 'array') throw refusal('An array in place of a table', item.span);
    this.#followed.add(item);
    if (path.names === 'table') {
      this.#table = item.path.map(({ name }) => name).join('.');
      if (this.#table.endsWith('*')) throw refusal('A wildcard table', item.span);
      return;
    }
    const { entry } = path;
    if (entry === null || this.#entries.has(entry)) throw refusal('A second table', item.span);
    this.#entries.add(entry);
    this.#query(entry.query, false);
  }
}

/** Aggregates of a row's own arrays are in queries of their own. */
function checkCalls(root: SyntaxNode): void {
  walk(root, (node) => {
    if (node.kind === 'query') return false;
    if (node.kind !== 'call') return true;
    const { name, fn } = namedFunction(node.path);
    if ((fn !== undefined && fn.mode !== 'scalar') || node.over !== null)
      throw refusal(`${name.toUpperCase()} over rows`, node.span);
    return true;
  });
}

function refusal(what: string, span: Span): QueryError {
  return new QueryError('invalidQuery', `${what} has no place in a live tail: its rows are given one by one.`, span, {
    hint: 'Send a plain SELECT over one table: columns, expressions, WHERE, and UNNEST of its own arrays.',
  });
}
