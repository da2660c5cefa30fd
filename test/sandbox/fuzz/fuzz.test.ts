import { localBigQueryInstalled } from '../../local-bigquery';
import { fuzz } from './fuzz';
import { cases } from '../../scale';

/** `npm run test:long -- gate` runs as many as asked; CI has a seed of its own for each commit. */
const { FUZZ_SEED } = process.env;
const QUERIES = FUZZ_SEED === undefined ? cases(8000) : cases(40_000);
const SEED = Number(FUZZ_SEED ?? 1);

const available = localBigQueryInstalled || process.env['CI'] !== undefined;
if (!available) {
  process.stdout.write('Skipped: the judge of the sandbox is not installed. npm ci --prefix emulator\n');
}

(available ? test : test.skip)(
  `${QUERIES} generated queries are judged as Google's analyser judges them`,
  async () => {
    const report = await fuzz(QUERIES, SEED);
    process.stdout.write(`seed ${SEED}: ${report.lines(2).join('\n')}\n`);
    expect(report.generated).toBeGreaterThanOrEqual(QUERIES);
    expect(report.accepted).toBeGreaterThan(QUERIES / 5);
    expect(report.answered).toBeGreaterThan(report.run / 2);
    expect(report.faults).toEqual([]);
  },
  900_000,
);
