/** Names of tables in queries, on an engine that has one project and one data set. */

/** The table's own part of a path: what is before it names a project and a data set, which may be in the same backticks. */
export function nameIn(path: readonly string[]): string {
  return path.join('.').split('.').at(-1) ?? '';
}

/** Whether a name stands for those of several tables: `events_*` for all that begin like that. */
export function isWildcard(name: string): boolean {
  return name.endsWith('*');
}

/** Whether a name may mean a table, or rows of it: to a wildcard those of a day are in a table of their own (`Shard`). */
export function mayMean(name: string, table: string): boolean {
  const prefix = name.slice(0, -1);
  return isWildcard(name) ? table.startsWith(prefix) || prefix.startsWith(`${table}_`) : table === name;
}
