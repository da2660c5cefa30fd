/** What was waited for has not come in time. */
export class Late extends Error {
  override readonly name = 'Late';
}

/**
 * Waits for `work`, for so many milliseconds at most; it goes on, and what it brings later nobody hears of.
 *
 * @throws Late; whatever `work` rejects with
 */
export function within<T>(milliseconds: number, work: () => Promise<T>): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    // A process that was busy with something else for so long has not looked yet at what has come: a turn of the event
    // loop reads it, between the timers and `setImmediate`.
    const timer = setTimeout(() => setImmediate(() => reject(new Late('No answer in time.'))), milliseconds);
    work().then(
      (value) => {
        clearTimeout(timer);
        resolve(value);
      },
      (error: unknown) => {
        clearTimeout(timer);
        reject(error as Error);
      },
    );
  });
}
