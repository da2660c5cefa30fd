/** Second tries by reason, with jitter, inside the deadline (bigquery.md's advice: at most two tries more). */
import { setTimeout as sleep } from 'node:timers/promises';
import { ApiFailure, isTransient } from './errors';

const RETRIES = 2;
/** Milliseconds before the first retry; doubled for the next. Up to as much again is added at random. */
const BACKOFF = 100;

/**
 * Calls `attempt` again after a transient failure.
 *
 * @param remaining milliseconds until the deadline
 */
export async function retrying<T>(attempt: () => Promise<T>, remaining: () => number, signal: AbortSignal): Promise<T> {
  for (let retry = 0; ; retry++) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof ApiFailure) || !isTransient(error) || retry >= RETRIES) throw error;
      const delay = BACKOFF * 2 ** retry * (1 + Math.random());
      if (delay >= remaining()) throw error;
      await sleep(delay, undefined, { signal });
    }
  }
}
