/** `npm run test:long -- functions [<queries> [<seed>]]`: prints the seed, every fault and the costliest; exit code 1 for a fault. */
import { Random } from '../dialect/random';
import { runHostile, type MeasuredQuery } from './runner';
import { hostileQueries, randomHostileQueries, type HostileQuery } from './sql-functions';
import { WORST_CASES } from './worst-cases';

async function main([count = '2000', seed = String(Date.now() % 1_000_000)]: readonly string[]): Promise<void> {
  if (!/^[1-9][0-9]*$/.test(count) || !/^[0-9]+$/.test(seed)) {
    process.stderr.write('npm run test:long -- functions [<queries> [<seed>]]: both are whole numbers.\n');
    process.exitCode = 2;
    return;
  }
  process.stdout.write(`seed ${seed}\n`);
  let done = 0;
  const each = ({ name, sql, faults }: MeasuredQuery): void => {
    if (++done % 100 === 0) process.stderr.write(`${done} of ${count} queries\n`);
    if (faults.length > 0) process.stdout.write(`FAULT ${name}: ${faults.join('; ')}\n  ${sql.slice(0, 1_000)}\n`);
  };
  const all = await runHostile(upTo(Number(count), new Random(Number(seed))), { patience: 1.5, each });
  const late = [...all].sort((a, b) => b.measured.lateCpuMs - a.measured.lateCpuMs).slice(0, 10);
  for (const { measured, sql } of late)
    process.stdout.write(`${measured.lateCpuMs.toFixed(0)} ms late: ${sql.slice(0, 200)}\n`);
  const outcomes = new Map<string, number>();
  for (const { measured } of all) {
    const kind = measured.outcome.replace(/ \d+$/, '').slice(0, 80);
    outcomes.set(kind, (outcomes.get(kind) ?? 0) + 1);
  }
  for (const [kind, times] of [...outcomes].sort((a, b) => b[1] - a[1])) process.stdout.write(`${times} ${kind}\n`);
  if (all.some(({ faults }) => faults.length > 0)) process.exitCode = 1;
}

function* upTo(count: number, random: Random): Generator<HostileQuery> {
  let left = count;
  for (const source of [WORST_CASES, hostileQueries(random, 1), randomHostileQueries(random)]) {
    for (const query of source) {
      if (left-- <= 0) return;
      yield query;
    }
  }
}

main(process.argv.slice(2)).catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
  process.exitCode = 1;
});
