import type { Definition } from '../endpoints/definition';
import type { KeyScope } from '../keys/command';
import type { Surroundings } from './surroundings';

/** Names that an error lists where none of them is near. */
const MOST_LISTED = 10;

/**
 * What is wrong with the endpoints and pins that a key is made for; null: nothing. Where there are no stored queries, as on a
 * machine that only makes keys, they cannot be checked, and a note says so.
 */
export async function scopeFault(
  { endpoints, pinned }: KeyScope,
  directory: string,
  note: Surroundings['note'],
): Promise<string | null> {
  const named = [...(endpoints === '*' ? [] : endpoints), ...pinned.map((name) => `a parameter ${name}`)];
  if (named.length === 0) return null;
  const { readCatalogue } = await import('../endpoints/directory.js');
  const { nearest } = await import('../googlesql/resolver/index.js');
  const definitions = (await readCatalogue(directory)).files.map(({ definition }) => definition);
  const claims = definitions.flatMap((definition) => definition.claims);
  if (claims.length === 0) {
    note(`There are no stored queries in ${directory}: whether there is ${named.join(' and ')} was not checked.`);
    return null;
  }
  const hintAt = (wrong: string, right: readonly string[]): string => {
    const near = nearest(wrong, right);
    return near === undefined ? `There are ${right.slice(0, MOST_LISTED).join(', ')}.` : `Did you mean ${near}?`;
  };
  const unknown =
    endpoints === '*' ? undefined : endpoints.find((name) => !definitions.some((one) => isNamed(one, name)));
  if (unknown !== undefined) {
    const names = claims.flatMap(({ key, value }) => (key === 'name' ? value : [])).sort();
    return `--endpoints: there is no endpoint ${unknown} in ${directory}. ${hintAt(unknown, names)}`;
  }
  const run = definitions.filter((one) => endpoints === '*' || endpoints.some((name) => isNamed(one, name)));
  // What a faulty file declares is not known.
  if (run.some(({ draft }) => draft === null)) return null;
  const declared = [...new Set(run.flatMap(({ draft }) => draft?.parameters.map(({ name }) => name) ?? []))].sort();
  const undeclared = pinned.find((name) => !declared.includes(name));
  if (undeclared === undefined) return null;
  const none = `--pin: no endpoint that this key may run has a parameter ${undeclared}, so that it could run none.`;
  return declared.length === 0 ? none : `${none} ${hintAt(undeclared, declared)}`;
}

/** Whether a name or an id, in any case, is that of a stored query. */
function isNamed({ claims }: Definition, name: string): boolean {
  return claims.some(({ key, value }) => value === name || (key === 'id' && value === name.toLowerCase()));
}
