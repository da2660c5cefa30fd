/** Lua scripts: loading and calling them by their hash. */
import { createHash } from 'node:crypto';

import type { RedisClient } from './client';

export interface Script {
  readonly text: string;
  readonly sha: string;
}

export function script(text: string): Script {
  return { text, sha: createHash('sha1').update(text).digest('hex') };
}

/**
 * Calls a script by its hash; sends its text where Redis does not have it (first use, restart, fail-over).
 *
 * @param keys all in one hash slot of a Cluster
 */
export async function evaluate(
  client: RedisClient,
  { text, sha }: Script,
  keys: readonly string[],
  values: readonly (string | number | Buffer)[],
): Promise<unknown> {
  try {
    return await client.evalsha(sha, keys.length, ...keys, ...values);
  } catch (error) {
    if (!(error instanceof Error && error.message.startsWith('NOSCRIPT'))) throw error;
    return client.eval(text, keys.length, ...keys, ...values);
  }
}

/** Redis's own time, as those of processes differ. Lua's numbers are doubles: exact for microseconds until the year 2255. */
export const CLOCK = `
  local time = redis.call('TIME')
  local micros = time[1] * 1000000 + time[2]
  local millis = math.floor(micros / 1000)
`;
