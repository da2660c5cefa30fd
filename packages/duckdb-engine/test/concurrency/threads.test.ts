import { threadId } from 'node:worker_threads';
import { type Task, Threads } from '../../src/concurrency/threads/threads';
import { QueryError } from '../../../googlesql/src/errors';
import { ServiceError } from '../../src/contract/service-error';
import { type RunLimits, unlimited } from '../../src/concurrency/deadline';
import { WAITING_PER_KEY } from '../../src/concurrency/worker-pool';
import * as tasks from './thread-tasks.js';

const LONG = ' '.repeat(2_000);
const SHORT = 'select 1';

describe('work on a text', () => {
  let threads: Threads;

  beforeEach(() => {
    threads = new Threads();
  });

  afterEach(() => threads.close());

  test('is done at once for a short one, on a thread for a long one', async () => {
    expect(await threads.do(tasks.where, 1, SHORT)).toEqual({ n: 1, threadId });
    const { n, threadId: other } = await threads.do(tasks.where, 2, LONG);
    expect(n).toBe(2);
    expect(other).not.toBe(threadId);
  });

  test('is refused alike on both', async () => {
    const refusals = await Promise.all(
      [SHORT, LONG].map((text) => threads.do(tasks.refuse, 7, text).catch((error: unknown) => error)),
    );
    for (const refusal of refusals) {
      expect(refusal).toMatchObject({
        name: 'QueryError',
        fault: 'sandboxViolation',
        message: 'No.',
        span: { start: 7, end: 8 },
        details: { allowed: ['a'] },
      });
    }
    expect(refusals[1]).toBeInstanceOf(QueryError);
  });

  test('that fails is an error of ours, not of the caller', async () => {
    const error: unknown = await threads.do(tasks.fail, null, LONG).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(Error);
    expect(error).not.toBeInstanceOf(ServiceError);
    expect(error).toMatchObject({ message: expect.stringContaining('broken') as string });
  });

  test.each([
    ['ends it', tasks.exit],
    ['fills its heap', tasks.fill],
  ] as [string, Task<null, unknown>][])(
    'that %s costs its thread alone: a new one does the next',
    async (_what, task) => {
      await expect(threads.do(task, null, LONG)).rejects.toMatchObject({ reason: 'resourcesExceeded' });
      expect(await threads.do(tasks.where, 3, LONG)).toMatchObject({ n: 3 });
    },
  );

  test('waits in line, up to a bound', async () => {
    const first = threads.do(tasks.spin, 300, LONG);
    const waiting = Array.from({ length: 200 }, (_, i) => threads.do(tasks.where, i, LONG).catch((e: unknown) => e));
    const answers = await Promise.all(waiting);
    await first;
    const refused = answers.filter((answer) => answer instanceof ServiceError);
    expect(refused.length).toBeGreaterThan(0);
    expect(answers.length - refused.length).toBeGreaterThanOrEqual(WAITING_PER_KEY - 1);
    expect(refused[0]).toMatchObject({ reason: 'tooManyConcurrentQueries', details: { retryAfter: 1 } });
  });

  test('of one key does not wait for that of another', async () => {
    const wait = (keyName: string): RunLimits => ({ ...unlimited(), keyName });
    await threads.do(tasks.where, 0, LONG);
    let over = 0;
    const many = Array.from({ length: 20 }, () => threads.do(tasks.spin, 100, LONG, wait('many')).then(() => over++));
    await threads.do(tasks.where, 1, LONG, wait('one'));
    expect(over).toBeLessThan(5);
    await Promise.all(many);
  });

  test('waits no longer than who asked for it', async () => {
    const keys = ['a', 'b', 'c', 'd'];
    const busy = keys.map((keyName) => threads.do(tasks.spin, 500, LONG, { ...unlimited(), keyName }));
    const late = { ...unlimited(), deadline: performance.now() + 50 };
    await expect(threads.do(tasks.where, 1, LONG, late)).rejects.toMatchObject({ reason: 'deadlineExceeded' });
    const gone = new AbortController();
    const waiting = threads.do(tasks.where, 1, LONG, { ...unlimited(), signal: gone.signal });
    gone.abort(new Error('gone'));
    await expect(waiting).rejects.toThrow('gone');
    await Promise.all(busy);
  });

  test('of a short text that ticks out to be long is begun again on a thread', async () => {
    expect(await threads.do(tasks.long, null, SHORT)).not.toBe(threadId);
  });

  test('of short texts that come together shares the time of the thread that asks', async () => {
    await threads.do(tasks.where, 1, LONG);
    const here = await Promise.all(Array.from({ length: 5 }, () => threads.do(tasks.spin, 8, SHORT)));
    expect(here.filter((thread) => thread === threadId).length).toBeLessThan(4);
    expect(await threads.do(tasks.spin, 8, SHORT)).toBe(threadId);
  });

  test('is refused once they are closed', async () => {
    const pending = threads.do(tasks.spin, 10_000, LONG).catch((error: unknown) => error);
    await threads.close();
    expect(await pending).toMatchObject({ message: 'The threads are closed.' });
    await expect(threads.do(tasks.where, 1, LONG)).rejects.toThrow('closed');
  });
});

test('work past the deadline is abandoned, and its thread replaced', async () => {
  const threads = new Threads({ deadline: 500 });
  try {
    await expect(threads.do(tasks.spin, 60_000, LONG)).rejects.toMatchObject({ reason: 'resourcesExceeded' });
    expect(await threads.do(tasks.where, 4, LONG)).toMatchObject({ n: 4 });
  } finally {
    await threads.close();
  }
});
