/** `npm run test:long -- dialect [<expressions> [<seed> [<functions>]]]`: prints the seed and every class of difference; exit code 1 for any. */
import { Findings } from './difference';
import { Engines } from './engines';
import { run } from './run';

async function main([count = '2000', seed = String(Date.now() % 1_000_000), only]: readonly string[]): Promise<void> {
  if (!/^[1-9][0-9]*$/.test(count) || !/^[0-9]+$/.test(seed)) {
    process.stderr.write(
      'npm run test:long -- dialect [<expressions> [<seed> [<functions>]]]: numbers, and a regular expression.\n',
    );
    process.exitCode = 2;
    return;
  }
  process.stdout.write(`seed ${seed}\n`);
  const engines = await Engines.open();
  const findings = new Findings();
  const start = performance.now();
  let printed = 0;
  try {
    await run(
      engines,
      findings,
      { count: Number(count), seed: Number(seed), only: only === undefined ? undefined : new RegExp(only) },
      (done) => {
        if (done - printed < 2000) return;
        printed = done;
        process.stderr.write(`${done} expressions, ${findings.differences.length} differences\n`);
      },
    );
  } finally {
    await engines.close();
  }
  for (const [name, differences] of findings.classes()) {
    process.stdout.write(`\n${differences.length} ${name}\n`);
    for (const { sql, embedded, reference } of differences.slice(0, 2))
      process.stdout.write(`  ${sql.slice(0, 600)}\n    embedded:  ${embedded}\n    reference: ${reference}\n`);
  }
  const list = (title: string, counts: ReadonlyMap<string, number>): void => {
    process.stdout.write(`\n${title}\n`);
    for (const [words, times] of [...counts].sort((a, b) => b[1] - a[1])) process.stdout.write(`  ${times} ${words}\n`);
  };
  list('Refused by name:', findings.unsupported);
  list('Not judged:', findings.uncompared);
  process.stdout.write('\nDocumented differences:\n');
  for (const [why, { times, shortest }] of [...findings.documented].sort((a, b) => b[1].times - a[1].times))
    process.stdout.write(`  ${times} ${why}\n    ${shortest.kind} ${shortest.of}: ${shortest.sql.slice(0, 300)}\n`);
  const minutes = (performance.now() - start) / 60_000;
  process.stdout.write(
    `\n${findings.compared} compared, ${Math.round(findings.compared / minutes)} a minute; ${findings.differences.length} differences in ${findings.classes().length} classes\n`,
  );
  if (findings.differences.length > 0) process.exitCode = 1;
}

main(process.argv.slice(2)).catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
  process.exitCode = 1;
});
