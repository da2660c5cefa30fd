/**
 * Puts a consumer query in the place of the stored query's final statement. The original bytes of both are what runs,
 * unless the query has to be fenced (docs/sandbox.md).
 */
import { firstName, fromPaths, type Query, type Span, type WithEntry, walk } from '@logquay/googlesql/syntax';
import type { StoredQuery } from './stored-query';

/** Which entries of one WITH each entry reads: for leaving out those that a query does not reach. */

type Dependencies = ReadonlyMap<string, ReadonlySet<string>>;

/** Of a stored query they are looked up for each text that a consumer sends. */
const known = new WeakMap<readonly WithEntry[], Dependencies>();

/** Entry name → names of earlier entries that it reads, all in lower case. */
function cteDependencies(entries: readonly WithEntry[]): Dependencies {
  let found = known.get(entries);
  if (found === undefined) known.set(entries, (found = dependenciesOf(entries)));
  return found;
}

function dependenciesOf(entries: readonly WithEntry[]): Dependencies {
  const dependencies = new Map<string, ReadonlySet<string>>();
  for (const { name, query } of entries) {
    const read = fromPaths(query, dependencies.keys()).filter((path) => path.names === 'cte' && path.entry === null);
    dependencies.set(name.name.toLowerCase(), new Set(read.map(({ node }) => firstName(node))));
  }
  return dependencies;
}

export interface Composed {
  readonly sql: string;
  /** The consumer's text inside `sql`. */
  readonly consumer: Span;
  /** Lower-case names of the parameters that the stored part of `sql` holds. */
  readonly parameters: ReadonlySet<string>;
  /** The CTE tables whose definitions came along, as the stored query spells them. */
  readonly reached: readonly string[];
}

/**
 * `WITH <the stored CTEs that are reached> (` newline, the consumer's statement, newline `)`. The line break ends a
 * comment that the consumer's text may close with; the parentheses keep its ORDER BY and LIMIT.
 *
 * @param statement the consumer's text without a trailing semicolon
 * @param tables CTE tables that the statement reads itself; those that they read come along
 */
export function compose(stored: StoredQuery, statement: string, tables: readonly string[]): Composed {
  const entries = reachedEntries(stored, tables);
  return composed(
    entries,
    entries.map(({ span }) => stored.sql.slice(span.start, span.end)),
    statement,
  );
}

/**
 * As `compose`, each stored CTE with its guard column: for a statement that was printed to look at nothing else.
 *
 * @param ctes the definitions of the CTE tables by lower-case name
 */
export function composeFenced(
  stored: StoredQuery,
  statement: string,
  tables: readonly string[],
  ctes: ReadonlyMap<string, string>,
): Composed {
  const entries = reachedEntries(stored, tables);
  const definitions = entries.map(({ name }) => {
    const sql = ctes.get(name.name.toLowerCase());
    if (sql === undefined) throw new Error(`No guard for ${name.name}.`);
    return sql;
  });
  return composed(entries, definitions, statement);
}

function composed(entries: readonly WithEntry[], definitions: readonly string[], statement: string): Composed {
  const ctes = definitions.join(',\n');
  const head = ctes === '' ? '(\n' : `WITH ${ctes}\n(\n`;
  return {
    sql: `${head}${statement}\n)`,
    consumer: { start: head.length, end: head.length + statement.length },
    parameters: new Set(entries.flatMap(({ query }) => parameterNames(query))),
    reached: entries.map(({ name }) => name.name),
  };
}

/** The CTE tables that the stored query's own final statement reaches. */
export function tablesOfStoredQuery(stored: StoredQuery): readonly string[] {
  const entries = stored.query.with?.entries ?? [];
  const read = fromPaths(stored.query).flatMap((path) =>
    path.within === null && path.names === 'cte' && path.entry !== null && entries.includes(path.entry)
      ? [path.entry.name.name]
      : [],
  );
  return reachedEntries(stored, read).map(({ name }) => name.name);
}

/** The WITH entries behind `tables`, transitively, in the order of the stored query. */
export function reachedEntries(stored: StoredQuery, tables: readonly string[]): readonly WithEntry[] {
  const entries = stored.query.with?.entries ?? [];
  const dependencies = cteDependencies(entries);
  const reached = new Set<string>();
  const reach = (name: string): void => {
    if (reached.has(name)) return;
    reached.add(name);
    dependencies.get(name)?.forEach(reach);
  };
  for (const table of tables) reach(table.toLowerCase());
  return entries.filter(({ name }) => reached.has(name.name.toLowerCase()));
}

/** The parameters that queries of CTEs name, in lower case: they are looked up for each text that a consumer sends. */
const namedBy = new WeakMap<Query, readonly string[]>();

function parameterNames(query: Query): readonly string[] {
  const known = namedBy.get(query);
  if (known !== undefined) return known;
  const names: string[] = [];
  walk(query, (node) => {
    if (node.kind === 'parameter' && node.form === 'named') names.push(node.name.toLowerCase());
  });
  namedBy.set(query, names);
  return names;
}
