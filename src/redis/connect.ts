import type { Clock } from '../concurrency/clock';
import type { RedisConfig } from '../config';
import type { Log } from '../log';
import { parseRedisUrl } from './address';
import { createClient } from './client';
import { RedisConnection } from './connection';

/**
 * Starts to connect without waiting for it; `tried` of the connection resolves after the first attempt. Until then commands
 * fail with `RedisUnavailable`.
 *
 * @throws ConfigError for a malformed URL
 */
export function connectRedis({ url, prefix, timeout }: RedisConfig, log: Log, clock?: Clock): RedisConnection {
  const address = parseRedisUrl(url.reveal());
  return new RedisConnection({ create: () => createClient(address), prefix, timeout, log, ...(clock && { clock }) });
}
