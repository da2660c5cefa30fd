/** Deadlines and cancellation: one shape of limits, the same errors and the same race for all work. */
import { ServiceError } from '../contract/service-error';
import { type Clock, SYSTEM_CLOCK } from './clock';

export interface RunLimits {
  /** Milliseconds of the monotonic clock after which the work fails with `deadlineExceeded`. */
  readonly deadline: number;
  /** Aborted when nobody waits for the result any more; the work then ends with an `AbortError` and frees its slot. */
  readonly signal: AbortSignal;
  /** Name of the API key on whose behalf it runs: slots and threads are shared fairly between keys. */
  readonly keyName?: string;
}

/** For work without deadline or cancellation. */
export function unlimited(): RunLimits {
  return { deadline: Infinity, signal: new AbortController().signal };
}

/** Milliseconds until the deadline; 0 once it has passed. */
export function remaining({ deadline }: Pick<RunLimits, 'deadline'>, clock: Clock = SYSTEM_CLOCK): number {
  return Math.max(0, deadline - clock.monotonic());
}

export function deadlineExceeded(
  message = 'The query did not finish in time. Reduce the time range or ask for less.',
): ServiceError {
  return new ServiceError('deadlineExceeded', message);
}

/** The reason of a cancellation. */
export function abortError(): DOMException {
  return new DOMException('Nobody waits for the result.', 'AbortError');
}

/** @throws ServiceError `deadlineExceeded`; AbortError */
export function checkLimits(limits: RunLimits, clock: Clock = SYSTEM_CLOCK): void {
  if (limits.signal.aborted) throw abortError();
  if (remaining(limits, clock) === 0) throw deadlineExceeded();
}

/**
 * Runs `work` with a signal that fires at the deadline or on cancellation. Whatever `work` rejects with after that, the
 * caller gets the reason of the signal.
 *
 * @throws ServiceError `deadlineExceeded`; AbortError after `limits.signal`; whatever `work` rejects with before
 */
export async function withinLimits<T>(
  limits: RunLimits,
  work: (signal: AbortSignal) => Promise<T>,
  clock: Clock = SYSTEM_CLOCK,
): Promise<T> {
  checkLimits(limits, clock);
  // One controller, removed at the end: AbortSignal.any on a long-lived signal leaks in Node 20.
  const controller = new AbortController();
  const onAbort = (): void => controller.abort(abortError());
  limits.signal.addEventListener('abort', onAbort, { once: true });
  const cancelTimer = clock.after(remaining(limits, clock), () => controller.abort(deadlineExceeded()));
  try {
    return await work(controller.signal);
  } catch (error) {
    throw controller.signal.aborted ? controller.signal.reason : error;
  } finally {
    cancelTimer();
    limits.signal.removeEventListener('abort', onAbort);
  }
}

/**
 * Waits for `work` until the limits end; the work itself goes on. Its late result goes to `onLate`, its late failure is
 * ignored.
 *
 * @throws as `withinLimits`
 */
export function raceLimits<T>(
  limits: RunLimits,
  work: () => Promise<T>,
  onLate: (value: T) => void,
  clock: Clock = SYSTEM_CLOCK,
): Promise<T> {
  return withinLimits(
    limits,
    (signal) =>
      new Promise<T>((resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
        work().then((value) => (signal.aborted ? onLate(value) : resolve(value)), reject);
      }),
    clock,
  );
}

/** The result did not come within the timeout. */
export class TimeoutError extends Error {
  override readonly name = 'TimeoutError';
}

/**
 * Waits for `work` for so many milliseconds; the work itself goes on, and its late outcome is ignored.
 *
 * @throws TimeoutError; whatever `work` rejects with
 */
export function withTimeout<T>(milliseconds: number, work: () => Promise<T>, clock: Clock = SYSTEM_CLOCK): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const due = clock.monotonic() + milliseconds;
    const fail = (): void => reject(new TimeoutError('No answer in time.'));
    let cancelTimer = clock.after(milliseconds, () => {
      const blocked = clock.monotonic() - due;
      // After a blocked event loop timers run before the sockets are read: one more phase lets a response through, and on a
      // machine that was as busy as this process the other side has as much time again.
      if (blocked < milliseconds / 2) setImmediate(fail);
      else cancelTimer = clock.after(Math.min(blocked, milliseconds), fail);
    });
    work().then(
      (value) => {
        cancelTimer();
        resolve(value);
      },
      (error: unknown) => {
        cancelTimer();
        reject(error);
      },
    );
  });
}
