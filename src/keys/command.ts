import { nameOfEntry, readEntry, readExpiryOption, type WrittenEntry } from './entry';
import { hashOf, newSecretKey, type PinnedValue } from './key';
import { editKeysFile, readOrEmpty } from './keys-file';

/** What `keys create` is asked for, as it was typed. */
export interface CreateOptions {
  readonly name: string;
  /** Names and ids with commas between, or `*`. */
  readonly endpoints?: string | undefined;
  /** `PARAMETER=VALUE` each; a list parameter is named with each of its values. */
  readonly pin?: readonly string[] | undefined;
  readonly redact?: boolean | undefined;
  readonly allowSql?: boolean | undefined;
  readonly export?: boolean | undefined;
  readonly rateLimit?: string | undefined;
  readonly dailyBytes?: string | undefined;
  readonly expires?: string | undefined;
  /** SHA-256 of a key that clients have already, in hexadecimal, in the place of a new one. */
  readonly sha256?: string | undefined;
  /** It may send logs to be stored, and nothing else. */
  readonly ingest?: boolean | undefined;
}

/** The command cannot be carried out; the message is for whoever typed it. */
export class CommandError extends Error {
  override readonly name: string = 'CommandError';
}

/** An option's value is not allowed. */
export class OptionError extends CommandError {
  override readonly name = 'OptionError';
}

export interface Console {
  /** The result: what a script would read. */
  readonly out: (line: string) => void;
  /** Words for people. */
  readonly note: (line: string) => void;
}

/** What a key is made for: the endpoints that it may run, and the parameters that it pins. */
export interface KeyScope {
  readonly endpoints: '*' | readonly string[];
  readonly pinned: readonly string[];
}

/**
 * Makes a key and prints it, once, or takes one that clients have by its hash.
 *
 * @param faultOf what is wrong with the endpoints and pins as the stored queries are; null: nothing
 * @throws OptionError, CommandError, KeysFileError; nothing is written then
 */
export async function createKey(
  file: string,
  options: CreateOptions,
  { out, note }: Console,
  now = Date.now(),
  faultOf: (scope: KeyScope) => Promise<string | null> = () => Promise.resolve(null),
): Promise<void> {
  const secret = options.sha256 === undefined ? newSecretKey() : null;
  const entry = toEntry(options, secret === null ? (options.sha256 ?? '') : hashOf(secret).toString('hex'), now);
  const pins = Object.keys(entry.pins ?? {});
  const fault = await faultOf({ endpoints: readEndpoints(options.endpoints), pinned: pins });
  if (fault !== null) throw new OptionError(fault);
  const name = entry.name;
  await editKeysFile(file, (entries) => {
    if (entries.some((written) => nameOfEntry(written) === name)) {
      throw new CommandError(`There is a key named ${name} already: revoke it first, or choose another name.`);
    }
    if (entries.some((written) => hashInEntry(written) === entry.hash)) {
      throw new CommandError('There is this key already, under another name.');
    }
    return [...entries, entry];
  });
  if (secret === null) note(`Key ${name} is in ${file}: it is the one that clients have.`);
  else {
    note(`Key ${name} is in ${file}. It is shown only now:`);
    out(secret);
  }
  if (entry.redact === true) for (const line of aboutRedaction(entry.allowSql === true)) note(line);
  if (pins.length === 0) return;
  note(`Endpoints that do not declare ${asDeclared(entry).join(' and ')} do not exist for this key.`);
  note(
    `Where an endpoint declares ${pins.join(' or ')} with the type regex (as usage.api-counts does with project), the pin ` +
      `fences by a text match only: the pinned text is found anywhere, in other tenants' texts that hold it too.`,
  );
}

function asDeclared({ pins = {} }: WrittenEntry): string[] {
  return Object.entries(pins).map(([name, value]) => (typeof value === 'string' ? name : `${name} as a list`));
}

/** null: the entry has none. */
function hashInEntry(written: unknown): string | null {
  const read = readEntry(written);
  return 'entry' in read ? read.entry.hash.toString('hex') : null;
}

/** What redaction promises, for whoever hands the key on (docs/redaction.md). */
function aboutRedaction(allowSql: boolean): string[] {
  const promise =
    'Redaction hides IP and e-mail addresses in results. It does not keep anybody from searching for them:';
  return allowSql
    ? [`${promise} with --allow-sql this key can test in sql, lql and regex parameters what the mask hides.`]
    : [
        `${promise} string parameters still compare with the values themselves.`,
        'This key may not send sql, lql or a regex parameter that it does not pin; with --allow-sql it could.',
      ];
}

/** @param hash SHA-256 of the key, in hexadecimal */
function toEntry(options: CreateOptions, hash: string, now: number): WrittenEntry {
  const { rateLimit, dailyBytes } = options;
  if (rateLimit !== undefined && !isRate(rateLimit)) {
    throw new OptionError('--rate-limit takes a number of requests per second above 0, such as 5 or 0.1.');
  }
  if (dailyBytes !== undefined && !isInt64(dailyBytes)) {
    throw new OptionError('--daily-bytes takes a whole number of bytes, such as 1099511627776.');
  }
  const expires = options.expires === undefined ? null : readExpiryOption(options.expires, now);
  if (options.expires !== undefined && expires === null) {
    throw new OptionError('--expires takes an ISO 8601 date or instant, or a period such as 12h, 90d or 4w.');
  }
  if (expires !== null && expires <= now) throw new OptionError('--expires is in the past.');
  const entry: WrittenEntry = {
    name: options.name,
    hash: hash.toLowerCase(),
    endpoints: readEndpoints(options.endpoints),
    pins: readPins(options.pin ?? []),
    redact: options.redact ?? false,
    allowSql: options.allowSql ?? false,
    export: options.export ?? false,
    rateLimit: rateLimit === undefined ? null : Number(rateLimit),
    dailyBytes: dailyBytes ?? null,
    expires: expires === null ? null : new Date(expires).toISOString(),
    ...(options.ingest === true ? { ingest: true } : {}),
    created: new Date(now).toISOString(),
  };
  const read = readEntry(entry);
  if ('fault' in read) throw new OptionError(read.fault);
  return entry;
}

function isRate(text: string): boolean {
  return /^\d{1,9}(\.\d{1,9})?$/.test(text) && Number(text) > 0;
}

function isInt64(text: string): boolean {
  return /^\d{1,19}$/.test(text) && BigInt(text) < 2n ** 63n;
}

/** The endpoints that an option names; `*`: all. */
function readEndpoints(option: string | undefined): '*' | string[] {
  if (option === undefined || option.trim() === '*') return '*';
  return [...new Set(option.split(',').map((name) => name.trim()))];
}

/** A parameter that is named several times is pinned to a list. */
function readPins(options: readonly string[]): Record<string, string | string[]> {
  const pins = new Map<string, string | string[]>();
  for (const option of options) {
    const equals = option.indexOf('=');
    if (equals < 1) throw new OptionError('--pin takes PARAMETER=VALUE.');
    const parameter = option.slice(0, equals);
    const value = option.slice(equals + 1);
    const before = pins.get(parameter);
    pins.set(parameter, before === undefined ? value : [before, value].flat());
  }
  return Object.fromEntries(pins);
}

/** Shows the keys, never their secrets. @throws KeysFileError */
export async function listKeys(file: string, { out, note }: Console, now = Date.now()): Promise<void> {
  const entries = await readOrEmpty(file);
  if (entries.length === 0) {
    note(`There are no keys in ${file}.`);
    return;
  }
  const rows = entries.map((written) => {
    const read = readEntry(written);
    if ('fault' in read) return [nameOfEntry(written) ?? '(no name)', `FAULTY, left out: ${read.fault}`];
    const { key } = read.entry;
    const facts = [
      ...[...key.pins].map(([parameter, value]) => `pin ${parameter}=${pinText(value)}`),
      ...(read.entry.ingest ? ['ingest'] : []),
      ...(key.redact ? ['redact'] : []),
      ...(key.allowSql ? ['allow-sql'] : []),
      ...(key.export ? ['export'] : []),
      ...(key.rateLimit === null ? [] : [`${String(key.rateLimit)} requests/s`]),
      ...(key.dailyBytes === null ? [] : [`${String(key.dailyBytes)} bytes/day`]),
      ...(key.expires === null
        ? []
        : [`${key.expires <= now ? 'EXPIRED' : 'expires'} ${new Date(key.expires).toISOString()}`]),
    ];
    const endpoints = key.endpoints === '*' ? '*' : key.endpoints.join(',');
    return [key.name, read.entry.ingest ? '-' : endpoints, facts.join(', ')];
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

function pinText(value: PinnedValue): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** Removes a key. @throws CommandError for an unknown name, KeysFileError */
export async function revokeKey(file: string, name: string, { note }: Console): Promise<void> {
  await editKeysFile(file, (entries) => {
    const left = entries.filter((written) => nameOfEntry(written) !== name);
    if (left.length === entries.length) throw new CommandError(`There is no key named ${name} in ${file}.`);
    return left;
  });
  note(`Key ${name} is revoked; a running service takes that up within 2 seconds.`);
}
