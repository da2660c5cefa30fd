import type { Command } from 'commander';

import type { Surroundings } from './surroundings';

const EXAMPLES = `
Examples:
  logquay schema > .vscode/logquay-settings.json
  logquay schema --tests > .vscode/logquay-tests.json`;

/** `logquay schema`. */
export function addSchema(program: Command, { out }: Surroundings): void {
  program
    .command('schema')
    .summary("print the JSON Schema of stored queries' settings, for editors")
    .description('Prints the JSON Schema (draft 7) of the settings that head a stored query.')
    .option('--tests', 'of files of tests, NAME.test.yaml, instead')
    .addHelpText('after', EXAMPLES)
    .action(async ({ tests = false }: { tests?: boolean }) => {
      const { settingsJsonSchema } = await import('../endpoints/settings-json-schema.js');
      if (!tests) {
        out(JSON.stringify(settingsJsonSchema(), null, 2));
        return;
      }
      const { testFileJsonSchema } = await import('./endpoint-tests/test-file.js');
      out(JSON.stringify(testFileJsonSchema(), null, 2));
    });
}
