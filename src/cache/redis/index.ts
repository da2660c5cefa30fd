/** Redis as the cache uses it: one connection, and what stands on it. */
import type { RedisConfig } from '../../config';
import type { Log } from '../../log';
import { parseRedisUrl } from './address';
import { createClient } from './client';
import { Link } from './link';
import { RedisStore } from './store';
import { RedisUsageBook } from './usage-book';

export { Link, type LinkEvent, type LinkState } from './link';
export { RedisStore } from './store';
export { RedisUsageBook } from './usage-book';

export interface OpenRedis {
  readonly link: Link;
  readonly store: RedisStore;
  readonly usage: RedisUsageBook;
  /** Ends the connection; waits for Redis for the command timeout at most. */
  close(): Promise<void>;
}

export interface OpenRedisOptions extends RedisConfig {
  /** Bytes of one entry beyond which it is not kept. */
  readonly maxEntry: number;
  /** Milliseconds after which a lease that is not renewed ends. */
  readonly leaseTime: number;
  /** Results that the book of usage remembers; 1000 by default. */
  readonly mostInUse?: number;
  readonly log: Log;
}

/**
 * Begins to connect; `link.tried` resolves when that has succeeded or failed for the first time. Nothing need wait for it:
 * until then the store is unavailable.
 *
 * @throws ConfigError for a URL that cannot be read
 */
export function openRedis(options: OpenRedisOptions): OpenRedis {
  const { url, prefix, timeout, maxEntry, leaseTime, mostInUse = 1000, log } = options;
  const address = parseRedisUrl(url.reveal());
  const link = new Link({ create: () => createClient(address), timeout, log });
  const store = new RedisStore({ link, prefix, maxEntry, leaseTime });
  const usage = new RedisUsageBook({ link, prefix, most: mostInUse });
  return {
    link,
    store,
    usage,
    close: async () => {
      await usage.close();
      link.close();
    },
  };
}
