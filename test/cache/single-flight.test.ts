import { type RunControl, SingleFlight } from '../../src/cache/single-flight';
import type { RunLimits } from '../../packages/duckdb-engine/src/contract/contract';
import { ManualClock, settled } from '../manual-clock';
import { failureOf } from './processes';

/** Work that a test ends; it does not end by itself when it is aborted. */
class Work {
  readonly controls: RunControl[] = [];
  #resolve!: (value: string) => void;
  #reject!: (error: unknown) => void;

  readonly begin = (control: RunControl): Promise<string> => {
    this.controls.push(control);
    return new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  };

  get control(): RunControl {
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
  return { deadline: clock.monotonic() + within, signal };
}

const settle = settled;

let clock: ManualClock;
let flight: SingleFlight<string>;
let work: Work;
beforeEach(() => {
  clock = new ManualClock();
  flight = new SingleFlight(clock);
  work = new Work();
});

describe('a flight', () => {});

describe('who waits', () => {
  it('begins nothing when they have left before', async () => {
    const gone = AbortSignal.abort();
    expect(await failureOf(flight.join('a', limits(60_000, gone), work.begin))).toMatchObject({ name: 'AbortError' });
    const late = await failureOf(flight.join('a', limits(0), work.begin));
    expect(late).toMatchObject({ reason: 'deadlineExceeded' });
    expect([work.controls.length, flight.size]).toEqual([0, 0]);
  });

  it('aborts the work by leaving as the last; who comes then starts another, though the first has not ended', async () => {
    const leaving = [new AbortController(), new AbortController()];
    const left = leaving.map(({ signal }) => failureOf(flight.join('a', limits(60_000, signal), work.begin)));
    leaving[0]?.abort();
    await left[0];
    expect(work.control.signal.aborted).toBe(false);
    leaving[1]?.abort();
    await left[1];
    await settle();
    expect(work.controls[0]?.signal.aborted).toBe(true);
    expect(work.controls[0]?.signal.reason).toMatchObject({ name: 'AbortError' });
    expect(flight.has('a')).toBe(false);
    const another = new Work();
    const next = flight.join('a', limits(), another.begin);
    // The end of the first takes nothing from the second.
    work.fail(new Error('Aborted, at last.'));
    await settle();
    expect(flight.has('a')).toBe(true);
    another.finish('another');
    expect(await next).toBe('another');
  });
});

describe('a flight that others wait for elsewhere', () => {
  /** One whose last waiter here has left. */
  async function left(awaited: () => Promise<boolean>): Promise<void> {
    const leaving = new AbortController();
    const waiter = failureOf(flight.join('a', limits(60_000, leaving.signal), work.begin));
    work.control.awaitedElsewhere = awaited;
    leaving.abort();
    await waiter;
  }

  it('may be joined again here', async () => {
    await left(() => Promise.resolve(true));
    await settle();
    const joined = flight.join('a', limits(), work.begin);
    expect(work.controls).toHaveLength(1);
    work.finish('done');
    expect(await joined).toBe('done');
  });

  it('may be joined while it is asked about, and is not aborted then', async () => {
    let answer!: (awaited: boolean) => void;
    await left(() => new Promise((resolve) => (answer = resolve)));
    const joined = flight.join('a', limits(), work.begin);
    answer(false);
    await settle();
    expect([work.control.signal.aborted, work.controls.length]).toEqual([false, 1]);
    work.finish('done');
    expect(await joined).toBe('done');
  });

  it('is aborted when nobody can be asked about it', async () => {
    await left(() => Promise.reject(new Error('Nobody answers.')));
    await settle();
    expect(work.control.signal.aborted).toBe(true);
  });

  it('is asked about by one, however often somebody comes and goes', async () => {
    let questions = 0;
    await left(() => {
      questions++;
      return Promise.resolve(true);
    });
    for (let i = 0; i < 50; i++) {
      const leaving = new AbortController();
      const waiter = failureOf(flight.join('a', limits(60_000, leaving.signal), work.begin));
      leaving.abort();
      await waiter;
    }
    await clock.advance(1200);
    // At once, and every half second.
    expect(questions).toBe(3);
    work.finish('done');
    await flight.close();
  });
});

describe('the end', () => {
  it('aborts what is in flight, whoever waits, and comes when all of it has ended', async () => {
    const waiter = failureOf(flight.join('a', limits(), work.begin));
    const abandoned = new Work();
    const left = failureOf(flight.join('b', limits(10), abandoned.begin));
    await clock.advance(10);
    await left;
    await settle();
    expect(abandoned.control.signal.aborted).toBe(true);
    let closed = false;
    const closing = flight.close().then(() => (closed = true));
    await settle();
    expect([closed, work.control.signal.aborted]).toEqual([false, true]);
    work.fail(new Error('Aborted.'));
    expect(await waiter).toMatchObject({ message: 'Aborted.' });
    await settle();
    // What nobody waits for any more has not ended either.
    expect(closed).toBe(false);
    abandoned.finish('late');
    await closing;
    expect(flight.size).toBe(0);
  });
});
