import { parseArgs } from 'node:util';

import { editKeysFile, readOrEmpty } from './edit-file';
import { nameOfEntry, readEntry, type WrittenEntry } from './entry';
import { readExpiryOption } from './instant';
import { hashOf, newSecretKey } from './secret-key';

export const USAGE = `Usage: npm run keys -- COMMAND

  create --name NAME           makes a key and prints it, once
      --endpoints A,B          what it may run, by name or id (default: everything)
      --pin PARAMETER=VALUE    fixes a parameter; may be repeated
      --redact                 its results are always redacted
      --allow-sql              may send sql and lql although redaction is forced
      --rate-limit NUMBER      requests per second
      --daily-bytes NUMBER     bytes billed per UTC day
      --expires WHEN           an ISO 8601 date or instant, or a period: 12h, 90d, 4w
  list                         shows the keys, never their secrets
  revoke NAME                  removes a key

The file is KEYS_FILE (default .data/keys.json).`;

/** The command cannot be carried out as asked; the message is for whoever typed it. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
}

export interface Console {
  /** The result: what a script would read. */
  readonly out: (line: string) => void;
  /** Words for people. */
  readonly note: (line: string) => void;
}

/** Carries out one command on a keys file. Throws `CommandError` and `KeysFileError`. */
export async function runKeysCommand(
  file: string,
  args: readonly string[],
  console: Console,
  now = Date.now(),
): Promise<void> {
  const [command, ...rest] = args;
  if (command === 'create') return create(file, rest, console, now);
  if (command === 'list') return list(file, rest, console, now);
  if (command === 'revoke') return revoke(file, rest, console);
  if (command === 'help' || command === '--help' || command === '-h') return console.out(USAGE);
  throw new CommandError(command === undefined ? USAGE : `There is no command "${command}".\n\n${USAGE}`);
}

async function create(file: string, args: readonly string[], { out, note }: Console, now: number): Promise<void> {
  const options = readOptions(args);
  const secret = newSecretKey();
  const entry = toEntry(options, secret, now);
  const name = entry.name;
  await editKeysFile(file, (entries) => {
    if (entries.some((written) => nameOfEntry(written) === name)) {
      throw new CommandError(`There is a key named ${name} already: revoke it first, or choose another name.`);
    }
    return [...entries, entry];
  });
  note(`Key ${name} is in ${file}. It is shown only now:`);
  out(secret);
  const pins = Object.keys(entry.pins ?? {});
  if (pins.length === 0) return;
  note(`Endpoints that do not declare ${pins.join(' and ')} do not exist for this key.`);
  note(
    `Where an endpoint declares ${pins.join(' or ')} with the type regex (as usage.api-counts does with project), the pin ` +
      `fences by a text match only: the pinned text is found anywhere, in other tenants' texts that hold it too.`,
  );
}

function readOptions(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: false,
      options: {
        name: { type: 'string' },
        endpoints: { type: 'string' },
        pin: { type: 'string', multiple: true },
        redact: { type: 'boolean' },
        'allow-sql': { type: 'boolean' },
        'rate-limit': { type: 'string' },
        'daily-bytes': { type: 'string' },
        expires: { type: 'string' },
      },
    }).values;
  } catch (error) {
    throw new CommandError(`${error instanceof Error ? error.message : String(error)}\n\n${USAGE}`);
  }
}

function toEntry(options: ReturnType<typeof readOptions>, secret: string, now: number): WrittenEntry {
  if (options.name === undefined) throw new CommandError(`create needs --name NAME.\n\n${USAGE}`);
  const rateLimit = options['rate-limit'];
  const expires = options.expires === undefined ? null : readExpiryOption(options.expires, now);
  if (options.expires !== undefined && expires === null) {
    throw new CommandError('--expires takes an ISO 8601 date or instant, or a period such as 12h, 90d or 4w.');
  }
  if (expires !== null && expires <= now) throw new CommandError('--expires is in the past.');
  const entry: WrittenEntry = {
    name: options.name,
    hash: hashOf(secret).toString('hex'),
    endpoints: readEndpoints(options.endpoints),
    pins: readPins(options.pin ?? []),
    redact: options.redact ?? false,
    allowSql: options['allow-sql'] ?? false,
    rateLimit: rateLimit === undefined ? null : Number(rateLimit.trim() || NaN),
    dailyBytes: options['daily-bytes'] ?? null,
    expires: expires === null ? null : new Date(expires).toISOString(),
    created: new Date(now).toISOString(),
  };
  const read = readEntry(entry);
  if ('fault' in read) throw new CommandError(read.fault);
  return entry;
}

function readEndpoints(option: string | undefined): '*' | string[] {
  if (option === undefined || option.trim() === '*') return '*';
  return [...new Set(option.split(',').map((name) => name.trim()))];
}

function readPins(options: readonly string[]): Record<string, string> {
  const pins = new Map<string, string>();
  for (const option of options) {
    const equals = option.indexOf('=');
    if (equals < 1) throw new CommandError('--pin takes PARAMETER=VALUE.');
    const parameter = option.slice(0, equals);
    if (pins.has(parameter)) throw new CommandError(`--pin ${parameter} is given twice.`);
    pins.set(parameter, option.slice(equals + 1));
  }
  return Object.fromEntries(pins);
}

async function list(file: string, args: readonly string[], { out, note }: Console, now: number): Promise<void> {
  if (args.length > 0) throw new CommandError('list takes no arguments.');
  const entries = await readOrEmpty(file);
  if (entries.length === 0) return note(`There are no keys in ${file}.`);
  const rows = entries.map((written) => {
    const read = readEntry(written);
    if ('fault' in read) return [nameOfEntry(written) ?? '(no name)', `FAULTY, left out: ${read.fault}`];
    const { key } = read.entry;
    const facts = [
      ...[...key.pins].map(([parameter, value]) => `pin ${parameter}=${value}`),
      ...(key.redact ? ['redact'] : []),
      ...(key.allowSql ? ['allow-sql'] : []),
      ...(key.rateLimit === null ? [] : [`${String(key.rateLimit)} requests/s`]),
      ...(key.dailyBytes === null ? [] : [`${String(key.dailyBytes)} bytes/day`]),
      ...(key.expires === null
        ? []
        : [`${key.expires <= now ? 'EXPIRED' : 'expires'} ${new Date(key.expires).toISOString()}`]),
    ];
    return [key.name, key.endpoints === '*' ? '*' : key.endpoints.join(','), facts.join(', ')];
  });
  const widths = [0, 1].map((column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  for (const row of rows)
    out(
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    );
}

async function revoke(file: string, args: readonly string[], { note }: Console): Promise<void> {
  const [name, ...more] = args;
  if (name === undefined || more.length > 0) throw new CommandError('revoke takes one NAME.');
  await editKeysFile(file, (entries) => {
    const left = entries.filter((written) => nameOfEntry(written) !== name);
    if (left.length === entries.length) throw new CommandError(`There is no key named ${name} in ${file}.`);
    return left;
  });
  note(`Key ${name} is revoked; a running service takes that up within 2 seconds.`);
}
