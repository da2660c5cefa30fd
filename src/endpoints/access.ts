import type { Key } from '../keys';

import type { Endpoint } from './endpoint';

/**
 * Whether the endpoint exists for this key (docs/keys.md): it is on the key's list, by name or by id, and declares
 * every parameter that the key pins, a list for a list, as a pin fences by the stored query's own filter on it.
 */
export function mayRun(key: Key, endpoint: Endpoint): boolean {
  const listed =
    key.endpoints === '*' ||
    key.endpoints.some((entry) => entry === endpoint.name || entry.toLowerCase() === endpoint.id);
  const declares = ([pin, value]: readonly [string, unknown]): boolean =>
    endpoint.parameters.some(({ name, list }) => name === pin && (list || typeof value === 'string'));
  return listed && [...key.pins].every(declares);
}
