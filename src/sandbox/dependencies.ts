/** Which entries of one WITH each entry reads: for leaving out those that a query does not reach. */
import { firstName, fromPaths } from '../googlesql/from-paths';
import type { WithEntry } from '../googlesql/syntax';

type Dependencies = ReadonlyMap<string, ReadonlySet<string>>;

/** Of a stored query they are looked up for each text that a consumer sends. */
const known = new WeakMap<readonly WithEntry[], Dependencies>();

/** Entry name → names of earlier entries that it reads, all in lower case. */
export function cteDependencies(entries: readonly WithEntry[]): Dependencies {
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
