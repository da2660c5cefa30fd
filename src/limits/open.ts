import { Budgets } from './budget';
import { RateLimits } from './rate-limits';
import type { RedisLink } from './redis-link';
import { RedisSpending } from './redis-spending';

/** What processes share; null: this one is alone. */
export type Shared = {
  readonly link: RedisLink;
  /** What the names of all keys begin with. */
  readonly prefix: string;
} | null;

/** The library that counts in Redis is loaded where there is a Redis. */
export async function openRates(
  { rateLimit, endpointRateLimit }: { readonly rateLimit: number; readonly endpointRateLimit: number },
  shared: Shared,
): Promise<RateLimits> {
  const sync = shared === null ? null : new (await import('./rate-sync.js')).RedisRateSync(shared.link, shared.prefix);
  return new RateLimits({ perKey: rateLimit, perEndpoint: endpointRateLimit, sync });
}

export function openBudgets({ dailyBytes }: { readonly dailyBytes: bigint | null }, shared: Shared): Budgets {
  const spending = shared === null ? null : new RedisSpending(shared.link, shared.prefix);
  return new Budgets({ perDay: dailyBytes, shared: spending });
}
