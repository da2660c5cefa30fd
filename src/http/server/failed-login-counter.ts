import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';

/** Counts a failure. Gives null, or where there were too many the milliseconds until one may fail again. */
export type FailureCounter = (name: string) => Promise<number | null>;

/** @param points failures of one name that are let pass in `duration` seconds */
export function openFailureCounter(points: number, duration: number): FailureCounter {
  const limiter = new RateLimiterMemory({ points, duration });
  return (name) =>
    limiter.consume(name).then(
      () => null,
      (rejection: unknown) => {
        if (rejection instanceof RateLimiterRes) return rejection.msBeforeNext;
        throw rejection;
      },
    );
}
