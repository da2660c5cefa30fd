import { randomUUID } from 'node:crypto';

import type { Cluster, Redis } from 'ioredis';

import type { RedisConnection } from '../redis/connection';
import type { SharedSpending } from './budget';

/** Seconds until a day's spending expires: long enough to look at it in every time zone. */
const EXPIRY = 3 * 86_400;

/**
 * Spending in Redis: a hash for each key and day, with a field for each process that holds what it has spent in all. A
 * process writes its sum, never a difference: repeated after a timeout or a loss of data it is still right.
 */
export class RedisSpending implements SharedSpending {
  /** This process among the fields. */
  readonly #self = randomUUID();

  constructor(private readonly redis: Pick<RedisConnection, 'prefix' | 'run'>) {}

  spent(key: string, day: string): Promise<bigint> {
    return this.redis.run(async (client) => sumOf(await client.hvals(this.#name(key, day))));
  }

  note(key: string, day: string, here: bigint): Promise<bigint> {
    const name = this.#name(key, day);
    return this.redis.run(async (client: Redis | Cluster) => {
      const replies = await client.multi().hset(name, this.#self, String(here)).expire(name, EXPIRY).hvals(name).exec();
      const [error, values] = replies?.[2] ?? [new Error('Redis did not answer.'), null];
      const failed = replies?.find(([one]) => one !== null)?.[0] ?? error;
      if (failed !== null) throw failed;
      return sumOf(values);
    });
  }

  #name(key: string, day: string): string {
    return `${this.redis.prefix}:budget:${day}:${key}`;
  }
}

/** @throws Error for anything but texts of digits */
function sumOf(values: unknown): bigint {
  if (!Array.isArray(values)) throw new Error('Redis answered with something else than values.');
  return values.reduce((sum: bigint, value: unknown) => {
    if (typeof value !== 'string' || !/^\d{1,19}$/.test(value)) throw new Error('Redis answered with no number.');
    return sum + BigInt(value);
  }, 0n);
}
