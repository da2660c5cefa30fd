/** The log's writer: whatever becomes of the disk or the reader, nothing waits, and what is lost is counted. */
import { LineWriter, type System } from '../../src/log/line-writer';

/** A scripted descriptor: the test completes its calls. */
class Descriptor implements System {
  text = '';
  /** The next errors, by code; null: takes bytes. */
  code: string | null = null;
  /** Bytes that a call takes at most. */
  most = Infinity;
  calls = 0;
  readonly #answers: (() => void)[] = [];

  readonly write: NonNullable<System['write']> = (bytes, done) => {
    this.calls++;
    this.#answers.push(() => {
      try {
        done(null, this.#take(bytes));
      } catch (error) {
        done(error as Error, 0);
      }
    });
  };

  readonly writeSync: System['writeSync'] = (bytes) => {
    this.calls++;
    return this.#take(bytes);
  };

  /** Answers every call, and those that come of it. */
  answer(): void {
    while (this.#answers.length > 0) this.#answers.shift()?.();
  }

  #take(bytes: Buffer): number {
    if (this.code !== null) throw Object.assign(new Error(this.code), { code: this.code, syscall: 'write' });
    const taken = bytes.subarray(0, Math.min(bytes.length, this.most));
    this.text += taken.toString();
    return taken.length;
  }
}

const line = (n: number): string => `${JSON.stringify({ n, pad: 'x'.repeat(400) })}\n`;

let descriptor: Descriptor;
let writer: LineWriter;
let faults: (string | null)[];
beforeEach(() => {
  jest.useFakeTimers();
  descriptor = new Descriptor();
  writer = new LineWriter(2, { mostWaiting: 20_000, system: descriptor });
  faults = [];
  writer.onFault((fault) => faults.push(fault));
});
afterEach(() => {
  descriptor.code = null;
  writer.close();
  jest.useRealTimers();
});

function write(from: number, to: number): void {
  for (let n = from; n < to; n++) writer.write(line(n));
}

/** What came through, each line being whole. */
function written(): number[] {
  const lines = descriptor.text.split('\n').filter((text) => text !== '');
  return lines.map((text) => (JSON.parse(text) as { n: number }).n);
}

/** Lets the writer's timer and the descriptor work. */
function pass(milliseconds = 100): void {
  jest.advanceTimersByTime(milliseconds);
  descriptor.answer();
}

it('writes batches, in order, and what waits after a moment', () => {
  write(0, 3);
  expect(descriptor.calls).toBe(0);
  pass();
  expect(written()).toEqual([0, 1, 2]);
  write(3, 40);
  for (let i = 0; i < 5; i++) pass();
  expect(written()).toEqual([...Array(40).keys()]);
  expect([writer.dropped, faults]).toEqual([0, []]);
});

it('drops and counts what a full disk does not take, says so once, and goes on when there is room', () => {
  descriptor.code = 'ENOSPC';
  write(0, 5);
  pass();
  write(5, 8);
  pass();
  expect([writer.dropped, faults]).toEqual([8, ['ENOSPC']]);
  descriptor.code = null;
  write(8, 10);
  pass();
  expect([written(), writer.dropped, faults]).toEqual([[8, 9], 8, ['ENOSPC', null]]);
});

it('ends a line that the disk took a part of, so that those after it can be read', () => {
  descriptor.most = 600;
  write(0, 4);
  jest.advanceTimersByTime(100);
  const { write: taking } = descriptor;
  let calls = 0;
  const partly: NonNullable<System['write']> = (bytes, done) => {
    if (calls++ > 0) descriptor.code = 'ENOSPC';
    taking(bytes, done);
  };
  Object.assign(descriptor, { write: partly });
  descriptor.code = null;
  descriptor.answer();
  descriptor.code = 'ENOSPC';
  pass();
  descriptor.code = null;
  descriptor.most = Infinity;
  calls = -1000;
  write(10, 12);
  pass();
  const lines = descriptor.text.split('\n').filter((text) => text !== '');
  expect(lines.slice(-2).map((text) => (JSON.parse(text) as { n: number }).n)).toEqual([10, 11]);
  const whole = lines.filter((text) => text.endsWith('"}')).length;
  expect(whole + writer.dropped).toBe(6);
});

it('keeps what a slow reader does not take yet, up to a bound', () => {
  descriptor.code = 'EAGAIN';
  write(0, 200);
  for (let i = 0; i < 5; i++) pass();
  expect(writer.dropped).toBeGreaterThan(100);
  expect(faults).toEqual(['EAGAIN']);
  descriptor.code = null;
  for (let i = 0; i < 20; i++) pass();
  expect(written()).toEqual([...Array(200 - writer.dropped).keys()]);
  expect(faults).toEqual(['EAGAIN', null]);
});

it('waits for no call that does not come back', () => {
  write(0, 300);
  expect(descriptor.calls).toBe(1);
  for (let i = 0; i < 50; i++) jest.advanceTimersByTime(100);
  expect(descriptor.calls).toBe(1);
  expect(writer.dropped).toBeGreaterThan(200);
});

it.each(['ENOSPC', 'EIO', 'EPIPE', 'EBADF', 'EFBIG', 'EDQUOT'])('ends at once where the last lines meet %s', (code) => {
  write(0, 5);
  descriptor.code = code;
  writer.flushSync();
  expect([descriptor.calls, writer.dropped]).toEqual([1, 5]);
});

it('waits a moment at the end for a reader that is slow, and no longer', () => {
  jest.useRealTimers();
  descriptor.code = 'EAGAIN';
  write(0, 5);
  writer.flushSync();
  expect(writer.dropped).toBe(5);
});

it('writes everything at the end', () => {
  descriptor.most = 100;
  write(0, 5);
  writer.flushSync();
  expect(written()).toEqual([0, 1, 2, 3, 4]);
});

it('writes nothing twice at the end, when a file is being written', () => {
  jest.useRealTimers();
  write(0, 30);
  writer.flushSync();
  descriptor.answer();
  expect(written().sort((a, b) => a - b)).toEqual([...Array(30).keys()]);
});

describe('to a pipe, which never blocks', () => {
  let pipe: Descriptor;
  let toPipe: LineWriter;
  beforeEach(() => {
    pipe = new Descriptor();
    toPipe = new LineWriter(2, {
      mostWaiting: 20_000,
      system: { write: null, writeSync: (bytes) => pipe.writeSync(bytes) },
    });
  });
  afterEach(() => {
    pipe.code = null;
    toPipe.close();
  });
  const lines = (): number[] =>
    pipe.text
      .split('\n')
      .filter((text) => text !== '')
      .map((text) => (JSON.parse(text) as { n: number }).n);

  it('lines arrive in order, through every failure but those that are counted', () => {
    pipe.most = 700;
    for (let n = 0; n < 20; n++) toPipe.write(line(n));
    pipe.code = 'EAGAIN';
    for (let n = 20; n < 40; n++) toPipe.write(line(n));
    jest.advanceTimersByTime(200);
    expect(toPipe.dropped).toBe(0);
    pipe.code = null;
    jest.advanceTimersByTime(100);
    expect(lines()).toEqual([...Array(40).keys()]);
    pipe.code = 'EPIPE';
    for (let n = 40; n < 45; n++) toPipe.write(line(n));
    jest.advanceTimersByTime(100);
    expect(toPipe.dropped).toBe(5);
  });

  it('and everything at the end', () => {
    for (let n = 0; n < 5; n++) toPipe.write(line(n));
    toPipe.flushSync();
    expect(lines()).toEqual([0, 1, 2, 3, 4]);
  });
});
