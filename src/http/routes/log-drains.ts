import { ServiceError } from '../../errors';
import type { Services } from '../../run/services';
import type { Exchange } from '../exchange';

/**
 * Refuses what Supabase Studio sends to list and edit log drains: it must not show one that is not there.
 *
 * @throws ServiceError notImplemented, after unauthenticated
 */
export function refuseDrains(exchange: Exchange, { keys }: Pick<Services, 'keys'>): never {
  const { name, pins } = keys.authenticate((header) => exchange.header(header));
  exchange.record({ key: name, pinned: pins.size > 0 });
  throw new ServiceError(
    'notImplemented',
    'Log drains are not configured here: configure them as sinks of Vector, which sends the logs.',
  );
}
