import type { RedisConnection } from '../redis/connection';
import { Budgets } from './budget';
import { RateLimits } from './rate-limits';
import { RedisSpending } from './redis-spending';

/**
 * The library that counts in Redis is loaded where there is a Redis.
 *
 * @param redis null: this process counts for itself
 */
export async function openRates(
  { rateLimit, endpointRateLimit }: { readonly rateLimit: number; readonly endpointRateLimit: number },
  redis: RedisConnection | null,
): Promise<RateLimits> {
  const sync = redis === null ? null : new (await import('./redis-rate-sync.js')).RedisRateSync(redis);
  return new RateLimits({ perKey: rateLimit, perEndpoint: endpointRateLimit, sync });
}

export function openBudgets(
  { dailyBytes }: { readonly dailyBytes: bigint | null },
  redis: RedisConnection | null,
): Budgets {
  const spending = redis === null ? null : new RedisSpending(redis);
  return new Budgets({ perDay: dailyBytes, shared: spending });
}
