import type { Surroundings } from './surroundings';

/** Names that an error lists where none of them is near. */
const MOST_LISTED = 10;

/**
 * What is wrong with the endpoints that a key is made for; null: nothing. Where there are no stored queries, as on a machine
 * that only makes keys, they cannot be checked, and a note says so.
 */
export async function unknownEndpoint(
  wanted: readonly string[],
  directory: string,
  note: Surroundings['note'],
): Promise<string | null> {
  const { readCatalogue } = await import('../endpoints/index.js');
  const { nearest } = await import('../googlesql/resolver/index.js');
  const { files } = await readCatalogue(directory);
  const claims = files.flatMap(({ definition }) => definition.claims);
  if (claims.length === 0) {
    note(`There are no stored queries in ${directory}: whether there is ${wanted.join(' and ')} was not checked.`);
    return null;
  }
  const values = new Set(claims.map(({ value }) => value));
  const unknown = wanted.find((name) => !values.has(name) && !values.has(name.toLowerCase()));
  if (unknown === undefined) return null;
  const names = claims.flatMap(({ key, value }) => (key === 'name' ? value : [])).sort();
  const near = nearest(unknown, names);
  const hint = near === undefined ? `There are ${names.slice(0, MOST_LISTED).join(', ')}.` : `Did you mean ${near}?`;
  return `there is no endpoint ${unknown} in ${directory}. ${hint}`;
}
