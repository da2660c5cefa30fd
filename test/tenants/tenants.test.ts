/**
 * Non-interference (docs/sandbox.md): two data sets that differ only in rows of other projects answer every request of a
 * pinned key alike. `npm run fuzz:tenants` sends as many requests as asked.
 */
import { localBigQueryInstalled } from '../local-bigquery';
import { compare, type Options } from './run/compare';

const SEED = 1;

type Engine = Pick<Options, 'engine' | 'emulator' | 'size' | 'requests'>;

const ENGINES: readonly Engine[] = [
  {
    engine: 'duckdb',
    requests: 200,
    size: { own: 100, foreign: 600, long: { tables: 5, rows: 65_000 } },
  },
  {
    engine: 'bigquery',
    requests: 120,
    size: { own: 15, foreign: 80, long: { tables: 0, rows: 0 } },
  },
];

describe.each(ENGINES)('on $engine', ({ engine, ...options }) => {
  const available = engine === 'duckdb' || localBigQueryInstalled || process.env['CI'] !== undefined;
  if (!available) process.stdout.write('Skipped: the local BigQuery is not installed. npm ci --prefix emulator\n');
  const check = available ? test : test.skip;

  check(
    'requests of pinned keys are answered alike over data sets that differ in rows of others',
    async () => {
      const report = await compare({ engine, seed: SEED, shrunk: 3, ...options });
      process.stdout.write(`${report.lines(3).join('\n')}\n`);
      expect(report.accepted).toBeGreaterThan(0.8);
      expect(report.outcomes.get('rows')).toBeGreaterThan(options.requests / 3);
      expect(report.differences).toBe(0);
    },
    300_000,
  );
});
