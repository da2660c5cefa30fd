/** `npm run bench [-- name ...]`: all benchmarks but `sizing`, or those named. */
import { bigquery } from './bigquery';
import { cache } from './cache';
import { collect } from './collect';
import { endpoints } from './endpoints';
import { exportBenchmark } from './exports';
import { live } from './live';
import { manyQueries } from './many-queries';
import { sizing } from './sizing';
import { stack } from './stack';
import { startup } from './startup';
import { tokens } from './tokens';
import { wall } from './wall';
import { wholeRecords } from './whole-records';

const BENCHMARKS: Readonly<Record<string, (print: (line: string) => void) => Promise<void>>> = {
  startup,
  'many-queries': manyQueries,
  endpoints,
  bigquery,
  cache,
  wall,
  live,
  roapi: wholeRecords,
  exports: exportBenchmark,
  collect,
  tokens,
  stack,
  sizing,
};

/** Takes half an hour and gigabytes: not among all. */
const ONLY_BY_NAME = 'sizing';

/** A figure that has a goal, in the words of `verdict` or of a benchmark's own. */
const WITH_GOAL = /\b(within|MISSES) goals?\b/;

async function main(names: readonly string[]): Promise<void> {
  const write = (line: string): void => void process.stdout.write(`${line}\n`);
  const figures: { readonly benchmark: string; readonly line: string }[] = [];
  const unknown = names.find((name) => !(name in BENCHMARKS));
  if (unknown !== undefined) {
    process.stderr.write(`Unknown benchmark "${unknown}". There are: ${Object.keys(BENCHMARKS).join(', ')}.\n`);
    process.exitCode = 2;
    return;
  }
  for (const [name, run] of Object.entries(BENCHMARKS)) {
    if (names.length > 0 ? !names.includes(name) : name === ONLY_BY_NAME) continue;
    write(`\n${name}`);
    await run((line) => {
      write(line);
      if (WITH_GOAL.test(line)) figures.push({ benchmark: name, line: line.trim() });
    });
  }
  const missed = figures.filter(({ line }) => line.includes('MISSES')).length;
  write(`\nevery figure with a goal: ${String(figures.length - missed)} within, ${String(missed)} missed`);
  for (const { benchmark, line } of figures) write(`${benchmark.padEnd(18)} ${line}`);
}

// With an `exit`, at which services are ended.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));

main(process.argv.slice(2)).catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
  process.exitCode = 1;
});
