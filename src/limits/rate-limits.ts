import type { Cluster, Redis } from 'ioredis';
import { LRUCache } from 'lru-cache';
import { RateLimiterMemory, RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible';

import { ServiceError } from '../errors';
import type { RedisConnection } from '../redis/connection';

/** A key, as far as its rate goes. */
export interface RatedKey {
  readonly name: string;
  /** Requests per second; null: the configuration's. */
  readonly rateLimit: number | null;
  /** Of a token: what its entry allows each user, whatever the user's tokens narrow themselves to. */
  readonly issuer?: { readonly rateLimit: number | null };
}

/** What an answer says about the rate of its key, and whether the rate refuses the request. */
export interface RateAnswer {
  /** `RateLimit-Policy` and `RateLimit` (draft-ietf-httpapi-ratelimit-headers), a flat header list; empty without a limit. */
  readonly headers: readonly string[];
  /** rateLimitExceeded; null: the request may go on. */
  readonly refusal: ServiceError | null;
}

/** Requests per time, as whole numbers: a policy of `RateLimit-Policy` (docs/querying.md). */
interface Policy {
  /** Requests in a window. */
  readonly quota: number;
  /** Seconds. */
  readonly window: number;
}

interface Limiter {
  readonly policy: Policy;
  readonly own: RateLimiterMemory;
}

/** Requests of a key that Redis has not been told of. */
interface Unsent {
  requests: number;
}

const UNLIMITED: RateAnswer = { headers: [], refusal: null };

/** Longest window for which a rate that is no whole number is looked for, in seconds. */
const LONGEST_SEARCH = 60;

/** Rates that are counted at a time. */
const MOST_RATES = 1_000;

/** No window is longer, in seconds: a day. */
const LONGEST_WINDOW = 86_400;

/**
 * Requests per second by key. The process decides at once, from its own count. Redis adds up the counts of all processes
 * behind it, and each process takes the sum over: no request waits for Redis, and without it each process counts for itself.
 */
export class RateLimits {
  /** By requests per second: a changed rate begins a new count. Tokens may say any rate. */
  readonly #limiters = new LRUCache<number, Limiter>({ max: MOST_RATES });
  readonly #unsent = new Map<string, Unsent>();
  /** Clients are replaced when they fail. */
  readonly #shared = new WeakMap<Redis | Cluster, RateLimiterRedis>();

  /**
   * @param perKey requests per second of a key that sets no rate of its own; 0: as many as come
   * @param redis null: this process is alone
   */
  constructor(
    private readonly perKey: number,
    private readonly redis: Pick<RedisConnection, 'prefix' | 'run'> | null,
  ) {}

  /** Requests per second that a key may send; null: as many as it likes. */
  perSecond({ rateLimit, issuer }: Omit<RatedKey, 'name'>): number | null {
    const own = (rateLimit ?? this.perKey) || null;
    if (issuer === undefined || own === null) return own;
    return Math.min(own, this.perSecond(issuer) ?? Infinity);
  }

  /** Counts a request of a key, whatever it asks for. A token that narrows itself counts among all of its user as well. */
  async count(key: RatedKey): Promise<RateAnswer> {
    const { name, issuer = key } = key;
    const [rate, most] = [this.perSecond(key), this.perSecond(issuer)];
    const ofAll = most === null ? UNLIMITED : await this.#count(name, most);
    if (rate === null || rate === most || ofAll.refusal !== null) return ofAll;
    return this.#count(`${name} ${String(rate)}`, rate);
  }

  async #count(name: string, rate: number): Promise<RateAnswer> {
    const { policy, own } = this.#limiterOf(rate);
    const counted = await own.consume(name).catch((refused: unknown) => {
      // The library rejects with what it counted.
      if (refused instanceof RateLimiterRes) return refused;
      throw refused;
    });
    if (this.redis !== null) this.#share(this.redis, name, policy, own);
    const reset = Math.max(1, Math.ceil(counted.msBeforeNext / 1000));
    const headers = [
      ...['RateLimit-Policy', `"key";q=${String(policy.quota)};w=${String(policy.window)}`],
      ...['RateLimit', `"key";r=${String(counted.remainingPoints)};t=${String(reset)}`],
    ];
    return { headers, refusal: counted.consumedPoints > policy.quota ? refusalOf(policy, reset) : null };
  }

  #limiterOf(rate: number): Limiter {
    const known = this.#limiters.get(rate);
    if (known !== undefined) return known;
    const policy = policyOf(rate);
    const limiter = { policy, own: new RateLimiterMemory({ points: policy.quota, duration: policy.window }) };
    this.#limiters.set(rate, limiter);
    return limiter;
  }

  /** One update of a key is in flight at a time. */
  #share(redis: Pick<RedisConnection, 'prefix' | 'run'>, name: string, policy: Policy, own: RateLimiterMemory): void {
    const inFlight = this.#unsent.get(name);
    if (inFlight !== undefined) {
      inFlight.requests++;
      return;
    }
    const unsent = { requests: 1 };
    this.#unsent.set(name, unsent);
    // The connection counts and logs its failures.
    void this.#send(redis, name, unsent, policy, own).catch(() => undefined);
  }

  async #send(
    redis: Pick<RedisConnection, 'prefix' | 'run'>,
    name: string,
    unsent: Unsent,
    { window }: Policy,
    own: RateLimiterMemory,
  ): Promise<void> {
    try {
      while (unsent.requests > 0) {
        const sent = unsent.requests;
        unsent.requests = 0;
        const sum = await redis.run(async (client) => {
          const shared = this.#sharedOf(client, redis.prefix);
          const added = await shared.penalty(name, sent, { customDuration: window });
          // Redis's clock was set back, or the window was a longer one: that count would stand until then.
          if (added.msBeforeNext > window * 1000) await shared.delete(name);
          return added;
        });
        if (sum.msBeforeNext > 0 && sum.msBeforeNext <= window * 1000)
          await own.set(name, sum.consumedPoints + unsent.requests, sum.msBeforeNext / 1000);
      }
    } finally {
      // In the same turn as the look above: a request that came between the two would never be sent.
      this.#unsent.delete(name);
    }
  }

  #sharedOf(client: Redis | Cluster, prefix: string): RateLimiterRedis {
    const known = this.#shared.get(client);
    if (known !== undefined) return known;
    // It only adds up: the process decides.
    const points = Number.MAX_SAFE_INTEGER;
    const limiter = new RateLimiterRedis({ storeClient: client, keyPrefix: `${prefix}:rate`, points, duration: 1 });
    this.#shared.set(client, limiter);
    return limiter;
  }
}

/** A rate as whole requests in whole seconds, in the shortest window; never more than the rate. */
function policyOf(requestsPerSecond: number): Policy {
  for (let window = 1; window <= LONGEST_SEARCH; window++) {
    const quota = Math.round(requestsPerSecond * window);
    if (quota > 0 && Math.abs(quota - requestsPerSecond * window) < 1e-9) return { quota, window };
  }
  const window = Math.min(LONGEST_WINDOW, Math.ceil(1 / requestsPerSecond));
  return { quota: Math.max(1, Math.floor(requestsPerSecond * window)), window };
}

function refusalOf({ quota, window }: Policy, retryAfter: number): ServiceError {
  const time = window === 1 ? 'a second' : `in ${String(window)} seconds`;
  const requests = quota === 1 ? '1 request' : `${String(quota)} requests`;
  return new ServiceError('rateLimitExceeded', `This key may make ${requests} ${time}.`, { retryAfter });
}
