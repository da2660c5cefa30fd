/** The tests of the endpoints that the service comes with, on both engines. */
import path from 'node:path';

import { localBigQueryInstalled } from '../../local-bigquery';
import { logquay } from '../command-line';

const QUERIES = path.join(__dirname, '../../../queries');

jest.setTimeout(180_000);

async function passes(engine: string): Promise<void> {
  const { code, out, notes } = await logquay(['test', QUERIES, '--engine', engine]);
  expect(out.filter((line) => line.includes('FAILED'))).toEqual([]);
  expect([code, notes]).toEqual([0, []]);
  expect(out.filter((line) => line.startsWith('  ok '))).toHaveLength(30);
  expect(out.at(-1)).toBe(`30 passed, 0 failed (${engine})`);
}

it('pass on the embedded engine', () => passes('duckdb'));

// Skipped where the local BigQuery is not installed, which is said then; never in CI.
const onBigQuery = localBigQueryInstalled || process.env['CI'] ? it : it.skip;
onBigQuery('pass on a local BigQuery', () => passes('bigquery'));
