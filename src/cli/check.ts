import { type Command, Option } from 'commander';

import type { CheckEngine } from './check-against';
import { Ending, EXIT, type Surroundings } from './surroundings';

const EXAMPLES = `
Every stored query is resolved against the tables of the engine: of the embedded one those of DATA_DIR, or of the sample logs.
With --engine bigquery BigQuery itself resolves it in a dry run, which is free; what a run would read is printed. Where the
settings choose BigQuery and --engine is not given, settings and syntax alone are checked.

Examples:
  logquay check
  logquay check /etc/logquay/queries
  logquay check --engine bigquery`;

/** `logquay check`. */
export function addCheck(program: Command, { environment, out, note }: Surroundings): void {
  program
    .command('check')
    .summary('validate the stored queries')
    .description(
      'Reads every stored query of a folder and names each fault with its file, line and column. Fails on a fault, or without any file.',
    )
    .argument('[directory]', 'the folder (default: QUERIES_DIR, else queries)')
    .addOption(new Option('--engine <engine>', 'whose tables to resolve against').choices(['duckdb', 'bigquery']))
    .addHelpText('after', EXAMPLES)
    .action(async (directory: string | undefined, { engine }: { engine?: CheckEngine }) => {
      const { checkAgainst } = await import('./check-against.js');
      const folder = directory ?? (environment['QUERIES_DIR'] || 'queries');
      if (!(await checkAgainst(folder, engine ?? null, environment, { out, note }))) throw new Ending(EXIT.failure);
    });
}
