import { localBigQueryInstalled } from '../../local-bigquery';
import { fuzz } from './fuzz';

/** `npm run fuzz` asks for more. */
const QUERIES = Number(process.env['FUZZ_QUERIES'] ?? 20_000);
const SEED = Number(process.env['FUZZ_SEED'] ?? 1);

const available = localBigQueryInstalled || process.env['CI'] !== undefined;
if (!available) {
  process.stdout.write('Skipped: the judge of the sandbox is not installed. npm ci --prefix emulator\n');
}

(available ? test : test.skip)(
  `${QUERIES} generated queries are judged as Google's analyser judges them`,
  async () => {
    const report = await fuzz(QUERIES, SEED);
    const lists = Object.entries(report).filter((entry): entry is [string, string[]] => Array.isArray(entry[1]));
    const counts = lists.map(([name, list]) => `${name} ${list.length}`).join(', ');
    process.stdout.write(`seed ${SEED}: generated ${report.generated}, accepted ${report.accepted}, ${counts}\n`);
    for (const [name, list] of lists) {
      for (const one of list.slice(0, 5)) process.stdout.write(`  ${name}: ${one}\n`);
    }
    expect(report.accepted).toBeGreaterThan(report.generated / 10);
    const { leaks, missed, lost, syntax } = report;
    expect([leaks, missed, lost, syntax].map(({ length }) => length)).toEqual([0, 0, 0, 0]);
  },
  Math.max(600_000, QUERIES * 30),
);
