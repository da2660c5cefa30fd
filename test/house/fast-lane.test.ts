import { existsSync } from 'node:fs';
import { relative } from 'node:path';

const { testMatch } = jest.requireActual<{ testMatch: string[] }>('../fast-lane.js');
const fast = new Set(testMatch.map((file) => relative(process.cwd(), file)));

it.each(['test/googlesql/literals.test.ts', 'test/run/run.test.ts', 'test/http/errors.test.ts'])(
  '%s is fast',
  (file) => {
    expect(fast).toContain(file);
  },
);

it.each([
  ['starts Redis', 'test/cache/redis-faults.test.ts'],
  ['starts the local BigQuery', 'test/engines/bigquery-faults.test.ts'],
  ['opens the embedded engine', 'test/engines/duckdb-engine.test.ts'],
  ['starts the real process', 'test/process/start.test.ts'],
  ['starts a browser', 'test/browser/docs-page.test.ts'],
  ['generates cases', 'test/lql/values.test.ts'],
])('what %s is not', (_, file) => {
  expect(fast).not.toContain(file);
});

test('files that are started first exist', () => {
  const { LONGEST } = jest.requireActual<{ LONGEST: readonly string[] }>('../longest-first.js');
  for (const name of LONGEST) expect(existsSync(`test/${name}.test.ts`)).toBe(true);
});
