import { ApiFailure, isTransient } from '../../src/engines/bigquery/api-failure';
import { retrying } from '../../src/engines/bigquery/transport';
import type { RunLimits } from '../../src/engines/contract';
import { ManualClock } from '../manual-clock';

let clock: ManualClock;
beforeEach(() => {
  clock = new ManualClock();
});

function limits(milliseconds = 5_000, signal: AbortSignal = new AbortController().signal): RunLimits {
  return { deadline: clock.monotonic() + milliseconds, signal };
}

describe('retries', () => {
  const unavailable = new ApiFailure(503, 'backendError');

  async function attempts(failures: readonly Error[], within: RunLimits): Promise<{ calls: number; outcome: unknown }> {
    let calls = 0;
    const attempt = (): Promise<string> => {
      const failure = failures[calls++];
      return failure === undefined ? Promise.resolve('done') : Promise.reject(failure);
    };
    const retried = retrying(attempt, within, isTransient, clock).catch((error: unknown) => error);
    await clock.advance(4_999);
    return { calls, outcome: await retried };
  }

  test('a transient failure is tried again, twice at most', async () => {
    expect(await attempts([unavailable], limits())).toEqual({ calls: 2, outcome: 'done' });
    expect(await attempts([unavailable, unavailable], limits())).toEqual({ calls: 3, outcome: 'done' });
    expect(await attempts([unavailable, unavailable, unavailable], limits())).toEqual({
      calls: 3,
      outcome: unavailable,
    });
  });

  test.each(['bytesBilledLimitExceeded', 'quotaExceeded', 'invalidQuery', 'accessDenied'])(
    '%s is final',
    async (reason) => {
      const failure = new ApiFailure(500, reason);
      expect(await attempts([failure], limits())).toEqual({ calls: 1, outcome: failure });
    },
  );

  test('what is no failure of the API is final', async () => {
    const error = new Error('a bug');
    expect(await attempts([error], limits())).toEqual({ calls: 1, outcome: error });
  });

  test('not when the deadline comes first, nor when the service asks for longer than is left', async () => {
    expect(await attempts([unavailable], limits(50))).toEqual({ calls: 1, outcome: unavailable });
    const later = new ApiFailure(503, 'backendError', '', 3);
    expect(await attempts([later], limits(2_000))).toEqual({ calls: 1, outcome: later });
  });

  test('the service is given the time it asks for', async () => {
    const attempt = jest.fn().mockRejectedValueOnce(new ApiFailure(429, 'rateLimitExceeded', '', 1));
    const retried = retrying(attempt, limits(), isTransient, clock);
    await clock.advance(999);
    expect(attempt).toHaveBeenCalledTimes(1);
    // A jitter of 100 milliseconds at most.
    await clock.advance(101);
    expect(attempt).toHaveBeenCalledTimes(2);
    await retried;
  });

  test('nobody waits: no further try', async () => {
    const gone = new AbortController();
    const trying = attempts([unavailable], limits(5_000, gone.signal));
    gone.abort();
    expect(await trying).toMatchObject({ calls: 1, outcome: { name: 'AbortError' } });
  });
});
