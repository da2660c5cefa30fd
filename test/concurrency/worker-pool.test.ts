/** Threads that do not start: callers that wait for one get a retryable error. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { unlimited } from '../../src/concurrency/deadline';
import { WorkerPool } from '../../src/concurrency/worker-pool';

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
