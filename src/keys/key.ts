import { ServiceError } from '../errors';
import { createHash, hash, randomBytes, timingSafeEqual } from 'node:crypto';

/** Milliseconds between two looks whether the key of a long answer, and its endpoint, are what they were. */
export const LOOK_AGAIN = 500;

/**
 * The key of a long answer as it is now.
 *
 * @throws ServiceError unauthenticated: it is not valid any more, or may do something else
 */
export function currentKey(authenticate: (before: Key) => Key, before: Key): Key {
  const now = authenticate(before);
  if (now === before || rightsOf(now) === rightsOf(before)) return now;
  throw new ServiceError('unauthenticated', 'The key may do something else now.');
}

function rightsOf({ name, endpoints, pins, redact, allowSql, export: mayExport, expires }: Key): string {
  return JSON.stringify([name, endpoints, [...pins].sort(), redact, allowSql, mayExport, expires]);
}

/** Parameters of every endpoint (docs/endpoints.md): no file declares them, and no key pins them. */
export const RESERVED = ['sql', 'lql', 'dry_run'] as const;

export function isReservedParameter(name: string): boolean {
  const folded = name.toLowerCase();
  return RESERVED.some((reserved) => reserved === folded);
}

/** A claim of a token that fills a pin. Nothing is converted: a parameter takes it by its kind in JSON (docs/keys.md). */
export class ClaimedValue {
  private constructor(
    readonly kind: 'string' | 'number' | 'boolean',
    readonly list: boolean,
    readonly texts: readonly string[],
  ) {}

  /** null: it is empty, of another kind, or too long. */
  static of(value: unknown): ClaimedValue | null {
    const list = Array.isArray(value);
    const values: readonly unknown[] = list ? value : [value];
    const [first] = values;
    const kind = typeof first;
    if (kind !== 'string' && kind !== 'number' && kind !== 'boolean') return null;
    if (values.length > MOST_VALUES || !values.every((one) => typeof one === kind && isUsable(one))) return null;
    return new ClaimedValue(kind, list, values.map(String));
  }
}

const MOST_VALUES = 1_000;
const LONGEST = 4_096;

function isUsable(value: unknown): boolean {
  if (typeof value === 'string') return value !== '' && value.length <= LONGEST;
  return typeof value !== 'number' || Number.isFinite(value);
}

/** What a key fixes: a text, or of a list parameter its texts; or what a claim of a token says. */
export type PinnedValue = string | readonly string[] | ClaimedValue;

/** What an authenticated caller may do (docs/keys.md). The secret itself is never kept. */
export interface Key {
  /** Who is counted and billed: of a token ENTRY/ACCOUNT, an account for each subject. */
  readonly name: string;
  /** `*`: every endpoint. */
  readonly endpoints: '*' | readonly string[];
  /** Parameters whose value the key fixes, by declared name. */
  readonly pins: ReadonlyMap<string, PinnedValue>;
  /** Redaction is forced on. */
  readonly redact: boolean;
  /** May send sql and lql although redaction is forced. */
  readonly allowSql: boolean;
  /** May export results beyond max_rows. */
  readonly export: boolean;
  /** Requests per second; null: the configuration's default. */
  readonly rateLimit: number | null;
  /** Bytes billed per UTC day; null: no budget. */
  readonly dailyBytes: bigint | null;
  /** Milliseconds since the epoch; null: never. */
  readonly expires: number | null;
  /** May send no sql and lql at all; absent: it may. */
  readonly refusesSql?: boolean;
  /** May see who used how much: the operator's; absent: it may not. */
  readonly admin?: boolean;
  /** Of a key that sends logs: the project of all its events, whatever they say; absent: they say it. */
  readonly project?: string;
  /** Whoever runs the service: may run what is in no file; absent: may not, unless its list names it. */
  readonly operator?: boolean;
  /** Of a token: what its issuer may have billed per UTC day, all tokens together, and the rate that its entry allows each user. */
  readonly issuer?: { readonly name: string; readonly dailyBytes: bigint | null; readonly rateLimit: number | null };
  /** Of a token that a proxy adds: a browser does not know whose answer it keeps; absent: it does. */
  readonly isAmbient?: boolean;
}

/** Every value that was sent for a header, in order; the name in lower case. Empty: the header is absent. */
export type HeaderValues = (name: string) => readonly string[];

const HINT = { hint: 'Send the key in the X-API-KEY header.' };

/**
 * The key that a request presents (docs/keys.md): `X-API-KEY` alone where that header is there at all, otherwise
 * `Authorization: Bearer`. Throws `unauthenticated` for a key that is missing, empty, repeated or malformed.
 */
export function presentedKey(header: HeaderValues): string {
  const apiKey = header('x-api-key');
  if (apiKey.length > 0) return single(apiKey, 'X-API-KEY');
  const authorization = header('authorization');
  if (authorization.length === 0) {
    throw new ServiceError('unauthenticated', 'This request needs a key.', HINT);
  }
  const match = /^Bearer[ \t]+(\S+)$/i.exec(single(authorization, 'Authorization'));
  if (match?.[1] === undefined) {
    throw new ServiceError('unauthenticated', 'The Authorization header must be "Bearer" and a key.', HINT);
  }
  return match[1];
}

/** Whether a request presents a key at all, well-formed or not. */
export function presentsKey(header: HeaderValues): boolean {
  return header('x-api-key').length > 0 || header('authorization').length > 0;
}

function single(values: readonly string[], header: string): string {
  const value = (values[0] ?? '').trim();
  if (values.length > 1) throw new ServiceError('unauthenticated', `The ${header} header is repeated.`, HINT);
  if (value === '') throw new ServiceError('unauthenticated', `The ${header} header is empty.`, HINT);
  return value;
}

/** A new key: 256 random bits behind a prefix by which secret scanners and people know it. */
export function newSecretKey(): string {
  return `lq_${randomBytes(32).toString('base64url')}`;
}

/** What is kept of a key. Keys are random and long, so one round of SHA-256 is as strong as any slower hash. */
export function hashOf(secret: string): Buffer {
  // In one call where Node has it (20.12): every request has its key hashed.
  if (typeof hash === 'function') return hash('sha256', secret, 'buffer');
  return createHash('sha256').update(secret, 'utf8').digest();
}

/** Compares two hashes in a time that does not tell where they differ. */
export function sameHash(a: Buffer, b: Buffer): boolean {
  return timingSafeEqual(a, b);
}
