import { setTimeout as sleep } from 'node:timers/promises';

import type { Cluster, Redis } from 'ioredis';
import { RateLimiterRedis } from 'rate-limiter-flexible';

import type { RedisConnection } from '../redis/connection';
import type { RateSync } from './rate-limits';
import type { RateWindow } from './rate-window';

/** A process tells of its requests once they are this part of the quota: so far it may be off, and so seldom it sends. */
const TOLD_IN = 20;

/**
 * Milliseconds between two words about a window that refuses already: they let through nothing more, and make the shares
 * of the next one right.
 */
const LATE_WORDS = 50;

/** What has been told of one window. */
interface Told {
  readonly serial: number;
  requests: number;
  /** Whether word is on its way, or about to be sent. */
  busy: boolean;
}

/**
 * Brings Redis up to date behind the decisions, and the decisions up to date with what Redis knows of other processes
 * (docs/decisions/rate-limits.md). Nobody waits for it; while Redis fails each process counts for itself.
 */
export class RedisRateSync implements RateSync {
  readonly #told = new WeakMap<RateWindow, Told>();
  /** Clients are thrown away when they fail. */
  readonly #limiters = new WeakMap<Redis | Cluster, RateLimiterRedis>();

  constructor(private readonly redis: Pick<RedisConnection, 'prefix' | 'run'>) {}

  counted(name: string, window: RateWindow): void {
    const told = this.#toldOf(window);
    if (!told.busy && this.#isDue(window, told)) void this.#tell(name, window, told);
  }

  #isDue({ asked, policy }: RateWindow, told: Told): boolean {
    return asked - told.requests >= Math.ceil(policy.quota / TOLD_IN);
  }

  #toldOf(window: RateWindow): Told {
    const told = this.#told.get(window);
    if (told?.serial === window.serial) return told;
    const fresh = { serial: window.serial, requests: 0, busy: false };
    this.#told.set(window, fresh);
    return fresh;
  }

  async #tell(name: string, window: RateWindow, told: Told): Promise<void> {
    const isNow = (): boolean => window.serial === told.serial && !window.over(performance.now());
    told.busy = true;
    do {
      const untold = window.asked - told.requests;
      told.requests = window.asked;
      try {
        const { consumedPoints: asked, msBeforeNext: endsIn } = await this.redis.run((client) =>
          this.#limiter(client).consume(name, untold, { customDuration: window.policy.window }),
        );
        // Of a window that is over there is nothing to learn.
        if (isNow() && asked >= untold && endsIn > 0) window.learn({ asked, endsIn }, told.requests, performance.now());
      } catch {
        // This process goes on with what it knows; the connection counts and logs its failures.
        break;
      }
      if (window.remaining === 0) await sleep(LATE_WORDS, undefined, { ref: false });
    } while (isNow() && (window.remaining === 0 || this.#isDue(window, told)));
    told.busy = false;
  }

  #limiter(client: Redis | Cluster): RateLimiterRedis {
    let limiter = this.#limiters.get(client);
    if (limiter === undefined) {
      // It counts; what a quota is, the windows know.
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
