/** `npm run test:long -- folder [RUNS [SEED [LINES]]]`: data folders that come to be in many ways, against the same read at once. */
import { compareWays } from './any-way-in';

async function main(runs = 20, seed = 1, lines = 100): Promise<number> {
  let differences = 0;
  for (let run = 0; run < runs; run++) {
    const difference = await compareWays(seed + run, lines);
    if (difference !== null) differences++;
    process.stdout.write(`${seed + run}: ${difference === null ? 'the same' : JSON.stringify(difference, null, 1)}\n`);
  }
  return differences;
}

const [runs, seed, lines] = process.argv.slice(2).map(Number);
main(runs, seed, lines).then(
  (differences) => (process.exitCode = differences === 0 ? 0 : 1),
  (error: unknown) => {
    process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
    process.exitCode = 1;
  },
);
