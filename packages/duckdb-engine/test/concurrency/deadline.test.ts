import { raceLimits, type RunLimits, TimeoutError, withinLimits, withTimeout } from '../../src/concurrency/deadline';
import { ManualClock } from '../../../../test/manual-clock';

let clock: ManualClock;
beforeEach(() => {
  clock = new ManualClock();
});

function limits(milliseconds = 5_000, signal: AbortSignal = new AbortController().signal): RunLimits {
  return { deadline: clock.monotonic() + milliseconds, signal };
}

describe('limits', () => {
  it('end the work with a signal, and give the caller its reason', async () => {
    const seen: unknown[] = [];
    const work = (signal: AbortSignal): Promise<never> =>
      new Promise((_, reject) => {
        signal.addEventListener('abort', () => {
          seen.push(signal.reason);
          reject(new Error('torn down'));
        });
      });
    const late = expect(withinLimits(limits(10), work, clock)).rejects.toMatchObject({ reason: 'deadlineExceeded' });
    await clock.advance(10);
    await late;
    const cancellation = new AbortController();
    const waiting = withinLimits(limits(5_000, cancellation.signal), work, clock);
    cancellation.abort();
    await expect(waiting).rejects.toMatchObject({ name: 'AbortError' });
    expect(seen).toHaveLength(2);
    expect(clock.pending).toBe(0);
  });

  it('hand over a late result once, a timely one never, and ignore a late failure', async () => {
    const onLate = jest.fn();
    expect(await raceLimits(limits(), () => Promise.resolve('in time'), onLate, clock)).toBe('in time');
    let resolve = (_: string): void => undefined;
    let reject = (_: Error): void => undefined;
    const results = [
      raceLimits(limits(10), () => new Promise<string>((done) => (resolve = done)), onLate, clock),
      raceLimits(limits(10), () => new Promise<string>((_, failed) => (reject = failed)), onLate, clock),
    ].map((result) => expect(result).rejects.toMatchObject({ reason: 'deadlineExceeded' }));
    await clock.advance(10);
    await Promise.all(results);
    resolve('late');
    reject(new Error('late too'));
    await clock.advance(0);
    expect(onLate.mock.calls).toEqual([['late']]);
  });
});

describe('a timeout', () => {
  it('passes on what comes in time, and nothing after that', async () => {
    await expect(withTimeout(1000, () => Promise.resolve(1), clock)).resolves.toBe(1);
    await expect(withTimeout(1000, () => Promise.reject(new Error('own')), clock)).rejects.toThrow('own');
    let reject = (_: Error): void => undefined;
    const late = expect(withTimeout(20, () => new Promise((_, failed) => (reject = failed)), clock)).rejects.toThrow(
      TimeoutError,
    );
    await clock.advance(20);
    await late;
    reject(new Error('later'));
    await clock.advance(0);
  });
});
