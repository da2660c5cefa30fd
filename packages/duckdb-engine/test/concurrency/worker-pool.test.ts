/** Threads that do not start, for whose callers there is a retryable error, and threads that have nothing to do. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { unlimited } from '../../src/concurrency/deadline';
import { WorkerPool } from '../../src/concurrency/worker-pool';
import { until } from '../../../../test/until';

const folder = mkdtempSync(path.join(tmpdir(), 'logquay-threads-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test.each([
  ['ends at once', 'process.exit(1);'],
  ['throws', 'throw new Error("no");'],
  ['never says that it is ready', 'setInterval(() => undefined, 1000);'],
])('one that %s', async (_what, source) => {
  const file = path.join(folder, 'thread.js');
  writeFileSync(file, source);
  const pool = new WorkerPool<number, number>({ file, threads: 2, deadline: 1000, heap: 32, startWithin: 200 });
  const failures = await Promise.all([1, 2, 3].map((n) => pool.run(n, unlimited()).catch((error: unknown) => error)));
  for (const failure of failures)
    expect(failure).toMatchObject({ name: 'ServiceError', reason: 'backendUnavailable', details: { retryAfter: 1 } });
  await pool.close();
});

test('one that has had nothing to do ends, and another starts for what comes then', async () => {
  const file = path.join(folder, 'counting.js');
  // Answers with how often this very thread was asked.
  writeFileSync(
    file,
    `const { parentPort } = require('node:worker_threads');
    let asked = 0;
    parentPort.on('message', () => parentPort.postMessage({ answer: ++asked }));
    parentPort.postMessage({ ready: true, thread: null });`,
  );
  const options = { file, threads: 1, deadline: 60_000, heap: 32 };
  const [resting, staying] = [
    new WorkerPool<number, number>({ ...options, idle: 50 }),
    new WorkerPool<number, number>(options),
  ];
  expect([await resting.run(0, unlimited()), await staying.run(0, unlimited())]).toEqual([1, 1]);
  await until(async () => {
    const threads = await resting.run(0, unlimited());
    await sleep(200);
    return threads === 1;
  });
  expect(await staying.run(0, unlimited())).toBe(2);
  await Promise.all([resting.close(), staying.close()]);
});

test('the line of those that wait is not filled by the users of one issuer', async () => {
  const file = path.join(folder, 'busy.js');
  writeFileSync(
    file,
    `const { parentPort } = require('node:worker_threads');
    parentPort.on('message', (n) => n > 0 && parentPort.postMessage({ answer: n }));
    parentPort.postMessage({ ready: true, thread: null });`,
  );
  const pool = new WorkerPool<number, number>({ file, threads: 1, deadline: 60_000, heap: 32 });
  const of = (keyName: string) => ({ ...unlimited(), keyName });
  await pool.run(1, of('first'));
  const leave = new AbortController();
  const outcomes: string[] = [];
  const ask = (keyName: string): void => {
    pool
      .run(0, { ...of(keyName), signal: leave.signal })
      .catch((error: unknown) => outcomes.push(`${keyName} ${String(Reflect.get(Object(error), 'reason'))}`));
  };
  ask('first');
  for (let user = 0; user < 8; user++) for (let i = 0; i < 32; i++) ask(`app/${String(user)}`);
  for (const keyName of ['key', 'app/9', 'app/1']) ask(keyName);
  await sleep(0);
  expect(outcomes.splice(0).sort()).toEqual([
    'app/1 tooManyConcurrentQueries',
    'app/6 tooManyConcurrentQueries',
    'app/7 tooManyConcurrentQueries',
  ]);
  await pool.close();
});
