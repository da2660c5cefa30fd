import type { Command } from 'commander';

import type { CreateOptions } from '../keys/command';
import { repeatable, type Surroundings } from './surroundings';
import { scopeFault } from './key-scope';

const CREATE_EXAMPLES = `
The key goes to the standard output, alone and once: only its SHA-256 is stored.

Examples:
  logquay keys create --name grafana
  logquay keys create --name vector --ingest
  logquay keys create --name dashboard --sha256 $(printf %s "$TOKEN" | sha256sum | cut -c1-64)
  logquay keys create --name tenant-1 --endpoints logs.all,usage.api-counts --pin project=abc --expires 90d
  KEY=$(logquay keys create --name script)`;

/** `logquay keys create | list | revoke` (docs/keys.md). */
export function addKeys(program: Command, surroundings: Surroundings): void {
  const keys = program
    .command('keys')
    .summary('create, list and revoke keys')
    .description(
      'Edits the keys file: KEYS_FILE, default .data/keys.json. A running service takes a change up within 2 seconds.',
    );
  const { environment, note, out } = surroundings;
  const file = (): string => environment['KEYS_FILE'] || '.data/keys.json';

  const create = keys
    .command('create')
    .summary('make a key and print it, once')
    .description('Makes a key and prints it, once.')
    .requiredOption('--name <name>', 'what limits and logs call it')
    .option('--endpoints <list>', 'what it may run, by name or id, with commas between (default: everything)')
    .addOption(
      repeatable('--pin <parameter=value>', 'fixes a parameter; one that takes a list is repeated with each value'),
    )
    .option('--ingest', 'may send logs to be stored (COLLECT=on), and nothing else')
    .option('--sha256 <hash>', 'takes a key that clients have by its SHA-256 in hexadecimal, and prints none')
    .option('--redact', 'its results are always redacted')
    .option('--allow-sql', 'may send sql, lql and regex parameters although redaction is forced')
    .option('--export', 'may export results of any length, from endpoints that allow it')
    .option('--rate-limit <number>', 'requests per second')
    .option('--daily-bytes <number>', 'bytes billed per UTC day')
    .option('--expires <when>', 'an ISO 8601 date or instant, or a period: 12h, 90d, 4w')
    .addHelpText('after', CREATE_EXAMPLES)
    .action(async (options: CreateOptions) => {
      const { createKey, OptionError } = await import('../keys/command.js');
      const queries = environment['QUERIES_DIR'] || 'queries';
      await createKey(file(), options, surroundings, surroundings.now(), (scope) =>
        scopeFault(scope, queries, note),
      ).catch((error: unknown) => {
        if (error instanceof OptionError) create.error(`error: ${error.message}`);
        throw error;
      });
      const { hasStartKey, START_KEY_FILE } = await import('../keys/start-key.js');
      if (!(await hasStartKey(START_KEY_FILE))) return;
      note(`The start key in ${START_KEY_FILE} stays valid until it is revoked: logquay keys revoke start-key`);
    });

  keys
    .command('list')
    .summary('show the keys, never their secrets')
    .description('Shows the keys, never their secrets.')
    .addHelpText('after', '\nExamples:\n  logquay keys list')
    .action(async () => {
      const { listKeys } = await import('../keys/command.js');
      await listKeys(file(), surroundings, surroundings.now());
      const { hasStartKey, START_KEY_FILE } = await import('../keys/start-key.js');
      if (await hasStartKey(START_KEY_FILE)) out(`start-key  *  in ${START_KEY_FILE}, on the embedded engine`);
    });

  keys
    .command('revoke')
    .summary('remove a key')
    .description('Removes a key.')
    .argument('<name>', 'its name; start-key: the one of the first start')
    .addHelpText('after', '\nExamples:\n  logquay keys revoke tenant-1')
    .action(async (name: string) => {
      const { CommandError, revokeKey } = await import('../keys/command.js');
      if (name !== 'start-key') return revokeKey(file(), name, surroundings);
      const { revokeStartKey, START_KEY_FILE } = await import('../keys/start-key.js');
      if (!(await revokeStartKey(START_KEY_FILE)))
        throw new CommandError(`There is no start key in ${START_KEY_FILE}.`);
      note('The start key is revoked; a running service takes that up within 2 seconds.');
      note('A start on the embedded engine without any other key makes a new one.');
    });
}
