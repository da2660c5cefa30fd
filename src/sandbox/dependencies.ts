/** Which entries of one WITH each entry reads: for leaving out those that a query does not reach. */
import type { WithEntry } from '../googlesql/syntax';
import { walk } from '../googlesql/walk';

/**
 * Entry name in lower case → names of earlier entries that it may read. A name that an inner WITH hides counts too:
 * one entry too many costs nothing, one too few would read a real table.
 */
export function cteDependencies(entries: readonly WithEntry[]): ReadonlyMap<string, ReadonlySet<string>> {
  const dependencies = new Map<string, ReadonlySet<string>>();
  for (const entry of entries) {
    const read = new Set<string>();
    walk(entry.query, (node) => {
      const name = node.kind === 'table_path' ? node.path[0]?.name.toLowerCase() : undefined;
      if (name !== undefined && dependencies.has(name)) read.add(name);
    });
    dependencies.set(entry.name.name.toLowerCase(), read);
  }
  return dependencies;
}
