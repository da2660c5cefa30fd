/** `npm run test:long -- tenants [options] [<requests> [<seed>]]`: prints the seed, counts and differences; exit code 1 for any. */
import { parseArgs } from 'node:util';
import { compare } from './run/compare';
import { describeFound } from './run/report';

const USAGE = `npm run test:long -- tenants [options] [<requests> [<seed>]]
  --engine duckdb|bigquery  default duckdb; bigquery is the local one of emulator/
  --eager                   have the local BigQuery evaluate consumers' predicates first
  --without-fence           deny every key the fence: shows that differences are found where there is none
  --exact                   compare the order of rows, and so entity tags, also where no query fixes it
  --threads 1               DuckDB's
  --rows 65000              of other projects, that long tables have on top, one of them twice: a row group of DuckDB has 122880
  --examples 20             differences printed in full, their queries shortened
`;

const OPTIONS = {
  allowPositionals: true,
  options: {
    engine: { type: 'string', default: 'duckdb' },
    eager: { type: 'boolean', default: false },
    'without-fence': { type: 'boolean', default: false },
    exact: { type: 'boolean', default: false },
    threads: { type: 'string', default: '1' },
    rows: { type: 'string', default: '65000' },
    examples: { type: 'string', default: '20' },
  },
} as const;

async function main(): Promise<void> {
  const { values, positionals } = parseArgs(OPTIONS);
  const { engine, eager, exact } = values;
  const [requests = '20000', seed = String(Date.now() % 1_000_000)] = positionals;
  const numbers = [requests, seed, values.threads, values.rows, values.examples];
  if ((engine !== 'duckdb' && engine !== 'bigquery') || !numbers.every((one) => /^[0-9]{1,9}$/.test(one))) {
    process.stderr.write(USAGE);
    process.exitCode = 2;
    return;
  }
  process.stdout.write(`engine ${engine}, seed ${seed}\n`);
  const started = performance.now();
  const report = await compare({
    engine,
    requests: Number(requests),
    seed: Number(seed),
    threads: Number(values.threads),
    longRows: Number(values.rows),
    withoutFence: values['without-fence'],
    exact,
    emulator: eager ? ['--eager'] : [],
    shrunk: Number(values.examples),
    found: (found) => void process.stdout.write(`${describeFound(found).join('\n')}\n`),
    progress: (done, { differences, outcomes }) => {
      const limited = outcomes.get('limit') ?? 0;
      process.stdout.write(`${done} requests, ${differences} differences, ${limited} not compared\n`);
    },
  });
  process.stdout.write(`${report.lines().join('\n')}\n`);
  process.stdout.write(`${((performance.now() - started) / 1000).toFixed(0)} s\n`);
  if (report.differences > 0) process.exitCode = 1;
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n${USAGE}`);
  process.exitCode = 2;
});
