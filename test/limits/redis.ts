import { Secret } from '../../src/config';
import { openLog } from '../../src/log';
import { connectRedis, type RedisConnection } from '../../src/redis/connection';

const NO_SPAN = { write: () => true } as unknown as NodeJS.WritableStream;

/** A connection as one process has it. */
export function connectTo(url: string, timeout = 200): RedisConnection {
  return connectRedis({ url: new Secret(url), prefix: 'test', timeout }, openLog('silent', NO_SPAN));
}
