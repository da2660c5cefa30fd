import { existsSync } from 'node:fs';

import { CommandError, runKeysCommand } from './command';
import { KeysFileError } from './keys-file';

/** `npm run keys`: exit code 0, 1 for a command that failed. The key goes to the standard output, words to the other. */
if (existsSync('.env')) process.loadEnvFile('.env');
const file = process.env['KEYS_FILE'] || '.data/keys.json';
const streams = {
  out: (line: string) => process.stdout.write(`${line}\n`),
  note: (line: string) => process.stderr.write(`${line}\n`),
};
runKeysCommand(file, process.argv.slice(2), streams).catch((error: unknown) => {
  const known = error instanceof CommandError || error instanceof KeysFileError;
  process.stderr.write(`${known ? error.message : String(error)}\n`);
  process.exitCode = 1;
});
