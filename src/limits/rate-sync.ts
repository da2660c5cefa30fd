import type { Cluster, Redis } from 'ioredis';
import { RateLimiterRedis } from 'rate-limiter-flexible';

import type { RedisLink } from './redis-link';
import type { RateSync } from './rate-limits';
import type { RateWindow } from './rate-window';

/** A process tells of its requests once they are this part of the quota: so far it may be off, and so seldom it sends. */
const TOLD_IN = 20;

/** Milliseconds between two words about a window that refuses already: they only matter for the next one's shares. */
const LATE_WORDS = 50;

/** What has been told of one window. */
interface Told {
  serial: number;
  requests: number;
  /** Milliseconds of `performance.now()`. */
  at: number;
  sending: boolean;
}

/**
 * Brings Redis up to date behind the decisions, and the decisions up to date with what Redis knows of other processes
 * (docs/decisions/rate-limits.md). Nobody waits for it; while Redis fails each process counts for itself.
 */
export class RedisRateSync implements RateSync {
  readonly #told = new WeakMap<RateWindow, Told>();
  /** Clients are thrown away when they fail. */
  readonly #limiters = new WeakMap<Redis | Cluster, RateLimiterRedis>();

  /** @param prefix what the names of all keys begin with */
  constructor(
    private readonly link: RedisLink,
    private readonly prefix: string,
  ) {}

  counted(name: string, window: RateWindow, now: number): void {
    const told = this.#toldOf(window);
    if (told.sending) return;
    const untold = window.asked - told.requests;
    if (untold < Math.ceil(window.policy.quota / TOLD_IN)) return;
    if (window.remaining === 0 && now - told.at < LATE_WORDS) return;
    told.sending = true;
    told.requests += untold;
    told.at = now;
    void this.#tell(name, window, told, untold);
  }

  #toldOf(window: RateWindow): Told {
    const told = this.#told.get(window);
    if (told?.serial === window.serial) return told;
    const fresh = { serial: window.serial, requests: 0, at: 0, sending: false };
    this.#told.set(window, fresh);
    return fresh;
  }

  async #tell(name: string, window: RateWindow, told: Told, requests: number): Promise<void> {
    const customDuration = window.policy.window;
    try {
      const { consumedPoints, msBeforeNext } = await this.link.run((client) =>
        this.#limiter(client).consume(name, requests, { customDuration }),
      );
      // Behind the end of the window there is nothing to learn about it.
      if (told.serial === window.serial && consumedPoints >= requests && msBeforeNext > 0) {
        window.learn({ asked: consumedPoints, endsIn: msBeforeNext }, told.requests, performance.now());
      }
    } catch {
      // This process goes on with what it knows; the link counts and logs its failures.
    } finally {
      told.sending = false;
    }
  }

  #limiter(client: Redis | Cluster): RateLimiterRedis {
    let limiter = this.#limiters.get(client);
    if (limiter === undefined) {
      // It counts; what a quota is, the windows know.
      const points = Number.MAX_SAFE_INTEGER;
      limiter = new RateLimiterRedis({ storeClient: client, keyPrefix: `${this.prefix}:rate`, points, duration: 1 });
      this.#limiters.set(client, limiter);
    }
    return limiter;
  }
}
