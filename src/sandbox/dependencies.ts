/** Which entries of one WITH list each entry reads: for leaving out those that a query does not reach. */
import type { WithEntry } from '../googlesql/syntax';
import { visitTablePaths } from '../googlesql/walk';

/**
 * Entry name in lower case → names of earlier entries that may be read by it. A name hidden by an inner WITH counts
 * too: reaching an entry too many costs nothing, one too few would read a real table.
 */
export function cteDependencies(entries: readonly WithEntry[]): ReadonlyMap<string, readonly string[]> {
  const earlier = new Set<string>();
  const dependencies = new Map<string, readonly string[]>();
  for (const entry of entries) {
    const name = entry.name.name.toLowerCase();
    const read = new Set<string>();
    visitTablePaths(entry.query, (path) => {
      const first = path[0]?.name.toLowerCase();
      if (first !== undefined && earlier.has(first)) read.add(first);
    });
    dependencies.set(name, [...read]);
    earlier.add(name);
  }
  return dependencies;
}
