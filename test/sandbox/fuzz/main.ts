/** `npm run test:long -- gate [<queries> [<seed>]]`: prints the seed, the counts and examples; exit code 1 for a fault. */
import { fuzz } from './fuzz';

async function main([queries = '20000', seed = String(Date.now() % 1_000_000)]: readonly string[]): Promise<void> {
  if (!/^[1-9][0-9]*$/.test(queries) || !/^[0-9]+$/.test(seed)) {
    process.stderr.write('npm run test:long -- gate [<queries> [<seed>]]: both are whole numbers.\n');
    process.exitCode = 2;
    return;
  }
  process.stdout.write(`seed ${seed}\n`);
  const started = performance.now();
  const report = await fuzz(Number(queries), Number(seed), (done) => {
    const seconds = ((performance.now() - started) / 1000).toFixed(0);
    process.stderr.write(`${done} judged after ${seconds} s\n`);
  });
  process.stdout.write(`${report.lines(10).join('\n')}\n`);
  if (report.faults.length > 0) process.exitCode = 1;
}

main(process.argv.slice(2)).catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
  process.exitCode = 1;
});
