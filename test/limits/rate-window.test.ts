import fc from 'fast-check';

import { policyOf, RateWindow } from '../../src/limits/rate-window';

describe('a rate as whole requests in whole seconds', () => {
  it.each([
    [100, 100, 1],
    [1, 1, 1],
    [0.5, 1, 2],
    [1.5, 3, 2],
    [0.1, 1, 10],
    [2.25, 9, 4],
    [1 / 60, 1, 60],
    [1 / 90, 1, 90],
    [1e-9, 1, 86_400],
  ])('%d a second is %d in %d s', (rate, quota, window) => {
    expect(policyOf(rate)).toEqual({ quota, window });
  });

  it('lets through no more than the rate, and something', () => {
    fc.assert(
      fc.property(fc.double({ min: 1 / 86_400, max: 1e6, noNaN: true }), (rate) => {
        const { quota, window } = policyOf(rate);
        expect(Number.isInteger(quota) && quota >= 1 && Number.isInteger(window) && window >= 1).toBe(true);
        expect(quota / window).toBeLessThanOrEqual(rate * (1 + 1e-6));
      }),
    );
  });
});

describe('the window of one process', () => {
  it('lets the quota through, then nothing until it ends', () => {
    const window = new RateWindow({ quota: 3, window: 2 });
    const taken = [0, 10, 20, 30, 1999].map((now) => window.take(1000 + now));
    expect(taken).toEqual([true, true, true, false, false]);
    expect(window.reset(2000)).toBe(1);
    expect(window.reset(1000)).toBe(2);
    expect([window.take(3000), window.remaining]).toEqual([true, 2]);
  });

  it('never says that it takes longer than a window', () => {
    fc.assert(
      fc.property(fc.double({ min: 0, max: 1e9, noNaN: true }), fc.integer({ min: 1, max: 60 }), (now, length) => {
        const window = new RateWindow({ quota: 1, window: length });
        window.take(now);
        expect(window.reset(now)).toBe(length);
      }),
    );
  });

  it('never lets more than twice the quota through in any time as long as a window', () => {
    const gaps = fc.array(fc.integer({ min: 0, max: 400 }), { maxLength: 60 });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 5 }), gaps, (quota, between) => {
        const window = new RateWindow({ quota, window: 1 });
        const admitted: number[] = [];
        let now = 0;
        for (const gap of between) {
          now += gap;
          if (window.take(now)) admitted.push(now);
        }
        for (const start of admitted) {
          expect(admitted.filter((at) => at >= start && at < start + 1000).length).toBeLessThanOrEqual(2 * quota);
        }
      }),
    );
  });
});

describe('the windows of several processes', () => {
  it('leaves what others did not ask for', () => {
    const window = new RateWindow({ quota: 10, window: 1 });
    window.take(0);
    window.learn({ requested: 8, endsIn: 400 }, 1, 5);
    expect(window.remaining).toBe(2);
    expect([6, 7, 8].map((now) => window.take(now))).toEqual([true, true, false]);
    // The cluster's window ends sooner than this process's own would have.
    expect(window.take(404)).toBe(false);
    expect(window.take(405)).toBe(true);
  });

  it('gives each its part of the quota after a window that was asked for more', () => {
    const window = new RateWindow({ quota: 10, window: 1 });
    for (let i = 0; i < 10; i++) window.take(0);
    window.learn({ requested: 30, endsIn: 500 }, 10, 1);
    const admitted = Array.from({ length: 20 }, (_, i) => window.take(501 + i)).filter(Boolean);
    expect(admitted).toHaveLength(3);
  });

  it('gives one all of it when the others have stopped', () => {
    const window = new RateWindow({ quota: 10, window: 1 });
    for (let i = 0; i < 10; i++) window.take(0);
    window.learn({ requested: 30, endsIn: 500 }, 10, 1);
    window.take(501); // its part of the quota only
    window.learn({ requested: 1, endsIn: 900 }, 1, 502);
    window.take(1500);
    expect(window.remaining).toBe(9);
  });

  it('is not mixed up with the next window of the cluster, which begins a little earlier', () => {
    const window = new RateWindow({ quota: 10, window: 1 });
    for (let i = 0; i < 10; i++) window.take(0);
    window.learn({ requested: 20, endsIn: 500 }, 10, 1);
    window.learn({ requested: 0, endsIn: 1000 }, 10, 500.5);
    const admitted = Array.from({ length: 20 }, () => window.take(501)).filter(Boolean);
    expect(admitted).toHaveLength(5);
  });

  it('forgets what others asked for long ago', () => {
    const window = new RateWindow({ quota: 10, window: 1 });
    window.take(0);
    window.learn({ requested: 1000, endsIn: 500 }, 1, 1);
    expect([window.take(2), window.take(5000), window.remaining]).toEqual([false, true, 9]);
  });
});

describe('a Redis whose clock jumps or does not move', () => {
  it('ends no window later than a window from now', () => {
    const window = new RateWindow({ quota: 2, window: 1 });
    window.take(0);
    window.learn({ requested: 1000, endsIn: 3_600_000 }, 1, 5);
    expect([window.take(1004), window.take(1005)]).toEqual([false, true]);
  });

  it('does not move the end of a window on again and again', () => {
    const window = new RateWindow({ quota: 2, window: 1 });
    window.take(0);
    for (let now = 5; now < 500; now += 50) window.learn({ requested: 1000, endsIn: 495 }, 1, now);
    expect([window.take(499), window.take(500)]).toEqual([false, true]);
  });

  it('neither locks callers out nor lets them through without limit', () => {
    const answers = fc.record({
      requested: fc.integer({ min: 1, max: 100_000 }),
      endsIn: fc.oneof(fc.constantFrom(1, 500, 1000, 3_600_000), fc.integer({ min: 1, max: 2000 })),
    });
    const quotas = fc.integer({ min: 1, max: 20 });
    fc.assert(
      fc.property(quotas, fc.array(fc.option(answers), { minLength: 1, maxLength: 50 }), (quota, learned) => {
        const window = new RateWindow({ quota, window: 1 });
        const admitted: number[] = [];
        for (let now = 0; now < 10_000; now += 10) {
          if (window.take(now)) admitted.push(now);
          const answer = learned[(now / 10) % learned.length] ?? null;
          if (answer !== null) window.learn(answer, Math.min(window.requested, answer.requested), now + 1);
        }
        for (let start = 0; start <= 6000; start += 100) {
          const within = (length: number): number => admitted.filter((at) => at >= start && at < start + length).length;
          expect(within(1000)).toBeLessThanOrEqual(4 * quota);
          expect(within(4000)).toBeGreaterThanOrEqual(1);
        }
      }),
    );
  });
});
