/** How a run ends that is given up: the same words and the same race on every engine. */
import { ServiceError } from '../errors';
import type { RunLimits } from './contract';

/** Milliseconds until the deadline; 0 once it has passed. */
export function remaining({ deadline }: Pick<RunLimits, 'deadline'>): number {
  return Math.max(0, deadline - performance.now());
}

export function deadlineExceeded(): ServiceError {
  return new ServiceError(
    'deadlineExceeded',
    'The query did not finish in time. Reduce the time range or ask for less.',
  );
}

/** What a run rejects with when nobody waits for it any more. */
export function abandoned(): DOMException {
  return new DOMException('Nobody waits for the result.', 'AbortError');
}

/** @throws what a run that must not begin any more ends with */
export function checkLimits(limits: RunLimits): void {
  if (limits.signal.aborted) throw abandoned();
  if (remaining(limits) === 0) throw deadlineExceeded();
}

/**
 * Does `work` with a signal that fires when the limits end. Whatever `work` then rejects with, the caller learns why it
 * was given up.
 *
 * @throws ServiceError `deadlineExceeded`; AbortError after `limits.signal`; whatever `work` rejects with before
 */
export async function withinLimits<T>(limits: RunLimits, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  checkLimits(limits);
  // One controller, taken apart at the end: AbortSignal.any on a long-lived signal leaks in Node 20.
  const given = new AbortController();
  const onAbort = (): void => given.abort(abandoned());
  limits.signal.addEventListener('abort', onAbort, { once: true });
  const timer = setTimeout(() => given.abort(deadlineExceeded()), remaining(limits));
  try {
    return await work(given.signal);
  } catch (error) {
    throw given.signal.aborted ? given.signal.reason : error;
  } finally {
    clearTimeout(timer);
    limits.signal.removeEventListener('abort', onAbort);
  }
}

/**
 * Waits for `work`, which goes on when the limits end: what it brings late goes to `late`, and its failure to nobody.
 *
 * @throws as `withinLimits`
 */
export function unlessGivenUp<T>(limits: RunLimits, work: () => Promise<T>, late: (value: T) => void): Promise<T> {
  return withinLimits(
    limits,
    (signal) =>
      new Promise<T>((resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
        work().then((value) => (signal.aborted ? late(value) : resolve(value)), reject);
      }),
  );
}
