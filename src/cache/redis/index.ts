/** Redis as the cache uses it: one connection, and what stands on it. */
import type { RedisConfig } from '../../config';
import type { Log } from '../../log';
import { parseRedisUrl } from './address';
import { createClient } from './client';
import { Link } from './link';
import { RedisStore } from './store';

export { Link, type LinkEvent, type LinkState } from './link';
export { RedisStore } from './store';

export interface OpenRedis {
  readonly link: Link;
  readonly store: RedisStore;
  /** Ends the connection; never waits for Redis. */
  close(): Promise<void>;
}

export interface OpenRedisOptions extends RedisConfig {
  /** Bytes of one entry beyond which it is not kept. */
  readonly maxEntry: number;
  /** Milliseconds after which a lease that is not renewed ends. */
  readonly leaseTime: number;
  readonly log: Log;
}

/**
 * Begins to connect; `link.tried` resolves when that has succeeded or failed for the first time. Nothing need wait for it:
 * until then the store is unavailable.
 *
 * @throws ConfigError for a URL that cannot be read
 */
export function openRedis({ url, prefix, timeout, maxEntry, leaseTime, log }: OpenRedisOptions): OpenRedis {
  const address = parseRedisUrl(url.reveal());
  const link = new Link({ create: () => createClient(address), timeout, log });
  const store = new RedisStore({ link, prefix, maxEntry, leaseTime });
  return {
    link,
    store,
    close: () => {
      link.close();
      return Promise.resolve();
    },
  };
}
