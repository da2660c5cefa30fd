/** Time as a constructor argument: the machine's in the service, a manual one in tests. */
export interface Clock {
  /** Milliseconds since the epoch; may jump. */
  now(): number;
  /** Milliseconds on a monotonic clock, for durations and deadlines; comparable with `performance.now()`. */
  monotonic(): number;
  /**
   * Calls `callback` once after so many milliseconds.
   *
   * @param background it does not keep the process alive
   * @returns cancels it
   */
  after(milliseconds: number, callback: () => void, background?: boolean): () => void;
}

/** Node's timers go no further. */
const LONGEST_TIMER = 2 ** 31 - 1;

export const SYSTEM_CLOCK: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(milliseconds, callback, background = false) {
    const timer = setTimeout(callback, Math.min(Math.max(0, milliseconds), LONGEST_TIMER));
    if (background) timer.unref();
    return () => clearTimeout(timer);
  },
};

/** @throws the signal's reason */
export function sleep(clock: Clock, milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted === true) {
      reject(signal.reason as Error);
      return;
    }
    const onAbort = (): void => {
      cancel();
      reject(signal?.reason as Error);
    };
    const cancel = clock.after(milliseconds, () => {
      signal?.removeEventListener('abort', onAbort);
      resolve();
    });
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}
