import path from 'node:path';

import { z } from 'zod';

import { secondsOf, readInstant } from '@logquay/googlesql/types';
import type { IssuerPin, IssuerScope } from './claims';
import { isReservedParameter, type Key, type PinnedValue } from './key';

const INSTANT = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d{1,6})?)?(Z|[+-]\d{2}:\d{2})?)?$/;
const PERIOD = /^([1-9]\d{0,4})([mhdw])$/;
const UNITS = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };

/** Milliseconds since the epoch of an ISO 8601 date or instant, to the second, UTC without a zone; null: not valid. */
function readExpiry(text: string): number | null {
  const micros = INSTANT.test(text) ? readInstant(text) : 'spelling';
  return typeof micros === 'bigint' ? secondsOf(micros) * 1000 : null;
}

/** An instant as above, or a period from now: `30m`, `12h`, `90d`, `4w`. */
export function readExpiryOption(text: string, now: number): number | null {
  const period = PERIOD.exec(text);
  if (period === null) return readExpiry(text);
  return now + Number(period[1]) * UNITS[period[2] as keyof typeof UNITS];
}

/** Names of the keys that are in no file: API_KEY, and the one made at the first embedded start. */
export const API_KEY_NAME = 'API_KEY';
export const START_KEY_NAME = 'start-key';
/** Name of the key that only sends logs, from LOGFLARE_PUBLIC_ACCESS_TOKEN. */
export const PUBLIC_TOKEN_NAME = 'public-token';
const NAMES_OUTSIDE = [API_KEY_NAME, START_KEY_NAME, PUBLIC_TOKEN_NAME];

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
const INT64_MAX = 2n ** 63n - 1n;

const nameSchema = z
  .string({ error: 'name must be a text' })
  .regex(NAME, { error: 'name must be 1 to 64 letters, digits and . _ - and begin with a letter or digit' })
  .refine((name) => !NAMES_OUTSIDE.includes(name), {
    error: `${NAMES_OUTSIDE.join(', ')} are names of keys outside the file`,
  });

const endpointsSchema = z.union(
  [
    z.literal('*'),
    z.array(z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]*$/)).min(1, { error: 'endpoints must name at least one' }),
  ],
  { error: 'endpoints must be "*" or a list of names or ids' },
);

/** zod leaves a member of this name out of a record, and a pin that is left out leaves the key wider than it was meant. */
const withoutProto = z.custom<Record<string, unknown>>(
  (pins) => typeof pins !== 'object' || pins === null || !Object.hasOwn(pins, '__proto__'),
  { error: 'a parameter named __proto__ cannot be pinned' },
);

/** Values of one pinned list. */
const MOST_VALUES = 1_000;

const pinnedText = z
  .string()
  .min(1, { error: 'a pinned value must not be empty' })
  .max(4096, { error: 'a pinned value has at most 4096 characters' });
const pinnedSchema = z.union([pinnedText, z.array(pinnedText).min(1).max(MOST_VALUES)], {
  error: 'a pinned value must be a text, or a list of 1 to 1000 texts',
});

const pinName = z
  .string()
  .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, { error: 'a pin names a parameter' })
  .refine((name) => !isReservedParameter(name), { error: 'a reserved parameter cannot be pinned' });

const pinsRecord = z.record(pinName, pinnedSchema, {
  error: (issue) =>
    issue.code === 'invalid_key'
      ? issue.issues[0]?.message
      : 'pins must be a map from parameters to texts, or to lists of texts',
});

const pinsSchema = withoutProto.pipe(pinsRecord);

const rateLimitSchema = z
  .number({ error: 'rateLimit must be a number' })
  .positive({ error: 'rateLimit must be above 0 (requests per second)' });

/** A text of digits, so that no JSON reader rounds it. */
const dailyBytesSchema = z
  .string({ error: 'dailyBytes must be a text of digits' })
  .regex(/^\d{1,19}$/, { error: 'dailyBytes must be a text of digits' })
  .transform(BigInt)
  .refine((bytes) => bytes <= INT64_MAX, { error: 'dailyBytes must fit into 64 bits' });

const expiresSchema = z.string({ error: 'expires must be an ISO 8601 instant' }).transform((text, context) => {
  const time = readExpiry(text);
  if (time !== null) return time;
  context.addIssue({ code: 'custom', message: 'expires must be an ISO 8601 instant' });
  return z.NEVER;
});

/**
 * One entry of the keys file. Strict: a misspelt restriction must not leave a key wider than it was meant.
 * Everything but name and hash may be absent; absent restricts nothing and allows nothing beyond running endpoints.
 */
const fieldsSchema = z.strictObject({
  name: nameSchema,
  /** SHA-256 of the key, hexadecimal. */
  hash: z
    .string({ error: 'hash must be a text' })
    .regex(/^[0-9a-f]{64}$/i, { error: 'hash must be 64 hexadecimal digits' }),
  endpoints: endpointsSchema.default('*'),
  pins: pinsSchema.default({}),
  redact: z.boolean({ error: 'redact must be true or false' }).default(false),
  allowSql: z.boolean({ error: 'allowSql must be true or false' }).default(false),
  export: z.boolean({ error: 'export must be true or false' }).default(false),
  rateLimit: rateLimitSchema.nullable().default(null),
  dailyBytes: dailyBytesSchema.nullable().default(null),
  expires: expiresSchema.nullable().default(null),
  /** May send logs to be stored, and nothing else. */
  ingest: z.boolean({ error: 'ingest must be true or false' }).default(false),
  /** Of one that sends logs: the project of all its events, whatever they say. */
  project: z
    .string({ error: 'project must be a text' })
    .min(1, { error: 'project must not be empty' })
    .max(256, { error: 'project has at most 256 characters' })
    .nullable()
    .default(null),
  /** May see who used how much. */
  admin: z.boolean({ error: 'admin must be true or false' }).default(false),
  /** When it was created; for people. */
  created: z.string().optional(),
});

/** What only a key that reads can be restricted to. */
const READING = ['endpoints', 'pins', 'redact', 'allowSql', 'dailyBytes'] as const;

const entrySchema = fieldsSchema
  .refine(({ admin, pins, ingest }) => !admin || (Object.keys(pins).length === 0 && !ingest), {
    error: 'a key with admin may have no pins and no ingest: it sees the usage of all',
  })
  .refine((entry) => !entry.ingest || READING.every((field) => JSON.stringify(entry[field]) === UNRESTRICTED[field]), {
    error: `a key with ingest may not have ${READING.join(', ')}: it reads nothing`,
  })
  // It would look like a fence around what is read.
  .refine(({ ingest, project }) => ingest || project === null, {
    error: 'only a key with ingest may have a project; what a key reads is fenced by pins',
  });

const UNRESTRICTED = { endpoints: '"*"', pins: '{}', redact: 'false', allowSql: 'false', dailyBytes: 'null' };

/** An entry as it stands in the file. */
export type WrittenEntry = z.input<typeof entrySchema>;

export interface KeyEntry {
  readonly key: Key;
  readonly hash: Buffer;
  /** Whether it may send logs to be stored, and nothing else; otherwise it may not. */
  readonly ingest: boolean;
}

const claimSchema = z.strictObject({
  claim: z.union([z.string().min(1).max(1024), z.array(z.string().min(1).max(256)).min(1).max(16)], {
    error: 'a claim must be a text with dots, or a list of names',
  }),
});

/** https, or http on this machine; anything else is a file. */
const jwksSchema = z.string({ error: 'jwks must be a URL or a file' }).refine((text) => isSafeUrl(text), {
  error: 'jwks must be an https URL (http on this machine), or a file',
});

function isSafeUrl(text: string): boolean {
  if (!/^[a-z][a-z0-9+.-]+:/i.test(text)) return text !== '';
  if (!URL.canParse(text)) return false;
  const { protocol, hostname, username, password } = new URL(text);
  if (username !== '' || password !== '') return false;
  const isLocal = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/.test(hostname);
  return protocol === 'https:' || (protocol === 'http:' && isLocal);
}

/** Milliseconds that a token lives at most, where its entry does not say. */
const MAX_AGE = '1h';

const tokensSchema = z
  .strictObject({
    issuer: z.string().min(1, { error: 'issuer must be the iss of its tokens' }).max(1024),
    audience: z.string().min(1, { error: 'audience must be an aud of its tokens' }).max(1024),
    jwks: jwksSchema.optional(),
    secretFile: z.union([z.string().min(1), z.array(z.string().min(1)).min(1).max(2)]).optional(),
    maxAge: z.string().regex(PERIOD, { error: 'maxAge must be a period such as 15m or 1h' }).default(MAX_AGE),
    notBefore: expiresSchema.nullable().default(null),
    header: z
      .string()
      .regex(/^[A-Za-z0-9-]{1,64}$/, { error: 'header must be the name of a header' })
      .optional(),
  })
  .refine(({ jwks, secretFile }) => (jwks === undefined) !== (secretFile === undefined), {
    error: 'tokens must have jwks or secretFile, and not both',
  });

/** An entry whose tokens others sign (docs/keys.md). Strict, and closed by default. */
const issuerSchema = z
  .strictObject({
    name: nameSchema,
    tokens: tokensSchema,
    endpoints: z
      .array(z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]*$/), {
        error: 'endpoints of an entry with tokens must be a list of names or ids',
      })
      .min(1, { error: 'endpoints must name at least one' }),
    pins: withoutProto.pipe(z.record(pinName, z.union([claimSchema, pinnedSchema]))).default({}),
    unpinned: z.boolean().default(false),
    redact: z.boolean().default(false),
    /** Absent: as for a key. */
    allowSql: z.boolean().optional(),
    export: z.boolean().default(false),
    rateLimit: rateLimitSchema.nullable().default(null),
    dailyBytes: dailyBytesSchema.nullable().default(null),
    dailyBytesPerSubject: dailyBytesSchema.nullable().default(null),
    created: z.string().optional(),
  })
  .refine(({ pins, unpinned }) => unpinned || Object.values(pins).some((pin) => isClaimPin(pin)), {
    error: 'an entry with tokens must pin a parameter to a claim; "unpinned": true shows all rows to all holders',
  });

function isClaimPin(pin: unknown): pin is { readonly claim: string | string[] } {
  return typeof pin === 'object' && pin !== null && 'claim' in pin;
}

/** Whose tokens are taken, and what they may do at most. */
export interface IssuerEntry extends IssuerScope {
  readonly name: string;
  readonly issuer: string;
  readonly audience: string;
  /** A URL or the path of a file of public keys; or paths of files with secrets. */
  readonly keys: { readonly jwks: string } | { readonly secretFiles: readonly string[] };
  /** Milliseconds. */
  readonly maxAge: number;
  /** Milliseconds since the epoch; null: tokens of any age. */
  readonly notBefore: number | null;
  /** The one header that its tokens come in, in lower case; null: those of keys. */
  readonly header: string | null;
  readonly redact: boolean;
  readonly allowSql: boolean | null;
  readonly export: boolean;
  /** Bytes billed per UTC day: of all tokens together, and of one subject. */
  readonly dailyBytes: bigint | null;
  readonly dailyBytesPerSubject: bigint | null;
}

/** Of the bytes of an issuer, the part of one subject where its entry does not say. */
const SUBJECTS_PART = 20n;

function readIssuer(written: unknown, folder: string): { readonly issuer: IssuerEntry } | { readonly fault: string } {
  const read = issuerSchema.safeParse(written);
  if (!read.success) return { fault: faultOf(read.error) };
  const { tokens, pins, allowSql = null, ...rest } = read.data;
  const { jwks, secretFile, maxAge, header = null, ...named } = tokens;
  const inFolder = (file: string): string => path.resolve(folder, file);
  const issuer = {
    ...rest,
    ...named,
    allowSql,
    header: header?.toLowerCase() ?? null,
    maxAge: readExpiryOption(maxAge, 0) ?? 0,
    keys:
      jwks === undefined
        ? { secretFiles: [secretFile ?? []].flat().map(inFolder) }
        : { jwks: /^https?:/i.test(jwks) ? jwks : inFolder(jwks) },
    pins: new Map(Object.entries(pins).map(([name, pin]): [string, IssuerPin] => [name, readPin(pin)])),
    dailyBytesPerSubject:
      rest.dailyBytesPerSubject ?? (rest.dailyBytes === null ? null : rest.dailyBytes / SUBJECTS_PART),
  };
  return { issuer };
}

function readPin(pin: PinnedValue | { readonly claim: string | string[] }): IssuerPin {
  return isClaimPin(pin) ? { claim: typeof pin.claim === 'string' ? pin.claim.split('.') : pin.claim } : pin;
}

function faultOf({ issues }: z.ZodError): string {
  return issues.map((issue) => `${issue.path.join('.') || 'entry'}: ${issue.message}`).join('; ');
}

/**
 * Reads one entry, or says what is wrong with it (never with a value of it).
 *
 * @param folder of the keys file: files that it names are relative to it
 */
export function readEntry(
  written: unknown,
  folder = '.',
): { readonly entry: KeyEntry } | { readonly issuer: IssuerEntry } | { readonly fault: string } {
  if (typeof written === 'object' && written !== null && 'tokens' in written) return readIssuer(written, folder);
  const read = entrySchema.safeParse(written);
  if (!read.success) return { fault: faultOf(read.error) };
  const {
    hash,
    pins,
    name,
    endpoints,
    redact,
    allowSql,
    export: mayExport,
    rateLimit,
    dailyBytes,
    expires,
    ingest,
    project,
    admin,
  } = read.data;
  const key = {
    name,
    endpoints,
    pins: new Map<string, PinnedValue>(Object.entries(pins)),
    redact,
    allowSql,
    export: mayExport,
    rateLimit,
    dailyBytes,
    expires,
    ...(project === null ? {} : { project }),
    ...(admin ? { admin } : {}),
  };
  return { entry: { key, hash: Buffer.from(hash, 'hex'), ingest } };
}

/** The name of an entry, faulty or not; null: it has none. */
export function nameOfEntry(written: unknown): string | null {
  if (typeof written !== 'object' || written === null || !('name' in written)) return null;
  return typeof written.name === 'string' ? written.name : null;
}
