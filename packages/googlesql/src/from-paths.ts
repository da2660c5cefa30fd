/**
 * What each path in FROM names: a table, or an array of a row. The resolver, the sandbox and the catalogue all go by this.
 *
 * A path of one part is always a table. One of several parts is an array where its first part is a name in scope, else a
 * table. A WITH name is visible to later entries and to the body, never to its own query unless the WITH is recursive.
 */
import type { FromItem, Identifier, JoinSide, PipeOperator, Query, QueryBody } from './tree';
import type { Select, TablePath, WithClause, WithEntry } from './tree';
import { forEachChild, type SyntaxNode, walk } from './tree-walk';

/** @param inScope whether a row has the name: a range variable or a column of it */
export function isArrayPath(path: readonly Identifier[], inScope: (name: string) => boolean): boolean {
  const [first] = path;
  return first !== undefined && path.length > 1 && inScope(first.name);
}

export type FromPath = {
  readonly node: TablePath;
  /** The entry of the query's own WITH that the path is part of; null: the final statement. */
  readonly within: WithEntry | null;
} & (
  | { readonly names: 'array' }
  /** `entry`: its definition; null: the name was given to `fromPaths`. */
  | { readonly names: 'cte'; readonly entry: WithEntry | null }
  | { readonly names: 'table' }
);

/**
 * Every path in FROM of a query and of all queries in it, in no order. Only aliases count as names in scope: which columns
 * tables have is not known here, and an array of a column without its alias is reported as a table.
 *
 * @param given names of tables in lower case that are visible like entries of a WITH around the query
 */
export function fromPaths(query: Query, given: Iterable<string> = []): readonly FromPath[] {
  const reader = new Reader(query);
  reader.query(query, new Map(Array.from(given, (name) => [name, null])), NO_ALIASES);
  return reader.found;
}

/** The paths in FROM that name tables which no WITH of the query defines. */
export function tablesRead(query: Query): readonly FromPath[] {
  return fromPaths(query).filter(({ names }) => names === 'table');
}

/** The name of a path's first part, in lower case. */
export function firstName({ path }: TablePath): string {
  return folded(path[0]?.name ?? '');
}

/**
 * A name without its case. GoogleSQL ignores the case of ASCII letters alone: a Kelvin sign is no k, and what is called so
 * does not hide a table k.
 */
function folded(name: string): string {
  return name.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

/** Definitions of visible WITH names by lower-case name; null: defined elsewhere. */
type Ctes = ReadonlyMap<string, WithEntry | null>;
type Aliases = ReadonlySet<string>;

const NO_ALIASES: Aliases = new Set();

class Reader {
  readonly found: FromPath[] = [];
  #within: WithEntry | null = null;

  constructor(private readonly root: Query) {}

  /** Returns the aliases of its rows, which a FROM around it sees unless it gives the query an alias. */
  query(query: Query, around: Ctes, outer: Aliases): readonly string[] {
    let ctes = query.with === null ? around : this.#with(query.with, around, query === this.root);
    const { own, visible } = this.#body(query.body, ctes, outer);
    const entries = query.with?.entries ?? [];
    this.#others(query, [query.body, ...entries.map((entry) => entry.query), ...query.pipes], ctes, visible);
    let rows = own;
    for (const operator of query.pipes) {
      if (operator.kind === 'pipe_with') ctes = this.#with(operator.with, ctes, false);
      else rows = this.#pipe(operator, ctes, outer, rows);
    }
    return rows;
  }

  /** A CTE's query sees no alias around it. */
  #with({ entries, recursive }: WithClause, around: Ctes, isOfRoot: boolean): Ctes {
    const ctes = new Map(around);
    const define = (entry: WithEntry): unknown => ctes.set(folded(entry.name.name), entry);
    if (recursive) entries.forEach(define);
    for (const entry of entries) {
      if (isOfRoot) this.#within = entry;
      this.query(entry.query, new Map(ctes), NO_ALIASES);
      if (isOfRoot) this.#within = null;
      define(entry);
    }
    return ctes;
  }

  /** `own`: aliases of the rows that it gives; `visible`: those that an ORDER BY behind it sees. */
  #body(body: QueryBody, ctes: Ctes, outer: Aliases): { readonly own: readonly string[]; readonly visible: Aliases } {
    switch (body.kind) {
      case 'query':
        return { own: this.query(body, ctes, outer), visible: outer };
      case 'set_operation':
        for (const input of body.inputs) this.#body(input, ctes, outer);
        return { own: [], visible: outer };
      case 'select':
        return { own: [], visible: this.#select(body, ctes, outer) };
      case 'from_query':
        return { own: this.#from(body.from, ctes, outer, outer), visible: outer };
    }
  }

  #select(select: Select, ctes: Ctes, outer: Aliases): Aliases {
    const own = select.from === null ? [] : this.#from(select.from, ctes, outer, outer);
    const aliases = new Set([...outer, ...own]);
    this.#others(select, [select.from], ctes, aliases);
    return aliases;
  }

  /** Reads one pipe operator over rows with the aliases `rows`; returns the aliases after it. */
  #pipe(operator: PipeOperator, ctes: Ctes, outer: Aliases, rows: readonly string[]): readonly string[] {
    if (operator.kind === 'pipe_join') return this.#joined(operator, rows, ctes, outer, outer);
    if (operator.kind === 'pipe_set_operation') {
      for (const input of operator.inputs) this.query(input, ctes, outer);
      return [];
    }
    this.#others(operator, [], ctes, new Set([...outer, ...rows]));
    switch (operator.kind) {
      case 'pipe_as':
        return aliasOf(operator.alias);
      case 'pipe_pivot':
      case 'pipe_unpivot':
        return aliasOf(operator.alias);
      case 'pipe_select':
      case 'pipe_aggregate':
        return [];
      case 'pipe_drop': {
        const dropped = new Set(operator.columns.map(({ name }) => folded(name)));
        return rows.filter((name) => !dropped.has(name));
      }
      case 'pipe_extend':
      case 'pipe_set':
      case 'pipe_rename':
      case 'pipe_where':
      case 'pipe_distinct':
      case 'pipe_order_by':
      case 'pipe_limit':
      case 'pipe_with':
        return rows;
    }
  }

  /**
   * Reads one FROM item and returns the aliases it brings. `outer` are rows of enclosing queries, `scope` those and earlier
   * items of the same FROM: an array path sees `scope`, a FROM subquery is not lateral and sees `outer`.
   */
  #from(item: FromItem, ctes: Ctes, outer: Aliases, scope: Aliases): readonly string[] {
    switch (item.kind) {
      case 'table_path':
        this.found.push({ node: item, within: this.#within, ...this.#named(item, ctes, scope) });
        return aliasOf(item.alias ?? item.path.at(-1) ?? null);
      case 'unnest':
        this.#expression(item.array, ctes, scope);
        return aliasOf(item.alias);
      case 'subquery_item': {
        const rows = this.query(item.query, ctes, outer);
        return item.alias === null ? rows : aliasOf(item.alias);
      }
      case 'join':
        return this.#joined(item, this.#from(item.left, ctes, outer, scope), ctes, outer, scope);
      // Nothing inside the parentheses sees an alias of the same FROM outside them.
      case 'parenthesised_join':
        return this.#from(item.item, ctes, outer, outer);
      case 'pivot':
      case 'unpivot': {
        const input = this.#from(item.input, ctes, outer, scope);
        this.#others(item, [item.input], ctes, new Set([...scope, ...input]));
        return aliasOf(item.alias);
      }
      case 'table_function':
        return aliasOf(item.alias);
    }
  }

  #joined(
    join: JoinSide & SyntaxNode,
    left: readonly string[],
    ctes: Ctes,
    outer: Aliases,
    scope: Aliases,
  ): readonly string[] {
    const right = this.#from(join.right, ctes, outer, new Set([...scope, ...left]));
    const both = [...left, ...right];
    if (join.on !== null) this.#expression(join.on, ctes, new Set([...scope, ...both]));
    return both;
  }

  #named(
    item: TablePath,
    ctes: Ctes,
    scope: Aliases,
  ): { names: 'array' | 'table' } | { names: 'cte'; entry: WithEntry | null } {
    if (isArrayPath(item.path, (name) => scope.has(folded(name)))) return { names: 'array' };
    const entry = item.path.length === 1 ? ctes.get(firstName(item)) : undefined;
    return entry === undefined ? { names: 'table' } : { names: 'cte', entry };
  }

  /** The expressions of a node beside what is read of it already. */
  #others(node: SyntaxNode, read: readonly (SyntaxNode | null)[], ctes: Ctes, aliases: Aliases): void {
    forEachChild(node, (child) => {
      if (!read.includes(child)) this.#expression(child, ctes, aliases);
    });
  }

  #expression(expression: SyntaxNode, ctes: Ctes, aliases: Aliases): void {
    walk(expression, (node) => {
      if (node.kind !== 'query') return true;
      this.query(node, ctes, aliases);
      return false;
    });
  }
}

function aliasOf(identifier: Identifier | null): readonly string[] {
  return identifier === null ? [] : [folded(identifier.name)];
}
