import type { Command } from 'commander';

import type { Surroundings } from './surroundings';

const EXAMPLES = `
Examples:
  logquay postman
  logquay postman --url https://logs.example.com --out shared/postman`;

/** `logquay postman`. */
export function addPostman(program: Command, { environment, out }: Surroundings): void {
  program
    .command('postman')
    .summary('write a Postman collection of the stored queries')
    .description(
      'Writes a collection and an environment for Postman and newman from the stored queries. Prints the file names. ' +
        'The key in the environment is empty unless one is given.',
    )
    .option('--url <url>', 'where the service is reached (default: http://127.0.0.1 and PORT, else 4000)')
    .option('--out <directory>', 'the folder that takes the files', 'postman')
    .option('--key <key>', 'the key to put into the environment, whose file is then for its owner alone')
    .addHelpText('after', EXAMPLES)
    .action(async ({ url, out: folder, key }: { url?: string; out: string; key?: string }) => {
      const { writePostmanFiles } = await import('../postman/write.js');
      const files = await writePostmanFiles({
        queriesDir: environment['QUERIES_DIR'] || 'queries',
        url: url ?? `http://127.0.0.1:${environment['PORT'] || '4000'}`,
        out: folder,
        key: key ?? null,
      });
      files.forEach(out);
    });
}
