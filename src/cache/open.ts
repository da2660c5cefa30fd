import type { CacheConfig, RedisConfig } from '../config';
import type { Log } from '../log';
import { MemoryStore } from './memory-store';
import { MemoryUsageBook } from './memory-usage-book';
import type { OpenRedis } from './redis';
import { Results } from './results';
import type { UsageBook } from './usage';

export interface OpenCache {
  readonly results: Results;
  readonly memory: MemoryStore;
  readonly usage: UsageBook;
  /** null: this process shares with nobody. */
  readonly redis: OpenRedis | null;
  close(): Promise<void>;
}

/** Redis's library is loaded where there is a Redis, and nothing waits for the connection. */
export async function openCache(cache: CacheConfig, config: RedisConfig | null, log: Log): Promise<OpenCache> {
  const { maxEntry, leaseTime, staleIfError, maxWarmed } = cache;
  const redis =
    config === null
      ? null
      : (await import('./redis/index.js')).openRedis({ ...config, maxEntry, leaseTime, mostInUse: maxWarmed, log });
  const memory = new MemoryStore({ bytes: cache.memory, maxEntry });
  const results = new Results({ memory, shared: redis?.store ?? null, staleIfError, leaseTime });
  const usage = redis?.usage ?? new MemoryUsageBook(maxWarmed);
  return {
    results,
    memory,
    usage,
    redis,
    async close() {
      await results.close();
      await (redis?.close() ?? usage.close());
    },
  };
}
