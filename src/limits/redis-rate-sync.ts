import type { Cluster, Redis } from 'ioredis';
import { RateLimiterRedis } from 'rate-limiter-flexible';

import { type Clock, sleep, SYSTEM_CLOCK } from '../concurrency/clock';
import type { RedisConnection } from '../redis/connection';
import type { RateSync } from './rate-limits';
import type { ClusterCount, RatePolicy, RateWindow } from './rate-window';

/** A process sends its count each time it has grown by this fraction of the quota, which bounds the error as well. */
const UPDATES_PER_QUOTA = 20;

/**
 * Milliseconds between two updates for a window whose quota is spent; they make the shares of the next window right.
 */
const SPENT_PAUSE = 50;

/** What has been sent of one window. */
interface SentCount {
  readonly serial: number;
  requests: number;
  /** Whether an update is in flight, or about to be. */
  busy: boolean;
}

/**
 * Sends the counts of this process to Redis in the background, and learns those of the others
 * (docs/decisions/rate-limits.md). No request waits for it; while Redis fails each process counts for itself.
 */
export class RedisRateSync implements RateSync {
  readonly #sent = new WeakMap<RateWindow, SentCount>();
  /** Clients are replaced when they fail. */
  readonly #limiters = new WeakMap<Redis | Cluster, RateLimiterRedis>();

  constructor(
    private readonly redis: Pick<RedisConnection, 'prefix' | 'run'>,
    private readonly clock: Clock = SYSTEM_CLOCK,
  ) {}

  counted(name: string, window: RateWindow): void {
    const sent = this.#sentOf(window);
    if (!sent.busy && this.#isDue(window, sent)) void this.#send(name, window, sent);
  }

  #isDue({ requested, policy }: RateWindow, sent: SentCount): boolean {
    return requested - sent.requests >= Math.ceil(policy.quota / UPDATES_PER_QUOTA);
  }

  #sentOf(window: RateWindow): SentCount {
    const sent = this.#sent.get(window);
    if (sent?.serial === window.serial) return sent;
    const fresh = { serial: window.serial, requests: 0, busy: false };
    this.#sent.set(window, fresh);
    return fresh;
  }

  async #send(name: string, window: RateWindow, sent: SentCount): Promise<void> {
    const isNow = (): boolean => window.serial === sent.serial && !window.over(this.clock.monotonic());
    sent.busy = true;
    do {
      const unsent = window.requested - sent.requests;
      sent.requests = window.requested;
      try {
        const { requested, endsIn } = await this.#count(name, unsent, window.policy);
        // A window that is over has nothing to learn.
        if (isNow() && requested >= unsent && endsIn > 0)
          window.learn({ requested, endsIn }, sent.requests, this.clock.monotonic());
      } catch {
        // This process goes on with what it knows; the connection counts and logs its failures.
        break;
      }
      if (window.remaining === 0) await sleep(this.clock, SPENT_PAUSE);
    } while (isNow() && (window.remaining === 0 || this.#isDue(window, sent)));
    sent.busy = false;
  }

  /** Adds to what Redis counts. */
  #count(name: string, unsent: number, { window }: RatePolicy): Promise<ClusterCount> {
    return this.redis.run(async (client) => {
      const add = async (): Promise<ClusterCount> => {
        const added = await this.#limiter(client).consume(name, unsent, { customDuration: window });
        return { requested: added.consumedPoints, endsIn: added.msBeforeNext };
      };
      const count = await add();
      if (count.endsIn <= window * 1000) return count;
      // Redis's clock was set back, or the limit's window was a longer one: that count would go on until then.
      await this.#limiter(client).delete(name);
      return add();
    });
  }

  #limiter(client: Redis | Cluster): RateLimiterRedis {
    let limiter = this.#limiters.get(client);
    if (limiter === undefined) {
      // It only counts: quotas are up to the windows.
      const points = Number.MAX_SAFE_INTEGER;
      limiter = new RateLimiterRedis({
        storeClient: client,
        keyPrefix: `${this.redis.prefix}:rate`,
        points,
        duration: 1,
      });
      this.#limiters.set(client, limiter);
    }
    return limiter;
  }
}
