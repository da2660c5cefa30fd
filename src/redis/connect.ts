import type { RedisConfig } from '../config';
import type { Log } from '../log';
import { parseRedisUrl } from './address';
import { createClient } from './client';
import { RedisConnection, type RedisConnectionOptions } from './connection';

/**
 * Starts to connect without waiting for it; `tried` of the connection resolves after the first attempt. Until then commands
 * fail with `RedisUnavailable`.
 *
 * @throws ConfigError for a malformed URL
 */
export function connectRedis(
  { url, prefix, timeout }: RedisConfig,
  log: Log,
  { clock, report }: Pick<RedisConnectionOptions, 'clock' | 'report'> = {},
): RedisConnection {
  const address = parseRedisUrl(url.reveal());
  return new RedisConnection({
    create: () => createClient(address),
    prefix,
    timeout,
    log,
    ...(clock && { clock }),
    ...(report && { report }),
  });
}
