/** The tests of the endpoints that the service comes with, on both engines. */
import path from 'node:path';

import { localBigQueryInstalled } from '../../local-bigquery';
import { LONG } from '../../scale';
import { logquay } from '../command-line';

const QUERIES = path.join(__dirname, '../../../queries');

jest.setTimeout(180_000);

async function passes(engine: string, count: number, paths: readonly string[]): Promise<void> {
  const { code, out, notes } = await logquay(['test', ...paths, '--engine', engine]);
  expect(out.filter((line) => line.includes('FAILED'))).toEqual([]);
  expect([code, notes]).toEqual([0, []]);
  expect(out.filter((line) => line.startsWith('  ok '))).toHaveLength(count);
  expect(out.at(-1)).toBe(`${String(count)} passed, 0 failed (${engine})`);
}

it('pass on the embedded engine', () => passes('duckdb', 30, [QUERIES]));

// Skipped where the local BigQuery is not installed, which is said then; never in CI.
const onBigQuery = localBigQueryInstalled || process.env['CI'] ? it : it.skip;
onBigQuery('pass on a local BigQuery', () =>
  // The answers of the others are held in engines/bigquery-answers.
  LONG
    ? passes('bigquery', 30, [QUERIES])
    : passes(
        'bigquery',
        7,
        ['functions.combined-stats', 'service-health', 'usage.api-requests-count'].map((name) =>
          path.join(QUERIES, `${name}.sql`),
        ),
      ),
);
