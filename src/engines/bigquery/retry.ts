/** Retries of transient failures, with jitter, within the limits. */
import { type Clock, sleep, SYSTEM_CLOCK } from '../../concurrency/clock';
import { ApiFailure, isTransient } from './api-failure';
import type { RunLimits } from '../contract';
import { remaining } from '../../concurrency/deadline';

const RETRIES = 2;
/** Milliseconds before the first retry; doubled for the next. Up to as much again is added at random. */
const BACKOFF = 100;

/**
 * Calls `attempt` again after a transient failure, if the limits leave the delay that the service asks for.
 *
 * @param again which failures another call may help
 * @throws what `attempt` threw last; an AbortError when the signal fires between two attempts
 */
export async function retrying<T>(
  attempt: () => Promise<T>,
  limits: RunLimits,
  again: (failure: ApiFailure) => boolean = isTransient,
  clock: Clock = SYSTEM_CLOCK,
): Promise<T> {
  for (let retry = 0; ; retry++) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof ApiFailure) || !again(error) || retry >= RETRIES) throw error;
      const delay =
        Math.max(BACKOFF * 2 ** retry, (error.retryAfter ?? 0) * 1000) + BACKOFF * 2 ** retry * Math.random();
      if (delay >= remaining(limits, clock)) throw error;
      await sleep(clock, delay, limits.signal);
    }
  }
}
