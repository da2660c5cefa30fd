/** The log's writer: whatever becomes of the disk or the reader, nothing waits, and what is lost is counted. */
import { LineWriter } from '../../src/log/line-writer';

/** A scripted descriptor. */
class Descriptor {
  text = '';
  /** The next errors, by code; null: takes bytes. */
  code: string | null = null;
  /** Calls after which the disk is full. */
  failsAfter = Infinity;
  /** Bytes that a call takes at most. */
  most = Infinity;
  calls = 0;

  readonly writeSync = (bytes: Buffer): number => {
    if (this.calls++ >= this.failsAfter) this.code = 'ENOSPC';
    if (this.code !== null) throw Object.assign(new Error(this.code), { code: this.code, syscall: 'write' });
    const taken = bytes.subarray(0, Math.min(bytes.length, this.most));
    this.text += taken.toString();
    return taken.length;
  };
}

const line = (n: number): string => `${JSON.stringify({ n, pad: 'x'.repeat(400) })}\n`;

let descriptor: Descriptor;
let writer: LineWriter;
let faults: (string | null)[];
beforeEach(() => {
  jest.useFakeTimers();
  descriptor = new Descriptor();
  writer = new LineWriter(2, { mostWaiting: 20_000, writeSync: descriptor.writeSync });
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

/** Lets the writer's timer work. */
function pass(milliseconds = 100): void {
  jest.advanceTimersByTime(milliseconds);
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
  descriptor.failsAfter = 1;
  descriptor.most = 600;
  write(0, 4);
  pass();
  descriptor.failsAfter = Infinity;
  descriptor.code = null;
  descriptor.most = Infinity;
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
