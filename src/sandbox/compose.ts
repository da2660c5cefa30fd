/**
 * Puts a consumer query in the place of the stored query's final statement. The original bytes of both are what runs:
 * nothing is printed back from a tree (sandbox.md, "The original text is what runs").
 */
import type { Span, WithEntry } from '../googlesql/syntax';
import { cteDependencies } from './dependencies';
import type { StoredQuery } from './stored-query';

export interface Composed {
  readonly sql: string;
  /** The consumer's text inside `sql`: an offset there less `start` is an offset into the text that was composed. */
  readonly consumer: Span;
}

/**
 * `WITH <the stored CTEs that are reached> (` newline, the consumer's statement, newline `)`. The line break ends a
 * comment that the consumer's text may close with; parentheses keep its ORDER BY and LIMIT.
 *
 * @param statement the consumer's text without its trailing semicolon
 * @param tables CTE tables that the consumer query reads itself; those they read come along
 */
export function compose(stored: StoredQuery, statement: string, tables: readonly string[]): Composed {
  const entries = reachedEntries(stored, tables);
  const ctes = entries.map((entry) => stored.sql.slice(entry.span.start, entry.span.end)).join(',\n');
  const head = ctes === '' ? '(\n' : `WITH ${ctes}\n(\n`;
  return {
    sql: `${head}${statement}\n)`,
    consumer: { start: head.length, end: head.length + statement.length },
  };
}

/** The WITH entries behind `tables`, transitively, in the order of the stored query. */
export function reachedEntries(stored: StoredQuery, tables: readonly string[]): readonly WithEntry[] {
  const entries = stored.query.with?.entries ?? [];
  const dependencies = cteDependencies(entries);
  const reached = new Set<string>();
  const reach = (name: string): void => {
    if (reached.has(name)) return;
    reached.add(name);
    for (const dependency of dependencies.get(name) ?? []) reach(dependency);
  };
  for (const table of tables) reach(table.toLowerCase());
  return entries.filter((entry) => reached.has(entry.name.name.toLowerCase()));
}
