import { setTimeout as sleep } from 'node:timers/promises';
import { ApiFailure } from '../../src/engines/bigquery/api-failure';
import { Breaker } from '../../src/engines/bigquery/breaker';
import { retrying } from '../../src/engines/bigquery/retry';
import type { RunLimits } from '../../src/engines/contract';
import { unlessGivenUp, withinLimits } from '../../src/engines/giving-up';
import { Slots } from '../../src/engines/slots';

function limits(milliseconds = 5_000, signal: AbortSignal = new AbortController().signal): RunLimits {
  return { deadline: performance.now() + milliseconds, signal };
}

describe('retries', () => {
  const unavailable = new ApiFailure(503, 'backendError');

  async function attempts(failures: readonly Error[], within: RunLimits): Promise<{ calls: number; outcome: unknown }> {
    let calls = 0;
    const outcome = await retrying(() => {
      const failure = failures[calls++];
      return failure === undefined ? Promise.resolve('done') : Promise.reject(failure);
    }, within).catch((error: unknown) => error);
    return { calls, outcome };
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
    const start = performance.now();
    expect(await attempts([new ApiFailure(429, 'rateLimitExceeded', '', 1)], limits())).toMatchObject({ calls: 2 });
    expect(performance.now() - start).toBeGreaterThanOrEqual(999);
  });

  test('nobody waits: no further try', async () => {
    const gone = new AbortController();
    const trying = attempts([unavailable], limits(5_000, gone.signal));
    gone.abort();
    expect(await trying).toMatchObject({ calls: 1, outcome: { name: 'AbortError' } });
  });
});

describe('the circuit breaker', () => {
  let now = 0;
  const changes: string[] = [];
  const breaker = () => {
    now = 0;
    changes.length = 0;
    return new Breaker({ failures: 3, cooldown: 100, clock: () => now, onChange: (state) => changes.push(state) });
  };

  test('opens after failures in a row alone', () => {
    const one = breaker();
    for (let i = 0; i < 5; i++) {
      one.failed();
      one.failed();
      one.succeeded();
    }
    expect(one.state).toBe('closed');
    one.failed();
    one.failed();
    expect(one.admit()).not.toBeNull();
    one.failed();
    expect(one.state).toBe('open');
    expect(one.admit()).toBeNull();
    expect(one.remaining()).toBe(100);
    expect(changes).toEqual(['open']);
  });

  test('lets one try after the cooldown; it decides', () => {
    const one = breaker();
    for (let i = 0; i < 3; i++) one.failed();
    now = 100;
    expect(one.state).toBe('half-open');
    const leave = one.admit();
    expect(leave).not.toBeNull();
    expect(one.admit()).toBeNull();
    one.failed();
    leave?.();
    expect(one.state).toBe('open');
    now = 199;
    expect(one.admit()).toBeNull();
    now = 200;
    expect(one.admit()).not.toBeNull();
    one.succeeded();
    expect(one.state).toBe('closed');
    expect(one.admit()).not.toBeNull();
    expect(changes).toEqual(['open', 'closed']);
  });

  test('a try that learns nothing makes room for the next', () => {
    const one = breaker();
    for (let i = 0; i < 3; i++) one.failed();
    now = 100;
    const first = one.admit();
    first?.();
    const second = one.admit();
    expect(second).not.toBeNull();
    // Only a request's own leaving counts.
    first?.();
    expect(one.admit()).toBeNull();
  });

  test('late failures of what was under way do not prolong it', () => {
    const one = breaker();
    for (let i = 0; i < 3; i++) one.failed();
    now = 90;
    one.failed();
    now = 100;
    expect(one.state).toBe('half-open');
  });
});

describe('slots', () => {
  test('bound what runs at once; the others come in turn', async () => {
    const slots = new Slots(2);
    const order: number[] = [];
    let running = 0;
    let most = 0;
    await Promise.all(
      Array.from({ length: 7 }, (_, i) =>
        slots.use(limits(), async () => {
          most = Math.max(most, ++running);
          order.push(i);
          await sleep(5);
          running--;
        }),
      ),
    );
    expect(most).toBe(2);
    expect(order).toEqual([0, 1, 2, 3, 4, 5, 6]);
    expect([slots.taken, slots.waiting]).toEqual([0, 0]);
  });

  test('are given back after a failure', async () => {
    const slots = new Slots(1);
    await expect(slots.use(limits(), () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(await slots.use(limits(), () => Promise.resolve('yes'))).toBe('yes');
  });

  test('who waits too long or leaves waits no longer, and takes no slot with it', async () => {
    const slots = new Slots(1);
    let end = (): void => undefined;
    const first = slots.use(limits(), () => new Promise<void>((resolve) => (end = resolve)));
    const gone = new AbortController();
    const never = jest.fn(() => Promise.resolve());
    const late = slots.use(limits(20), never);
    const left = slots.use(limits(5_000, gone.signal), never);
    const patient = slots.use(limits(), () => Promise.resolve('patient'));
    gone.abort();
    await expect(left).rejects.toMatchObject({ name: 'AbortError' });
    await expect(late).rejects.toMatchObject({ reason: 'deadlineExceeded' });
    end();
    expect(await patient).toBe('patient');
    await first;
    expect(never).not.toHaveBeenCalled();
    expect([slots.taken, slots.waiting]).toEqual([0, 0]);
  });

  test('nothing begins after the deadline or for who has left', async () => {
    const slots = new Slots(1);
    await expect(slots.use(limits(-1), () => Promise.resolve())).rejects.toMatchObject({ reason: 'deadlineExceeded' });
    await expect(slots.use(limits(1, AbortSignal.abort()), () => Promise.resolve())).rejects.toMatchObject({
      name: 'AbortError',
    });
    expect(slots.taken).toBe(0);
  });
});

describe('giving up', () => {
  test('the work learns of it, and the caller why', async () => {
    const seen: unknown[] = [];
    const work = (signal: AbortSignal): Promise<never> =>
      new Promise((_, reject) => {
        signal.addEventListener('abort', () => {
          seen.push(signal.reason);
          reject(new Error('torn down'));
        });
      });
    await expect(withinLimits(limits(10), work)).rejects.toMatchObject({ reason: 'deadlineExceeded' });
    const gone = new AbortController();
    const waiting = withinLimits(limits(5_000, gone.signal), work);
    gone.abort();
    await expect(waiting).rejects.toMatchObject({ name: 'AbortError' });
    expect(seen).toHaveLength(2);
  });

  test('what comes late is handed over once, what comes in time never', async () => {
    const late = jest.fn();
    expect(await unlessGivenUp(limits(), () => Promise.resolve('in time'), late)).toBe('in time');
    await expect(unlessGivenUp(limits(10), () => sleep(40, 'late'), late)).rejects.toMatchObject({
      reason: 'deadlineExceeded',
    });
    await expect(
      unlessGivenUp(limits(10), () => sleep(20).then(() => Promise.reject(new Error('late too'))), late),
    ).rejects.toMatchObject({ reason: 'deadlineExceeded' });
    await sleep(60);
    expect(late.mock.calls).toEqual([['late']]);
  });
});
