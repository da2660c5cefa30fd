import { setTimeout as sleep } from 'node:timers/promises';

import { type FlightControl, Flights } from '../../src/cache/flights';
import type { RunLimits } from '../../src/engines/contract';
import { failureOf, until } from './processes';

/** Work that a test ends; it does not end by itself when it is aborted. */
class Work {
  readonly controls: FlightControl[] = [];
  #resolve!: (value: string) => void;
  #reject!: (error: unknown) => void;

  readonly begin = (control: FlightControl): Promise<string> => {
    this.controls.push(control);
    return new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  };

  get control(): FlightControl {
    const control = this.controls.at(-1);
    if (control === undefined) throw new Error('It has not begun.');
    return control;
  }

  finish(value: string): void {
    this.#resolve(value);
  }

  fail(error: unknown): void {
    this.#reject(error);
  }
}

function limits(within = 60_000, signal = new AbortController().signal): RunLimits {
  return { deadline: performance.now() + within, signal };
}

/** Lets everything happen that waits for nothing. */
const settle = (): Promise<void> => sleep(20);

let flights: Flights<string>;
let work: Work;
beforeEach(() => {
  flights = new Flights();
  work = new Work();
});

describe('a flight', () => {
  it('is one for all who ask meanwhile, and over when it has landed', async () => {
    const waiters = Array.from({ length: 100 }, () => flights.join('a', limits(), work.begin));
    expect(work.controls).toHaveLength(1);
    expect([flights.size, flights.has('a'), flights.has('b')]).toEqual([1, true, false]);
    work.finish('landed');
    expect(new Set(await Promise.all(waiters))).toEqual(new Set(['landed']));
    expect([flights.size, work.control.signal.aborted]).toEqual([0, false]);
    const again = flights.join('a', limits(), work.begin);
    expect(work.controls).toHaveLength(2);
    work.finish('again');
    expect(await again).toBe('again');
  });

  it('is not that of another name', async () => {
    const other = new Work();
    const [a, b] = [flights.join('a', limits(), work.begin), flights.join('b', limits(), other.begin)];
    other.finish('b');
    expect(await b).toBe('b');
    work.finish('a');
    expect(await a).toBe('a');
  });

  it('fails for all who wait, and for nobody after them', async () => {
    const fault = new Error('It failed.');
    const waiters = [1, 2, 3].map(() => failureOf(flights.join('a', limits(), work.begin)));
    work.fail(fault);
    expect(await Promise.all(waiters)).toEqual([fault, fault, fault]);
    expect(flights.size).toBe(0);
    const next = flights.join('a', limits(), work.begin);
    work.finish('fine');
    expect(await next).toBe('fine');
  });
});

describe('who waits', () => {
  it('leaves at their own deadline, and disturbs nobody', async () => {
    const unlimited = flights.join('a', limits(), work.begin);
    const hasty = failureOf(flights.join('a', limits(30), work.begin));
    expect(await hasty).toMatchObject({ reason: 'deadlineExceeded' });
    expect(work.control.signal.aborted).toBe(false);
    work.finish('landed');
    expect(await unlimited).toBe('landed');
  });

  it('leaves when they have gone, also who began it, and disturbs nobody', async () => {
    const leaving = new AbortController();
    const first = failureOf(flights.join('a', limits(60_000, leaving.signal), work.begin));
    const second = flights.join('a', limits(), work.begin);
    leaving.abort();
    expect(await first).toMatchObject({ name: 'AbortError' });
    await settle();
    expect([work.control.signal.aborted, work.controls.length]).toEqual([false, 1]);
    work.finish('landed');
    expect(await second).toBe('landed');
  });

  it('begins nothing when they have left before', async () => {
    const gone = AbortSignal.abort();
    expect(await failureOf(flights.join('a', limits(60_000, gone), work.begin))).toMatchObject({ name: 'AbortError' });
    const late = await failureOf(flights.join('a', limits(0), work.begin));
    expect(late).toMatchObject({ reason: 'deadlineExceeded' });
    expect([work.controls.length, flights.size]).toEqual([0, 0]);
  });

  it('aborts the work by leaving as the last; who comes then begins anew, though the first has not ended', async () => {
    const leaving = [new AbortController(), new AbortController()];
    const left = leaving.map(({ signal }) => failureOf(flights.join('a', limits(60_000, signal), work.begin)));
    leaving[0]?.abort();
    await left[0];
    expect(work.control.signal.aborted).toBe(false);
    leaving[1]?.abort();
    await left[1];
    await settle();
    expect(work.controls[0]?.signal.aborted).toBe(true);
    expect(work.controls[0]?.signal.reason).toMatchObject({ name: 'AbortError' });
    expect(flights.has('a')).toBe(false);
    const anew = new Work();
    const next = flights.join('a', limits(), anew.begin);
    // The end of the first takes nothing from the second.
    work.fail(new Error('Aborted, at last.'));
    await settle();
    expect(flights.has('a')).toBe(true);
    anew.finish('anew');
    expect(await next).toBe('anew');
  });
});

describe('a flight that others wait for elsewhere', () => {
  /** One whose last waiter here has left. */
  async function left(awaited: () => Promise<boolean>): Promise<void> {
    const leaving = new AbortController();
    const waiter = failureOf(flights.join('a', limits(60_000, leaving.signal), work.begin));
    work.control.awaitedElsewhere = awaited;
    leaving.abort();
    await waiter;
  }

  it('goes on until they have left too', async () => {
    let waiting = true;
    let asked = 0;
    await left(() => {
      asked++;
      return Promise.resolve(waiting);
    });
    await until(() => asked >= 2);
    expect([work.control.signal.aborted, flights.has('a')]).toEqual([false, true]);
    waiting = false;
    await until(() => work.control.signal.aborted);
    expect(flights.has('a')).toBe(false);
  });

  it('may be joined again here', async () => {
    await left(() => Promise.resolve(true));
    await settle();
    const joined = flights.join('a', limits(), work.begin);
    expect(work.controls).toHaveLength(1);
    work.finish('landed');
    expect(await joined).toBe('landed');
  });

  it('may be joined while it is asked about, and is not aborted then', async () => {
    let answer!: (awaited: boolean) => void;
    await left(() => new Promise((resolve) => (answer = resolve)));
    const joined = flights.join('a', limits(), work.begin);
    answer(false);
    await settle();
    expect([work.control.signal.aborted, work.controls.length]).toEqual([false, 1]);
    work.finish('landed');
    expect(await joined).toBe('landed');
  });

  it('is aborted when nobody can be asked about it', async () => {
    await left(() => Promise.reject(new Error('Nobody answers.')));
    await until(() => work.control.signal.aborted);
  });

  it('is asked about by one, however often somebody comes and goes', async () => {
    let asked = 0;
    await left(() => {
      asked++;
      return Promise.resolve(true);
    });
    for (let i = 0; i < 50; i++) {
      const leaving = new AbortController();
      const waiter = failureOf(flights.join('a', limits(60_000, leaving.signal), work.begin));
      leaving.abort();
      await waiter;
    }
    const began = performance.now();
    await sleep(1200);
    // Every half second, and once or twice more.
    expect(asked).toBeLessThanOrEqual(4 + (performance.now() - began) / 400);
    work.finish('landed');
    await flights.close();
  });
});

describe('the end', () => {
  it('aborts what is in flight, whoever waits, and comes when all of it has ended', async () => {
    const waiter = failureOf(flights.join('a', limits(), work.begin));
    const abandoned = new Work();
    const left = failureOf(flights.join('b', limits(10), abandoned.begin));
    await left;
    await until(() => abandoned.control.signal.aborted);
    let closed = false;
    const closing = flights.close().then(() => (closed = true));
    await settle();
    expect([closed, work.control.signal.aborted]).toEqual([false, true]);
    work.fail(new Error('Aborted.'));
    expect(await waiter).toMatchObject({ message: 'Aborted.' });
    await settle();
    // What nobody waits for any more has not ended either.
    expect(closed).toBe(false);
    abandoned.finish('late');
    await closing;
    expect(flights.size).toBe(0);
  });
});
