/**
 * Non-interference (docs/sandbox.md): two data sets that differ only in rows of other projects answer every request of a
 * pinned key alike. `npm run fuzz:tenants` sends as many requests as asked.
 */
import { localBigQueryInstalled } from '../local-bigquery';
import { compare, type Options } from './run/compare';
import { describeFound } from './run/report';

const SEED = 1;

type Engine = Pick<Options, 'engine' | 'emulator' | 'size'> & Pick<Options, 'requests'>;

const ENGINES: readonly Engine[] = [
  {
    engine: 'duckdb',
    requests: 250,
    size: { own: 100, foreign: 600, grows: true, long: { tables: 2, rows: 65_000 } },
  },
  {
    engine: 'bigquery',
    requests: 120,
    size: { own: 15, foreign: 80, grows: false, long: { tables: 0, rows: 0 } },
    emulator: ['--eager'],
  },
];

/** The local BigQuery evaluates in the order of the tree, unless it is eager. */
const FAILS_WITHOUT_FENCE = new Set<Engine['engine']>(['duckdb', 'bigquery']);

describe.each(ENGINES)('on $engine', ({ requests, ...options }) => {
  const available = options.engine === 'duckdb' || localBigQueryInstalled || process.env['CI'] !== undefined;
  const check = available ? test : test.skip;

  check(
    'requests of pinned keys are answered alike over data sets that differ in rows of others',
    async () => {
      const report = await compare({ ...options, requests, seed: SEED, shrunk: 3, enough: 3 });
      process.stdout.write(`${[...report.lines(), ...report.found.slice(0, 3).flatMap(describeFound)].join('\n')}\n`);
      expect(report.differences).toBe(0);
      expect(report.accepted).toBeGreaterThan(0.8);
      expect(report.outcomes.get('rows')).toBeGreaterThan(requests / 3);
    },
    600_000,
  );

  if (FAILS_WITHOUT_FENCE.has(options.engine)) {
    check(
      'without the fence they are not',
      async () => {
        // Long tables are not what makes them differ.
        const fewer = { requests: 1000, longRows: 0, enough: 1 };
        const report = await compare({ ...options, ...fewer, seed: SEED, withoutFence: true });
        expect(report.differences).toBeGreaterThan(0);
      },
      600_000,
    );
  }
});
