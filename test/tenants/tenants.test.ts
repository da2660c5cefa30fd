/**
 * Non-interference (docs/sandbox.md): two data sets that differ only in rows of other projects answer every request of a
 * pinned key alike. `npm run test:long -- tenants` sends 20,000 requests to the embedded engine and 8,000 to BigQuery.
 */
import { localBigQueryInstalled } from '../local-bigquery';
import type { DataSize } from './data/data-sets';
import { compare, type Options } from './run/compare';
import { describeFound } from './run/report';
import { type DataSets, openDataSets } from './run/services';
import { COMMIT_SEED, guardingCases, LONG } from '../scale';

interface Engine extends Pick<Options, 'engine' | 'emulator'> {
  readonly size: DataSize;
  readonly requests: number;
  /** The seed of requests that soon show what answers without the fence differ in: any seed does within a thousand. */
  readonly showing: number;
}

const ENGINES: readonly Engine[] = [
  {
    engine: 'duckdb',
    requests: guardingCases(20_000),
    size: {
      own: 100,
      foreign: 600,
      grows: true,
      long: { tables: LONG ? 2 : 1, rows: 65_000 },
      busy: { tables: 2, rows: 1300 },
    },
    showing: 72,
  },
  {
    engine: 'bigquery',
    requests: guardingCases(8000),
    size: { own: 15, foreign: 80, grows: false, long: { tables: 0, rows: 0 }, busy: { tables: 0, rows: 0 } },
    // The local BigQuery evaluates in the order of the tree, unless it is eager.
    emulator: ['--eager'],
    showing: 0,
  },
];

describe.each(ENGINES)('on $engine', ({ requests, showing, ...options }) => {
  const available = options.engine === 'duckdb' || localBigQueryInstalled || process.env['CI'] !== undefined;
  const check = available ? test : test.skip;
  // Data sets that do not grow are the same for both tests.
  let dataSets: DataSets | null = null;
  beforeAll(async () => {
    if (available && !options.size.grows)
      dataSets = await openDataSets({ emulator: [], ...options, seed: COMMIT_SEED });
  }, 60_000);
  afterAll(() => dataSets?.close());

  check(
    'requests of pinned keys are answered alike over data sets that differ in rows of others',
    async () => {
      const report = await compare({ ...options, dataSets, requests, seed: COMMIT_SEED, enough: 3 });
      process.stdout.write(`${[...report.lines(), ...report.found.slice(0, 3).flatMap(describeFound)].join('\n')}\n`);
      expect(report.differences).toBe(0);
      expect(report.accepted).toBeGreaterThan(0.8);
      expect(report.outcomes.get('rows')).toBeGreaterThan(requests / 3);
    },
    // At full count it takes an hour.
    LONG ? 4 * 3_600_000 : 600_000,
  );

  // That a difference would be found is shown where there is time.
  if (!LONG) return;
  check(
    'without the fence they are not',
    async () => {
      // Neither long tables nor live tails through their growth are what makes them differ.
      const none = { tables: 0, rows: 0 };
      const size: DataSize = { ...options.size, grows: false, long: none, busy: none };
      const first = { requests: 1000, requestSeed: showing, enough: 1 };
      const report = await compare({ ...options, ...first, size, dataSets, seed: COMMIT_SEED, withoutFence: true });
      expect(report.differences).toBeGreaterThan(0);
    },
    600_000,
  );
});
