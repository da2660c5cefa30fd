import type { Command } from 'commander';

import { Ending, EXIT, type Surroundings } from './surroundings';

const EXAMPLES = `
Examples:
  logquay check
  logquay check /etc/logquay/queries`;

/** `logquay check`. */
export function addCheck(program: Command, { environment, out }: Surroundings): void {
  program
    .command('check')
    .summary('validate the stored queries')
    .description(
      'Reads every stored query of a folder and names each fault with its file and line. Fails on a fault, or without any file.',
    )
    .argument('[directory]', 'the folder (default: QUERIES_DIR, else queries)')
    .addHelpText('after', EXAMPLES)
    .action(async (directory: string | undefined) => {
      const { check } = await import('../endpoints/check.js');
      const code = await check(directory ?? (environment['QUERIES_DIR'] || 'queries'), out);
      if (code !== 0) throw new Ending(EXIT.failure);
    });
}
