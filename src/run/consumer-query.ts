import type { ConsumerRequest, Endpoint } from '../endpoints';
import type { Engine } from '../engines/contract';
import { ServiceError } from '../errors';

/**
 * The SQL that a request runs: what the stored query and the consumer's own make together.
 *
 * @throws ServiceError invalidParameter for what the engine or this version does not take
 */
export function composeSql(endpoint: Endpoint, asked: ConsumerRequest, engine: Engine): string {
  if (asked.query !== null) {
    const { language } = asked.query;
    const message = `"${language}" is not answered by this version yet: the endpoint runs its stored query only.`;
    throw new ServiceError('invalidParameter', message, { parameter: language });
  }
  if (asked.dryRun) {
    const message =
      engine.dryRun === null
        ? '"dry_run" has no meaning on the embedded engine: nothing is billed there.'
        : '"dry_run" is not answered by this version yet.';
    throw new ServiceError('invalidParameter', message, { parameter: 'dry_run' });
  }
  return endpoint.sql;
}
