import { z } from 'zod';

import { secondsOf } from '../time/calendar';
import { readInstant } from '../time/instant';
import type { Key, PinnedValue } from './key';

const INSTANT = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d{1,6})?)?(Z|[+-]\d{2}:\d{2})?)?$/;
const PERIOD = /^([1-9]\d{0,4})([mhdw])$/;
const UNITS = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };

/** Milliseconds since the epoch of an ISO 8601 date or instant, to the second, UTC without a zone; null: not valid. */
export function readExpiry(text: string): number | null {
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
const RESERVED_PARAMETERS = ['sql', 'lql', 'dry_run'];
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
const withoutProto = z.custom<Record<string, string | string[]>>(
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

const pinsRecord = z.record(
  z
    .string()
    .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, { error: 'a pin names a parameter' })
    .refine((name) => !RESERVED_PARAMETERS.includes(name), { error: 'a reserved parameter cannot be pinned' }),
  pinnedSchema,
  {
    error: (issue) =>
      issue.code === 'invalid_key'
        ? issue.issues[0]?.message
        : 'pins must be a map from parameters to texts, or to lists of texts',
  },
);

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
  /** When it was created; for people. */
  created: z.string().optional(),
});

/** What only a key that reads can be restricted to. */
const READING = ['endpoints', 'pins', 'redact', 'allowSql', 'dailyBytes'] as const;

const entrySchema = fieldsSchema.refine(
  (entry) => !entry.ingest || READING.every((field) => JSON.stringify(entry[field]) === UNRESTRICTED[field]),
  { error: `a key with ingest may not have ${READING.join(', ')}: it reads nothing` },
);

const UNRESTRICTED = { endpoints: '"*"', pins: '{}', redact: 'false', allowSql: 'false', dailyBytes: 'null' };

/** An entry as it stands in the file. */
export type WrittenEntry = z.input<typeof entrySchema>;

export interface KeyEntry {
  readonly key: Key;
  readonly hash: Buffer;
  /** Whether it may send logs to be stored, and nothing else; otherwise it may not. */
  readonly ingest: boolean;
}

/** Reads one entry, or says what is wrong with it (never with a value of it). */
export function readEntry(written: unknown): { readonly entry: KeyEntry } | { readonly fault: string } {
  const read = entrySchema.safeParse(written);
  if (!read.success) {
    return {
      fault: read.error.issues.map((issue) => `${issue.path.join('.') || 'entry'}: ${issue.message}`).join('; '),
    };
  }
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
  };
  return { entry: { key, hash: Buffer.from(hash, 'hex'), ingest } };
}

/** The name of an entry, faulty or not; null: it has none. */
export function nameOfEntry(written: unknown): string | null {
  if (typeof written !== 'object' || written === null || !('name' in written)) return null;
  return typeof written.name === 'string' ? written.name : null;
}
