import type { Definition } from '../endpoints/definition';
import type { KeyScope, CreateOptions, TokenOptions } from '../keys/command';
import { type Surroundings, repeatable } from './surroundings';
import type { Command } from 'commander';

/** Names that an error lists where none of them is near. */
const MOST_LISTED = 10;

/**
 * What is wrong with the endpoints and pins that a key is made for; null: nothing. Where there are no stored queries, as on a
 * machine that only makes keys, they cannot be checked, and a note says so.
 */
async function scopeFault(
  { endpoints, pinned }: KeyScope,
  directory: string,
  note: Surroundings['note'],
): Promise<string | null> {
  const named = [...(endpoints === '*' ? [] : endpoints), ...pinned.map((name) => `a parameter ${name}`)];
  if (named.length === 0) return null;
  const { readCatalogue } = await import('../endpoints/directory.js');
  const { nearest } = await import('@logquay/googlesql');
  const { TABLES_NAME } = await import('../endpoints/tables-endpoint.js');
  const definitions = (await readCatalogue(directory)).files.map(({ definition }) => definition);
  const claims = definitions.flatMap((definition) => definition.claims);
  if (claims.length === 0) {
    note(`There are no stored queries in ${directory}: whether there is ${named.join(' and ')} was not checked.`);
    return null;
  }
  const hintAt = (wrong: string, right: readonly string[]): string => {
    const near = nearest(wrong, right);
    return near === undefined ? `There are ${right.slice(0, MOST_LISTED).join(', ')}.` : `Did you mean ${near}?`;
  };
  const unknown =
    endpoints === '*'
      ? undefined
      : endpoints.find((name) => name !== TABLES_NAME && !definitions.some((one) => isNamed(one, name)));
  if (unknown !== undefined) {
    const names = claims.flatMap(({ key, value }) => (key === 'name' ? value : [])).sort();
    return `--endpoints: there is no endpoint ${unknown} in ${directory}. ${hintAt(unknown, names)}`;
  }
  const run = definitions.filter((one) => endpoints === '*' || endpoints.some((name) => isNamed(one, name)));
  // What a faulty file declares is not known.
  if (run.some(({ draft }) => draft === null)) return null;
  const declared = [...new Set(run.flatMap(({ draft }) => draft?.parameters.map(({ name }) => name) ?? []))].sort();
  const undeclared = pinned.find((name) => !declared.includes(name));
  if (undeclared === undefined) return null;
  const none = `--pin: no endpoint that this key may run has a parameter ${undeclared}, so that it could run none.`;
  return declared.length === 0 ? none : `${none} ${hintAt(undeclared, declared)}`;
}

/** Whether a name or an id, in any case, is that of a stored query. */
function isNamed({ claims }: Definition, name: string): boolean {
  return claims.some(({ key, value }) => value === name || (key === 'id' && value === name.toLowerCase()));
}

const CREATE_EXAMPLES = `
The key goes to the standard output, alone and once: only its SHA-256 is stored.

Examples:
  logquay keys create --name grafana
  logquay keys create --name vector --ingest
  logquay keys create --name shipper-1 --ingest --project abc
  logquay keys create --name dashboard --sha256 $(printf %s "$TOKEN" | sha256sum | cut -c1-64)
  logquay keys create --name tenant-1 --endpoints logs.all,usage.api-counts --pin project=abc --expires 90d
  KEY=$(logquay keys create --name script)
  logquay keys create --name app --issuer https://auth.example.com --audience logquay \\
    --jwks https://auth.example.com/.well-known/jwks.json --endpoints logs.all --pin project=claim:app_metadata.org`;

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
    .option('--project <project>', 'with --ingest: the project of all its events, whatever they say')
    .option('--admin', 'may see who used how much, at /api/usage')
    .option('--sha256 <hash>', 'takes a key that clients have by its SHA-256 in hexadecimal, and prints none')
    .option('--redact', 'its results are always redacted')
    .option('--allow-sql', 'may send sql, lql and regex parameters although redaction is forced')
    .option('--export', 'may export results of any length, from endpoints that allow it')
    .option('--rate-limit <number>', 'requests per second')
    .option('--daily-bytes <number>', 'bytes billed per UTC day')
    .option('--expires <when>', 'an ISO 8601 date or instant, or a period: 12h, 90d, 4w')
    .option('--issuer <iss>', 'takes tokens that this issuer signs, in the place of a key (docs/keys.md)')
    .option('--audience <aud>', 'the audience of these tokens')
    .option('--jwks <url>', "the issuer's public keys: an https URL, or a file")
    .option('--secret-file <file>', 'or a file with its secret, for HS256')
    .option('--max-age <period>', 'how long such a token lives at most: 15m, 1h')
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
      const { hasStartKey, START_KEY_FILE } = await import('../keys/keys-file.js');
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
      const { hasStartKey, START_KEY_FILE } = await import('../keys/keys-file.js');
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
      const { revokeStartKey, START_KEY_FILE } = await import('../keys/keys-file.js');
      if (!(await revokeStartKey(START_KEY_FILE)))
        throw new CommandError(`There is no start key in ${START_KEY_FILE}.`);
      note('The start key is revoked; a running service takes that up within 2 seconds.');
      note('A start on the embedded engine without any other key makes a new one.');
    });
}

const TOKEN_HELP = `
The token goes to the standard output. For tests, scripts and demonstrations: an application signs its own.

Examples:
  logquay token app --claim sub=u1 --claim app_metadata.org=abc --expires 10m`;

/** `logquay token` (docs/keys.md). */
export function addToken(program: Command, { environment, out, now }: Surroundings): void {
  const token = program
    .command('token')
    .summary('sign a token of an issuer of the keys file')
    .description('Signs a token of an issuer of the keys file, with its secret or a private key that is given.')
    .argument('<name>', 'the entry of the issuer')
    .addOption(repeatable('--claim <path=value>', 'a claim; names of inner members have dots between'))
    .option('--expires <when>', 'a period: 10m, 1h', '10m')
    .option('--key <file>', 'the private key as JWK, of an issuer with public keys')
    .addHelpText('after', TOKEN_HELP)
    .action(async (name: string, options: TokenOptions) => {
      const { OptionError, signToken } = await import('../keys/command.js');
      await signToken(environment['KEYS_FILE'] || '.data/keys.json', name, options, { out }, now()).catch(
        (error: unknown) => {
          if (error instanceof OptionError) token.error(`error: ${error.message}`);
          throw error;
        },
      );
    });
}
