import { CircuitBreaker } from '../../src/concurrency/circuit-breaker';
import { ManualClock } from '../manual-clock';

describe('a circuit breaker', () => {
  let clock: ManualClock;
  let changes: string[];
  let breaker: CircuitBreaker;

  beforeEach(() => {
    clock = new ManualClock();
    changes = [];
    breaker = new CircuitBreaker({ failures: 3, cooldown: 100, clock, onChange: (state) => changes.push(state) });
  });

  const fail = (times: number): void => {
    for (let i = 0; i < times; i++) breaker.failed();
  };

  it('opens after consecutive failures only', () => {
    for (let i = 0; i < 5; i++) {
      fail(2);
      breaker.succeeded();
    }
    expect(breaker.state).toBe('closed');
    fail(2);
    expect(breaker.admit()).not.toBeNull();
    fail(1);
    expect(breaker.state).toBe('open');
    expect(breaker.admit()).toBeNull();
    expect(breaker.remaining()).toBe(100);
    expect(changes).toEqual(['open']);
  });

  it('admits one trial after the cooldown, which decides', async () => {
    fail(3);
    await clock.advance(100);
    expect(breaker.state).toBe('half-open');
    const leave = breaker.admit();
    expect(leave).not.toBeNull();
    expect(breaker.admit()).toBeNull();
    fail(1);
    leave?.();
    expect(breaker.state).toBe('open');
    await clock.advance(99);
    expect(breaker.admit()).toBeNull();
    await clock.advance(1);
    expect(breaker.admit()).not.toBeNull();
    breaker.succeeded();
    expect(breaker.state).toBe('closed');
    expect(breaker.admit()).not.toBeNull();
    expect(changes).toEqual(['open', 'closed']);
  });

  it('admits the next trial after one without an outcome', async () => {
    fail(3);
    await clock.advance(100);
    const first = breaker.admit();
    first?.();
    expect(breaker.admit()).not.toBeNull();
    // Leaving twice frees nothing.
    first?.();
    expect(breaker.admit()).toBeNull();
  });

  it('starts half-open when untested, and opens at once when tripped', () => {
    const untested = new CircuitBreaker({ failures: 3, cooldown: () => 50, untested: true, clock });
    expect(untested.state).toBe('half-open');
    untested.succeeded();
    expect(untested.state).toBe('closed');
    untested.trip();
    expect([untested.state, untested.remaining()]).toEqual(['open', 50]);
  });
});
