/** Second tries by reason, with jitter, inside the limits. */
import { setTimeout as sleep } from 'node:timers/promises';
import { ApiFailure, isTransient } from './api-failure';
import type { RunLimits } from '../contract';
import { remaining } from '../giving-up';

const RETRIES = 2;
/** Milliseconds before the first retry; doubled for the next. Up to as much again is added at random. */
const BACKOFF = 100;

/**
 * Calls `attempt` again after a transient failure, as long as the limits leave the time that the service asks for.
 *
 * @throws what `attempt` threw last; an AbortError when the signal fires between two tries
 */
export async function retrying<T>(attempt: () => Promise<T>, limits: RunLimits): Promise<T> {
  for (let retry = 0; ; retry++) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof ApiFailure) || !isTransient(error) || retry >= RETRIES) throw error;
      const delay =
        Math.max(BACKOFF * 2 ** retry, (error.retryAfter ?? 0) * 1000) + BACKOFF * 2 ** retry * Math.random();
      if (delay >= remaining(limits)) throw error;
      await sleep(delay, undefined, { signal: limits.signal });
    }
  }
}
