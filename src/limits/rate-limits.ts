import { ServiceError } from '../errors';
import { policyOf, type RatePolicy, RateWindow } from './rate-window';

/** A key, as far as its rate goes. */
export interface RatedKey {
  readonly name: string;
  /** Requests per second; null: the configuration's. */
  readonly rateLimit: number | null;
}

/** What an answer says about the limits of its request, and whether they refuse it. */
export interface RateAnswer {
  /** `RateLimit-Policy` and `RateLimit` (draft-ietf-httpapi-ratelimit-headers), a flat header list; empty without a limit. */
  readonly headers: readonly string[];
  /** rateLimitExceeded; null: the request may go on. */
  readonly refusal: ServiceError | null;
}

/** Shares the counts of this process with the others. */
export interface RateSync {
  /** Called after each request; must return at once and never throw. @param name of the window in the whole cluster */
  counted(name: string, window: RateWindow): void;
}

export interface RateLimitsOptions {
  /** Requests per second, of a key that says nothing else and of an endpoint by all keys; 0: as many as come. */
  readonly perKey: number;
  readonly perEndpoint: number;
  /** null: this process is alone. */
  readonly sync: RateSync | null;
}

interface Limited {
  readonly rate: number;
  readonly name: string;
  readonly window: RateWindow;
  /** Its item in `RateLimit-Policy`. */
  readonly policy: string;
}

type Scope = 'key' | 'endpoint';

const UNLIMITED: RateAnswer = { headers: [], refusal: null };

/** Windows held before those that are over are let go: names of keys and endpoints that are gone. */
const MOST_HELD = 2000;

/**
 * Requests per second by key and by endpoint (docs/http.md). The decision is made here, at once, from what is known; other
 * processes are brought up to date behind it (docs/decisions/rate-limits.md).
 */
export class RateLimits {
  readonly #held = { key: new Map<string, Limited>(), endpoint: new Map<string, Limited>() };

  constructor(private readonly options: RateLimitsOptions) {}

  /** Windows held. */
  get held(): number {
    return this.#held.key.size + this.#held.endpoint.size;
  }

  /** Requests per second that a key may send; null: as many as it likes. */
  perSecond({ rateLimit }: Pick<RatedKey, 'rateLimit'>): number | null {
    return (rateLimit ?? this.options.perKey) || null;
  }

  /** Counts a request of a key, whatever it asks for. @param now milliseconds of `performance.now()` */
  countKey(key: RatedKey, now: number): RateAnswer {
    const limited = this.#limited('key', key.name, key.rateLimit ?? this.options.perKey, now);
    return limited === null ? UNLIMITED : this.#count(limited, 'key', now, null);
  }

  /** Counts a request to an endpoint, after `countKey`; the headers cover both. */
  countEndpoint(endpoint: { readonly name: string }, key: RatedKey, now: number): RateAnswer | null {
    const limited = this.#limited('endpoint', endpoint.name, this.options.perEndpoint, now);
    return limited === null ? null : this.#count(limited, 'endpoint', now, this.#held.key.get(key.name) ?? null);
  }

  #count(limited: Limited, scope: Scope, now: number, before: Limited | null): RateAnswer {
    const { window, name, policy } = limited;
    const within = window.take(now);
    this.options.sync?.counted(name, window);
    const state = stateOf(scope, window, now);
    const headers =
      before === null
        ? rateHeaders(policy, state)
        : rateHeaders(`${before.policy}, ${policy}`, `${stateOf('key', before.window, now)}, ${state}`);
    return { headers, refusal: within ? null : refusalOf(scope, limited, now) };
  }

  #limited(scope: Scope, name: string, rate: number, now: number): Limited | null {
    if (rate === 0) return null;
    const held = this.#held[scope];
    const known = held.get(name);
    if (known?.rate === rate) return known;
    if (held.size >= MOST_HELD) {
      for (const [other, { window }] of held) if (window.over(now)) held.delete(other);
    }
    const policy = policyOf(rate);
    const limited: Limited = {
      rate,
      name: `${scope}:${name}`,
      window: new RateWindow(policy),
      policy: policyText(scope, policy),
    };
    held.set(name, limited);
    return limited;
  }
}

function rateHeaders(policy: string, state: string): string[] {
  return ['RateLimit-Policy', policy, 'RateLimit', state];
}

function policyText(scope: Scope, { quota, window }: RatePolicy): string {
  return `"${scope}";q=${String(quota)};w=${String(window)}`;
}

function stateOf(scope: Scope, window: RateWindow, now: number): string {
  return `"${scope}";r=${String(window.remaining)};t=${String(window.reset(now))}`;
}

function refusalOf(scope: Scope, { window }: Limited, now: number): ServiceError {
  const { policy } = window;
  const time = policy.window === 1 ? 'a second' : `in ${String(policy.window)} seconds`;
  const requests = policy.quota === 1 ? '1 request' : `${String(policy.quota)} requests`;
  const message =
    scope === 'key'
      ? `This key may make ${requests} ${time}.`
      : `All keys together may make ${requests} ${time} to this endpoint.`;
  return new ServiceError('rateLimitExceeded', message, {
    retryAfter: window.reset(now),
  });
}
