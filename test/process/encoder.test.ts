/** The process that encodes an export, as the service has it, when it does not go on. */
import { tmpdir } from 'node:os';
import path from 'node:path';

import { Encoder } from '../../packages/duckdb-engine/src/parquet-writer/encoder';
import { ManualClock } from '../manual-clock';
import { until } from '../until';
import { childrenOf } from './started';

jest.setTimeout(60_000);

/** What `npm test` has built. */
const FILE = path.join(__dirname, '../../dist/node_modules/@logquay/duckdb-engine/src/parquet-writer/child.js');

const PATIENCE = 30_000;
/** More than the pipe to the process takes. */
const PART = Buffer.from('{"n":1}\n'.repeat(100_000));

const encoders: Encoder[] = [];
afterEach(() => {
  for (const encoder of encoders.splice(0)) encoder.kill();
});

interface Running {
  readonly encoder: Encoder;
  readonly clock: ManualClock;
  readonly pid: number;
}

function begin(take: (bytes: Uint8Array) => Promise<void> = () => Promise.resolve(), maxBytes = 2 ** 30): Running {
  const clock = new ManualClock();
  const before = new Set(childrenOf(process.pid));
  const file = { path: path.join(tmpdir(), `logquay-encoder-${String(process.pid)}.parquet`), maxBytes };
  const encoder = new Encoder({ columns: [{ name: 'n', type: { kind: 'int64' } }], file }, take, clock, FILE);
  encoders.push(encoder);
  const [pid = 0] = childrenOf(process.pid).filter((one) => !before.has(one));
  expect(pid).toBeGreaterThan(0);
  return { encoder, clock, pid };
}

const STALLED = {
  reason: 'backendError',
  cause: expect.objectContaining({ message: 'The process has stalled.' }) as unknown,
};

it('fails where it stops reading', async () => {
  const { encoder, clock, pid } = begin();
  process.kill(pid, 'SIGSTOP');
  let failed = false;
  const written = expect(encoder.write(PART).finally(() => (failed = true))).rejects.toMatchObject(STALLED);
  expect(clock.next).toBe(PATIENCE);
  await clock.advance(PATIENCE - 1);
  expect(failed).toBe(false);
  await clock.advance(1);
  await written;
  await expect(encoder.write(PART)).rejects.toMatchObject(STALLED);
  await until(() => !childrenOf(process.pid).includes(pid));
  expect(clock.pending).toBe(0);
});

it('fails where it stops behind the last row', async () => {
  const { encoder, clock, pid } = begin();
  process.kill(pid, 'SIGSTOP');
  const ended = expect(encoder.end()).rejects.toMatchObject(STALLED);
  await clock.advance(PATIENCE);
  await ended;
});

it('waits for rows, and for whom it writes to, as long as those take', async () => {
  let resume = (): void => undefined;
  let taken = 0;
  const { encoder, clock } = begin((bytes) => {
    taken += bytes.length;
    return new Promise((resolve) => (resume = resolve));
  });
  await clock.advance(10 * PATIENCE);
  await encoder.write(PART);
  expect(clock.pending).toBe(0);
  const ended = encoder.end();
  await until(() => taken > 0);
  await clock.advance(10 * PATIENCE);
  let done = false;
  void ended.finally(() => (done = true));
  await until(() => {
    resume();
    return done;
  });
  await ended;
  expect(clock.pending).toBe(0);
});

it('makes no larger file than it may', async () => {
  const { encoder, clock } = begin(undefined, 100);
  await encoder.write(PART);
  await expect(encoder.end()).rejects.toMatchObject({ reason: 'resourcesExceeded' });
  expect(clock.pending).toBe(0);
});

it('makes a file of exactly as many bytes', async () => {
  let size = 0;
  await begin(async (bytes) => void (size += bytes.length)).encoder.end();
  await expect(begin(undefined, size).encoder.end()).resolves.toBeUndefined();
  await expect(begin(undefined, size - 1).encoder.end()).rejects.toMatchObject({ reason: 'resourcesExceeded' });
});

it('fails at once where it dies', async () => {
  const { encoder, pid } = begin();
  process.kill(pid, 'SIGSTOP');
  const written = expect(encoder.write(PART)).rejects.toMatchObject({ reason: 'backendError' });
  process.kill(pid, 'SIGKILL');
  await written;
});
