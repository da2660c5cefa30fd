import { ServiceError } from '../errors';
import type { Key } from '../keys/key';

/** Milliseconds between two looks whether the key of a long answer, and its endpoint, are what they were. */
export const LOOK_AGAIN = 500;

/**
 * The key of a long answer as it is now.
 *
 * @throws ServiceError unauthenticated: it is not valid any more, or may do something else
 */
export function currentKey(authenticate: () => Key, before: Key): Key {
  const now = authenticate();
  if (now === before || rightsOf(now) === rightsOf(before)) return now;
  throw new ServiceError('unauthenticated', 'The key may do something else now.');
}

function rightsOf({ name, endpoints, pins, redact, allowSql, export: mayExport, expires }: Key): string {
  return JSON.stringify([name, endpoints, [...pins].sort(), redact, allowSql, mayExport, expires]);
}
