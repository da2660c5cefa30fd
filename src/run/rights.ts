import { type ConsumerRequest, type Endpoint, mayRun } from '../endpoints';
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
export function checkRights(asked: ConsumerRequest, key: Key, endpoint: Endpoint): void {
  // How many bytes a query would read tells of rows behind the fence.
  if (asked.dryRun && key.pins.size > 0) {
    throw new ServiceError('accessDenied', 'A key with pinned parameters may not ask for a dry run.', {
      parameter: 'dry_run',
    });
  }
  // Redaction is a mask on results: a query that takes values apart would get around it.
  if (asked.query !== null && (key.redact || endpoint.redactPii) && !key.allowSql) {
    const { language } = asked.query;
    throw new ServiceError('accessDenied', `"${language}" may not be used where redaction is forced.`, {
      parameter: language,
    });
  }
}
