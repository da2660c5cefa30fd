import { type OpenRedis, openRedis, type OpenRedisOptions } from '../../src/cache/redis';
import { Secret } from '../../src/config';
import { openLog } from '../../src/log';
import { LEASE, MAX_ENTRY } from './store-contract';

export interface Opened extends OpenRedis {
  /** Lines of the log, as JSON. */
  readonly logged: readonly string[];
}

/** As a process would open it; the command timeout is long, for machines that are busy with something else. */
export function openTestRedis(url: string, options: Partial<OpenRedisOptions> = {}): Opened {
  const logged: string[] = [];
  const out = { write: (line: string) => logged.push(line) > 0 } as unknown as NodeJS.WritableStream;
  const redis = openRedis({
    url: new Secret(url),
    prefix: 'test',
    timeout: 1000,
    maxEntry: MAX_ENTRY,
    leaseTime: LEASE,
    mostInUse: 50,
    log: openLog('trace', out),
    ...options,
  });
  return { ...redis, logged };
}

/** Several processes on one Redis, connected; they take turns. */
export class Processes {
  #all: Opened[] = [];
  #next = 0;

  async open(url: string, options: Partial<OpenRedisOptions> = {}): Promise<void> {
    this.#all = Array.from({ length: 3 }, () => openTestRedis(url, options));
    await Promise.all(this.#all.map(({ link }) => link.tried));
  }

  next(): Opened {
    const one = this.#all[this.#next++ % this.#all.length];
    if (one === undefined) throw new Error('None is open.');
    return one;
  }

  async close(): Promise<void> {
    await Promise.all(this.#all.map((redis) => redis.close()));
  }
}
