import type { CacheConfig } from '../config';
import type { RedisConnection } from '../redis/connection';
import { MemoryStore, MemoryUsageBook } from './memory';
import type { RedisStore } from './redis-store';
import { Results } from './results';
import type { UsageBook } from './usage';

export interface OpenCache {
  readonly results: Results;
  readonly memory: MemoryStore;
  readonly usage: UsageBook;
  /** null: this process shares results with no other. */
  readonly shared: RedisStore | null;
  close(): Promise<void>;
}

/** @param redis null: results are cached in this process alone. The caller closes it, after the cache. */
export async function openCache(cache: CacheConfig, redis: RedisConnection | null): Promise<OpenCache> {
  const { maxEntry, leaseTime, staleIfError, maxWarmed } = cache;
  const memory = new MemoryStore({ bytes: cache.memory, maxEntry });
  const { store: shared, usage } =
    redis === null
      ? { store: null, usage: new MemoryUsageBook(maxWarmed) }
      : await openShared({ redis, maxEntry, leaseTime, maxWarmed });
  const results = new Results({ memory, shared, staleIfError, leaseTime });
  return {
    results,
    memory,
    usage,
    shared,
    async close() {
      await results.close();
      await usage.close();
    },
  };
}

/** Loaded where there is a Redis. */
async function openShared({
  redis,
  maxEntry,
  leaseTime,
  maxWarmed,
}: Pick<CacheConfig, 'maxEntry' | 'leaseTime' | 'maxWarmed'> & { readonly redis: RedisConnection }): Promise<{
  readonly store: RedisStore;
  readonly usage: UsageBook;
}> {
  const [{ RedisStore: Store }, { RedisUsageBook }] = await Promise.all([
    import('./redis-store.js'),
    import('./redis-usage-book.js'),
  ]);
  return { store: new Store({ redis, maxEntry, leaseTime }), usage: new RedisUsageBook({ redis, most: maxWarmed }) };
}
