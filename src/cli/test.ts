import { type Command, Option } from 'commander';

import { Ending, EXIT, type Surroundings, untilCancelled } from './surroundings';

const EXAMPLES = `
Examples:
  logquay test
  logquay test queries/logs.all.sql --engine bigquery
  logquay test --update
  logquay test --format junit > results.xml`;

interface GivenOptions {
  readonly engine: 'duckdb' | 'bigquery';
  readonly format: 'text' | 'tap' | 'junit';
  readonly update?: boolean;
}

/** `logquay test` (docs/testing-endpoints.md). */
export function addTest(program: Command, { environment, out, note }: Surroundings): void {
  program
    .command('test')
    .summary('run the tests of stored queries')
    .description(
      'Runs the tests beside stored queries: NAME.test.yaml beside NAME.sql, each with rows, requests and what has to come. ' +
        'Fails if one fails, and without any.',
    )
    .argument('[paths...]', 'folders, stored queries or files of tests (default: QUERIES_DIR, else queries)')
    .addOption(
      new Option('--engine <name>', 'bigquery: on a local BigQuery that is started for it')
        .choices(['duckdb', 'bigquery'])
        .default('duckdb'),
    )
    .addOption(new Option('--format <form>', 'of the report').choices(['text', 'tap', 'junit']).default('text'))
    .option('--update', 'write what came into the files as what has to come')
    .addHelpText('after', EXAMPLES)
    .action(async (paths: readonly string[], { engine, format, update = false }: GivenOptions) => {
      const { findTestFiles, testEndpoint } = await import('./endpoint-tests/test-endpoints.js');
      const { textOfFile, textOfTotal } = await import('./endpoint-tests/reports.js');
      const { countsOf } = await import('./endpoint-tests/reports.js');
      const places = paths.length > 0 ? paths : [environment['QUERIES_DIR'] || 'queries'];
      const found = await findTestFiles(places);
      if (found.length === 0) {
        note(`${places.join(', ')}: no files of tests (NAME.test.yaml)`);
        throw new Ending(EXIT.failure);
      }
      const report = await untilCancelled(async (signal) => {
        const files = [];
        for (const file of found) {
          const result = await testEndpoint(file, { engine, update, signal });
          if (format === 'text') textOfFile(result).forEach(out);
          files.push(result);
        }
        return { engine, files };
      });
      if (format === 'tap') (await import('./endpoint-tests/reports.js')).tapOf(report).forEach(out);
      else if (format === 'junit') (await import('./endpoint-tests/reports.js')).junitOf(report).forEach(out);
      else out(textOfTotal(report));
      if (countsOf(report).failed > 0) throw new Ending(EXIT.failure);
    });
}
