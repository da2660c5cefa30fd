import { readFile } from 'node:fs/promises';

import type { IssuerPin } from './claims';
import { type IssuerEntry, nameOfEntry, readEntry, readExpiryOption, type WrittenEntry } from './entry';
import { hashOf, newSecretKey } from './key';
import { secretIn, type VerificationKey } from './key-set';
import { editKeysFile, readKeysFile, readOrEmpty } from './keys-file';

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
  /** With `ingest`: the project of all its events. */
  readonly project?: string | undefined;
  /** It may see who used how much. */
  readonly admin?: boolean | undefined;
  /** Of an entry whose tokens others sign: `iss` and `aud`. */
  readonly issuer?: string | undefined;
  readonly audience?: string | undefined;
  /** Its public keys: a URL or a file; or a file with its secret. */
  readonly jwks?: string | undefined;
  readonly secretFile?: string | undefined;
  readonly maxAge?: string | undefined;
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
  if (options.project !== undefined && (options.ingest !== true || options.issuer !== undefined)) {
    throw new OptionError('--project is of a key with --ingest. What a key reads is fenced by --pin.');
  }
  if (options.issuer !== undefined) return createIssuer(file, options, { out, note }, now, faultOf);
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

/** How `--pin` names a claim. */
const CLAIM = 'claim:';

/** Adds an entry whose tokens others sign. @throws as `createKey` */
async function createIssuer(
  file: string,
  options: CreateOptions,
  { note }: Console,
  now: number,
  faultOf: (scope: KeyScope) => Promise<string | null>,
): Promise<void> {
  const { name, issuer, audience, jwks, secretFile, maxAge, rateLimit, dailyBytes } = options;
  const endpoints = readEndpoints(options.endpoints);
  const pins = Object.entries(readPins(options.pin ?? [])).map(([parameter, value]) => {
    const claim = typeof value === 'string' && value.startsWith(CLAIM) ? value.slice(CLAIM.length) : null;
    return [parameter, claim === null ? value : { claim }] as const;
  });
  const given = { issuer, audience, jwks, secretFile, maxAge };
  const entry = {
    name,
    tokens: Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)),
    endpoints,
    pins: Object.fromEntries(pins),
    ...(options.redact === true ? { redact: true } : {}),
    ...(options.allowSql === true ? { allowSql: true } : {}),
    ...(options.export === true ? { export: true } : {}),
    ...(rateLimit === undefined ? {} : { rateLimit: Number(rateLimit) }),
    ...(dailyBytes === undefined ? {} : { dailyBytes }),
    created: new Date(now).toISOString(),
  };
  const read = readEntry(entry);
  if ('fault' in read) throw new OptionError(read.fault);
  const fault = await faultOf({ endpoints, pinned: pins.map(([parameter]) => parameter) });
  if (fault !== null) throw new OptionError(fault);
  await editKeysFile(file, (entries) => {
    if (entries.some((written) => nameOfEntry(written) === name)) {
      throw new CommandError(`There is a key named ${name} already: revoke it first, or choose another name.`);
    }
    return [...entries, entry];
  });
  note(`Tokens that ${issuer ?? ''} signs for ${audience ?? ''} are taken by ${file}: entry ${name}.`);
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
    ...(options.project === undefined ? {} : { project: options.project }),
    ...(options.admin === true ? { admin: true } : {}),
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
    if ('issuer' in read) return aboutIssuer(read.issuer);
    const { key } = read.entry;
    const facts = [
      ...[...key.pins].map(([parameter, value]) => `pin ${parameter}=${pinText(value)}`),
      ...(read.entry.ingest ? ['ingest'] : []),
      ...(key.project === undefined ? [] : [`project ${key.project}`]),
      ...(key.admin === true ? ['admin'] : []),
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

function aboutIssuer({ name, endpoints, pins, issuer, audience, maxAge }: IssuerEntry): string[] {
  const facts = [
    `tokens of ${issuer} for ${audience}`,
    ...[...pins].map(([parameter, value]) => `pin ${parameter}=${pinText(value)}`),
    `${String(maxAge / 60_000)} min at most`,
  ];
  return [name, endpoints.join(','), facts.join(', ')];
}

function pinText(value: IssuerPin): string {
  if (typeof value === 'object' && 'claim' in value) return `${CLAIM}${value.claim.join('.')}`;
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

/** What `token` is asked for, as it was typed. */
export interface TokenOptions {
  /** `PATH=VALUE` each; a value that is JSON is that, any other a text. */
  readonly claim?: readonly string[] | undefined;
  readonly expires: string;
  /** A private key as JWK or PEM, where the issuer's keys are public ones. */
  readonly key?: string | undefined;
}

/**
 * Signs a token of an issuer of the keys file, for tests, scripts and demonstrations.
 *
 * @throws OptionError, CommandError, KeysFileError
 */
export async function signToken(
  file: string,
  name: string,
  { claim = [], expires, key: keyFile }: TokenOptions,
  { out }: Pick<Console, 'out'>,
  now = Date.now(),
): Promise<void> {
  const { issuers } = await readKeysFile(file);
  const entry = issuers.find((one) => one.name === name);
  if (entry === undefined) throw new CommandError(`There is no entry ${name} with tokens in ${file}.`);
  const until = readExpiryOption(expires, now);
  if (until === null || until <= now) throw new OptionError('--expires takes a period such as 10m or 1h.');
  const claims = { iss: entry.issuer, aud: entry.audience, ...claimsOf(claim) };
  const { key, algorithm, kid } = await signingKey(entry, keyFile);
  const { SignJWT } = await import('jose');
  const token = await new SignJWT(claims)
    .setProtectedHeader({ alg: algorithm, ...(kid === undefined ? {} : { kid }) })
    .setIssuedAt(Math.floor(now / 1000))
    .setExpirationTime(Math.floor(until / 1000))
    .sign(key);
  out(token);
}

async function signingKey(
  { keys }: IssuerEntry,
  file: string | undefined,
): Promise<{ readonly key: VerificationKey; readonly algorithm: string; readonly kid?: string | undefined }> {
  if ('secretFiles' in keys) {
    const secret = await secretIn(keys.secretFiles[0] ?? '');
    if (secret === null) throw new CommandError(`${keys.secretFiles[0] ?? ''} cannot be read, or is too short.`);
    return { key: secret, algorithm: 'HS256' };
  }
  if (file === undefined) throw new OptionError('--key: a file with the private key, as its issuer has public ones.');
  const { importJWK } = await import('jose');
  const jwk = JSON.parse(await readFile(file, 'utf8')) as { alg?: string; kty?: string; kid?: string };
  const algorithm = jwk.alg ?? { RSA: 'RS256', EC: 'ES256', OKP: 'EdDSA' }[jwk.kty ?? ''];
  if (algorithm === undefined) throw new OptionError(`--key: ${file} is no private key as JWK.`);
  return { key: await importJWK(jwk, algorithm), algorithm, kid: jwk.kid };
}

function claimsOf(options: readonly string[]): Record<string, unknown> {
  const claims: Record<string, unknown> = {};
  for (const option of options) {
    const equals = option.indexOf('=');
    if (equals < 1) throw new OptionError('--claim takes PATH=VALUE, such as app_metadata.org=abc.');
    const names = option.slice(0, equals).split('.');
    const last = names.pop() ?? '';
    let inner = claims;
    for (const name of names) {
      const next = Object.hasOwn(inner, name) ? inner[name] : {};
      if (typeof next !== 'object' || next === null) throw new OptionError(`--claim: ${name} is a value already.`);
      inner[name] = next;
      inner = next as Record<string, unknown>;
    }
    inner[last] = valueOf(option.slice(equals + 1));
  }
  return claims;
}

function valueOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
