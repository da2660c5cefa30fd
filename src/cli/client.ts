import type { Command } from 'commander';

import type { Surroundings } from './surroundings';

const EXAMPLES = `
The types of rows come from the tables of the engine that the settings name; no row is read, and BigQuery bills nothing.

Examples:
  logquay client --out src/logquay.ts
  logquay client > logquay.ts`;

/** `logquay client`. */
export function addClient(program: Command, { environment, out, note }: Surroundings): void {
  program
    .command('client')
    .summary('write a typed client of the stored queries, in TypeScript')
    .description('Writes a client in TypeScript, without dependencies, whose types are those of the stored queries.')
    .option('--out <file>', 'the file that takes it (default: the standard output)')
    .addHelpText('after', EXAMPLES)
    .action(async ({ out: file }: { out?: string }) => {
      const { writeClient } = await import('./write-client.js');
      await writeClient(file ?? null, environment, { out, note });
    });
}
