import type { Command } from 'commander';

import type { ImportRequest } from './logflare-import';
import type { Surroundings } from './surroundings';

const EXAMPLES = `
Examples:
  logquay import-logflare --url https://api.logflare.app --token "$TOKEN" --out queries`;

/** `logquay import-logflare` (docs/logflare.md). */
export function addImportLogflare(program: Command, { out, note }: Surroundings): void {
  program
    .command('import-logflare')
    .summary('write the endpoints of a Logflare as stored queries')
    .description(
      'Reads endpoints and sources over the management API of a Logflare, and writes one file for each endpoint and a map of ' +
        'tables. Says of each what does not carry over; overwrites nothing.',
    )
    .requiredOption('--url <url>', 'where Logflare is reached')
    .requiredOption('--token <token>', 'an access token for its management API')
    .option('--out <directory>', 'the folder that takes the files', 'queries')
    .addHelpText('after', EXAMPLES)
    .action(async (request: ImportRequest) => {
      const { importLogflare } = await import('./logflare-import.js');
      await importLogflare(request, { print: out, note });
    });
}
