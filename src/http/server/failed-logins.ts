import { createHash, randomBytes } from 'node:crypto';
import { isIPv6 } from 'node:net';

import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';

import { ServiceError } from '../../errors';

/** Requests with a wrong key that one network may send in a minute before they are slowed down. */
const PER_MINUTE = 20;
const MINUTE = 60;

/** Counters that there are at most: networks share them by chance beyond that, which costs them nothing but a 429 for a 401. */
const COUNTERS = 16_384;

/**
 * Failed logins by the network that they come from. After 20 in a minute a request with a wrong key is answered 429 instead of
 * 401; a request with a right key is never counted and never refused here.
 *
 * What counts is the address of the connection: behind a proxy that is the proxy's, and a header such as `X-Forwarded-For`
 * would be the caller's to choose.
 */
export class FailedLogins {
  readonly #limiter = new RateLimiterMemory({ points: PER_MINUTE, duration: MINUTE });
  /** Nobody outside knows whose counter is whose. */
  readonly #salt = randomBytes(16);

  /** @param onFailure called for each failed login */
  constructor(private readonly onFailure: () => void = () => undefined) {}

  /** Counts one. @returns what to answer: `error`, or 429 where there were too many */
  async count(address: string, error: ServiceError): Promise<ServiceError> {
    this.onFailure();
    const refused = await this.#limiter.consume(this.#counterOf(address)).then(
      () => null,
      (rejection: unknown) => {
        if (rejection instanceof RateLimiterRes) return rejection;
        throw rejection;
      },
    );
    if (refused === null) return error;
    const message = `${error.message} There were too many requests with a wrong key from this address.`;
    return new ServiceError('rateLimitExceeded', message, { retryAfter: refused.msBeforeNext / 1000 });
  }

  #counterOf(address: string): string {
    const hash = createHash('sha256').update(this.#salt).update(networkOf(address)).digest();
    return String(hash.readUInt32BE() % COUNTERS);
  }
}

/** The address, or of IPv6 the /64 that one subscriber has to itself; an IPv4 address in IPv6's form is the former. */
export function networkOf(address: string): string {
  const plain = address.replace(/%.*$/, '').toLowerCase();
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/.exec(plain)?.[1];
  if (mapped !== undefined) return mapped;
  if (!isIPv6(plain)) return plain;
  const [before = '', after] = plain.split('::');
  const groups = before === '' ? [] : before.split(':');
  if (after !== undefined) {
    const last = after === '' ? [] : after.split(':');
    while (groups.length + last.length < 8) groups.push('0');
  }
  return groups
    .concat(['0', '0', '0', '0'])
    .slice(0, 4)
    .map((group) => group.replace(/^0+(?=.)/, ''))
    .join(':');
}
