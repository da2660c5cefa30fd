import { type ConsumerRequest, type Endpoint, mayRun, type RawEntry } from '../endpoints';
import { ServiceError } from '../errors';
import type { Key } from '../keys/key';

/** The endpoint, if it exists for this key. @throws ServiceError notFound, in the same words for both reasons */
export function allowedEndpoint(endpoint: Endpoint | null, key: Key): Endpoint {
  if (endpoint !== null && mayRun(key, endpoint)) return endpoint;
  throw new ServiceError('notFound', 'There is no such endpoint, or this key may not run it.');
}

/**
 * What the key may not do although it may run the endpoint.
 *
 * @throws ServiceError accessDenied
 */
export function checkRights(asked: ConsumerRequest, given: readonly RawEntry[], key: Key, endpoint: Endpoint): void {
  // How many bytes a query would read tells of rows behind the fence.
  if (asked.dryRun && key.pins.size > 0) {
    throw new ServiceError('accessDenied', 'A key with pinned parameters may not ask for a dry run.', {
      parameter: 'dry_run',
    });
  }
  if (!redactionBinds(key, endpoint)) return;
  // Redaction is a mask on results: a query that takes values apart would get around it.
  if (asked.query !== null) {
    const { language } = asked.query;
    throw new ServiceError('accessDenied', `"${language}" may not be used where redaction is forced.`, {
      parameter: language,
    });
  }
  // So would a pattern, character by character: which rows match tells what the mask hides.
  const pattern = endpoint.parameters.find(
    ({ name, type }) => type === 'regex' && !key.pins.has(name) && isSent(given, name),
  );
  if (pattern === undefined) return;
  throw new ServiceError(
    'accessDenied',
    `Parameter "${pattern.name}" is a regular expression, which may not be sent where redaction is forced.`,
    { parameter: pattern.name },
  );
}

/** Whether redaction is forced and the key may not search behind it (docs/redaction.md). */
export function redactionBinds(key: Key, endpoint: Pick<Endpoint, 'redactPii'>): boolean {
  return (key.redact || endpoint.redactPii) && !key.allowSql;
}

/** Whether anything is sent under the name: an empty text and null mean the same as nothing. */
function isSent(given: readonly RawEntry[], name: string): boolean {
  return given.some(
    (entry) =>
      entry.name === name && entry.value.kind !== 'null' && !('text' in entry.value && entry.value.text === ''),
  );
}
