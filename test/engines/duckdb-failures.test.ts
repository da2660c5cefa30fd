import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openDuckDbEngine } from '../../src/engines/duckdb/engine';
import { failure } from '../../src/engines/duckdb/failures';
import type { Log } from '../../src/engines/duckdb/log';

const logged: unknown[] = [];
const log: Log = {
  info: () => undefined,
  warn: (...words) => void logged.push(words),
  error: (...words) => void logged.push(words),
};

beforeEach(() => logged.splice(0));

test.each([
  [
    'Binder Error: Referenced column "s3cret" not found\nLINE 1: SELECT \'s3cret\'',
    { fault: 'invalidQuery', span: null },
    'Binder Error',
  ],
  ['Parser Error: syntax error at or near "s3cret"', { fault: 'invalidQuery', span: null }, 'Parser Error'],
  ['IO Error: s3cret', { reason: 'backendError' }, 'IO Error'],
  ['s3cret', { reason: 'backendError' }, 'unknown'],
])('of %j the log holds the kind, and nobody the words', (message, told, kind) => {
  const answer = failure(new Error(message), log);
  expect(answer).toMatchObject(told);
  expect(answer.message).not.toContain('s3cret');
  expect(logged).toEqual([[{ kind }, expect.any(String)]]);
  expect(JSON.stringify(logged)).not.toContain('s3cret');
});

test('what DuckDB cannot plan for its depth is refused in words that help, and is no error of ours', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'logquay-failures-'));
  const engine = await openDuckDbEngine({ dataDir: null, cacheDir: folder, now: null, log });
  try {
    const table = { name: 't', columns: [{ name: 'id', type: { kind: 'STRING' as const } }] };
    const joins = Array.from({ length: 400 }, (_, i) => `join t as t${i} using (id)`).join(' ');
    const limits = { deadline: performance.now() + 60_000, signal: new AbortController().signal };
    await expect(engine.inspect(`select 1 as n from t ${joins}`, [table], [], limits)).rejects.toMatchObject({
      fault: 'resourcesExceeded',
      message: expect.stringContaining('nests too deeply') as string,
    });
    expect(logged).toEqual([]);
  } finally {
    await engine.close();
    rmSync(folder, { recursive: true });
  }
});
