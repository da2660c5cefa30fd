import { parseRedisUrl } from '../../src/cache/redis/address';
import { createClient } from '../../src/cache/redis/client';
import { Link } from '../../src/cache/redis';
import { openLog } from '../../src/log';

const NOWHERE = { write: () => true } as unknown as NodeJS.WritableStream;

/** A way to Redis as one process has it. */
export function linkTo(url: string, timeout = 200): Link {
  return new Link({ create: () => createClient(parseRedisUrl(url)), timeout, log: openLog('silent', NOWHERE) });
}
