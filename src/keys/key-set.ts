/** The public keys of an issuer (RFC 7517), or its secrets: fetched or read, and kept up to date (docs/keys.md). */
import { readFile } from 'node:fs/promises';

import type { CryptoKey, JWK } from 'jose' with { 'resolution-mode': 'import' };

import { ServiceError } from '../errors';
import { fingerprintOf, readBounded } from '@logquay/duckdb-engine/files';

/** A key, or the bytes of a secret. */
export type VerificationKey = CryptoKey | Uint8Array;

/** What signatures of one issuer are verified with. */
export interface KeySource {
  readonly algorithms: readonly string[];
  /** Whether a key that was found is still one of the issuer's: what it has signed is void otherwise. */
  has(key: VerificationKey): boolean;
  /**
   * Keys that may have signed a token, by its header; none: no key of the issuer has.
   *
   * @throws ServiceError backendUnavailable while the keys are not known
   */
  keysFor(algorithm: string, kid: string | undefined): Promise<readonly VerificationKey[]>;
  /** Looks for changes of a file. */
  look(): Promise<void>;
  /** What the operator has to know; null: nothing. */
  readonly fault: string | null;
  close(): void;
}

/** Milliseconds. */
const SECOND = 1_000;
const MINUTE = 60 * SECOND;
/** Between two refreshes in the background. */
const REFRESH = { least: MINUTE, most: 10 * MINUTE };
/** Between two fetches for key ids that are not known, and after one that failed while no keys are known. */
const COOLDOWN = 30 * SECOND;
const RETRY = 2 * SECOND;
/** For which the last good set is used. */
const LONGEST_USE = 24 * 60 * MINUTE;
/** That one fetch may take. */
const PATIENCE = 2 * SECOND;
/** Bytes of a set. */
const LARGEST = 64 * 1024;

/** Kinds of public keys, and the algorithms of their signatures. */
const ALGORITHMS: Readonly<Record<string, readonly string[]>> = {
  RSA: ['RS256', 'PS256'],
  EC: ['ES256'],
  OKP: ['EdDSA', 'Ed25519'],
};
const ASYMMETRIC = Object.values(ALGORITHMS).flat();

interface KnownKey {
  readonly kid: string | undefined;
  readonly algorithm: string;
  readonly key: CryptoKey;
  /** All of it, as text: in the next set it is the same key. */
  readonly text: string;
}

interface KeySet {
  readonly text: string;
  readonly keys: readonly KnownKey[];
  /** Milliseconds since the epoch. */
  readonly loaded: number;
}

/** How a set is had. */
export interface KeySetOptions {
  /** An http or https URL, or the path of a file. */
  readonly from: string;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** A set of public keys under a URL or in a file. */
export class PublicKeys implements KeySource {
  readonly algorithms = ASYMMETRIC;
  #set: KeySet | null = null;
  #loading: Promise<void> | null = null;
  #timer: NodeJS.Timeout | null = null;
  /** When the last load began. */
  #asked = -Infinity;
  #failure: string | null = null;
  #fingerprint: string | null = null;
  #closed = false;

  constructor(private readonly options: KeySetOptions) {}

  has(key: VerificationKey): boolean {
    return this.#current()?.keys.some((one) => one.key === key) ?? false;
  }

  get fault(): string | null {
    if (this.#failure === null) return null;
    const state = this.#current() === null ? 'its tokens are refused' : 'the last good ones are used, for 24 hours';
    return `The keys ${this.options.from} cannot be had (${this.#failure}); ${state}.`;
  }

  async keysFor(algorithm: string, kid: string | undefined): Promise<readonly VerificationKey[]> {
    if (this.#current() === null && this.#mayAsk(RETRY)) await this.#load();
    let set = this.#current() ?? this.#unknown();
    if (kid !== undefined && this.#isUrl && !set.keys.some((one) => one.kid === kid) && this.#mayAsk(COOLDOWN)) {
      await this.#load();
      set = this.#current() ?? this.#unknown();
    }
    const fitting = set.keys.filter((one) => one.algorithm === algorithm);
    const named = kid === undefined ? fitting : fitting.filter((one) => one.kid === kid);
    // Without an id a token names no key: only where there is a single one.
    return kid === undefined && named.length > 1 ? [] : named.map(({ key }) => key);
  }

  async look(): Promise<void> {
    if (this.#isUrl) return;
    const fingerprint = await fingerprintOf(this.options.from, true);
    if (fingerprint === this.#fingerprint) return;
    await this.#load();
    this.#fingerprint = fingerprint;
  }

  close(): void {
    this.#closed = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
  }

  get #isUrl(): boolean {
    return /^https?:/i.test(this.options.from);
  }

  #current(): KeySet | null {
    const { now } = this.options;
    return this.#set !== null && now() - this.#set.loaded < LONGEST_USE ? this.#set : null;
  }

  #unknown(): never {
    throw new ServiceError('backendUnavailable', 'Tokens cannot be verified at the moment.', { retryAfter: 5 });
  }

  #mayAsk(pause: number): boolean {
    return this.#loading !== null || this.options.now() - this.#asked >= pause;
  }

  /** One load at a time; never rejects. */
  #load(): Promise<void> {
    if (this.#loading !== null) return this.#loading;
    this.#asked = this.options.now();
    this.#loading = this.#read()
      .catch((error: unknown) => {
        this.#failure = error instanceof KeySetError ? error.message : 'it does not answer';
        return REFRESH.least;
      })
      .then((pause) => {
        this.#loading = null;
        if (this.#isUrl) this.#refreshAfter(pause);
      });
    return this.#loading;
  }

  /** @returns milliseconds until the next refresh */
  async #read(): Promise<number> {
    const { text, maxAge } = this.#isUrl ? await fetched(this.options.from) : await fromFile(this.options.from);
    const before = this.#set;
    const keys = text === before?.text ? before.keys : await readKeys(text, before?.keys ?? []);
    this.#set = { text, keys, loaded: this.options.now() };
    this.#failure = null;
    return Math.min(REFRESH.most, Math.max(REFRESH.least, maxAge));
  }

  #refreshAfter(pause: number): void {
    if (this.#closed) return;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#load(), pause);
    this.#timer.unref();
  }
}

/** The set cannot be used; the message holds nothing of it. */
class KeySetError extends Error {}

interface LoadedText {
  readonly text: string;
  /** Milliseconds for which its server says that it is fresh. */
  readonly maxAge: number;
}

async function fetched(url: string): Promise<LoadedText> {
  const response = await fetch(url, {
    headers: { Accept: 'application/json' },
    redirect: 'error',
    signal: AbortSignal.timeout(PATIENCE),
  });
  if (!response.ok) throw new KeySetError(`HTTP ${String(response.status)}`);
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  // Its type knows nothing of what a body's chunks are.
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    bytes += chunk.length;
    if (bytes > LARGEST) throw new KeySetError(`more than ${String(LARGEST)} bytes`);
    chunks.push(chunk);
  }
  const [, seconds = '600'] = /\bmax-age=(\d{1,9})/i.exec(response.headers.get('cache-control') ?? '') ?? [];
  return { text: Buffer.concat(chunks).toString(), maxAge: Number(seconds) * SECOND };
}

async function fromFile(file: string): Promise<LoadedText> {
  const bytes = await readBounded(file, LARGEST).catch((error: unknown) => {
    throw new KeySetError('it cannot be read', { cause: error });
  });
  return { text: bytes.toString(), maxAge: REFRESH.most };
}

/** @param before keys that are taken over as they are @throws KeySetError */
async function readKeys(text: string, before: readonly KnownKey[]): Promise<readonly KnownKey[]> {
  const { importJWK } = await import('jose');
  let written: unknown;
  try {
    written = (JSON.parse(text) as { keys?: unknown } | null)?.keys;
  } catch {
    throw new KeySetError('it is no JSON');
  }
  if (!Array.isArray(written)) throw new KeySetError('it has no keys');
  const keys: KnownKey[] = [];
  for (const jwk of written as readonly JWK[]) {
    for (const algorithm of algorithmsOf(jwk)) {
      // Public members alone, whatever else an issuer publishes.
      const { kty, n, e, crv, x, y } = jwk;
      const kid = typeof jwk.kid === 'string' ? jwk.kid : undefined;
      const ownText = JSON.stringify({ kid, algorithm, kty, n, e, crv, x, y });
      const same = before.find((one) => one.text === ownText);
      const key = same?.key ?? (await importJWK({ kty, n, e, crv, x, y } as JWK, algorithm).catch(() => null));
      if (key !== null && !(key instanceof Uint8Array)) keys.push({ kid, algorithm, key, text: ownText });
    }
  }
  const ids = keys.flatMap(({ kid, algorithm }) => (kid === undefined ? [] : JSON.stringify([kid, algorithm])));
  if (new Set(ids).size < ids.length) throw new KeySetError('two of its keys have one id');
  return keys;
}

/** Those that a key may sign with; none: it is of no use here. */
function algorithmsOf(jwk: JWK): readonly string[] {
  const { kty, use, crv, n, alg, key_ops: operations } = jwk ?? {};
  if (typeof kty !== 'string' || !Object.hasOwn(ALGORITHMS, kty) || use === 'enc') return [];
  if (Array.isArray(operations) && !operations.includes('verify')) return [];
  if (kty === 'RSA' && Buffer.from(n ?? '', 'base64url').length < 256) return [];
  if ((kty === 'EC' && crv !== 'P-256') || (kty === 'OKP' && crv !== 'Ed25519')) return [];
  const possible = ALGORITHMS[kty] ?? [];
  return alg === undefined ? possible : possible.filter((one) => one === alg);
}

/** Bytes of a secret for HS256. */
const SHORTEST_SECRET = 32;

/** Secrets in files, for HS256: one, or two while they are changed. */
export class Secrets implements KeySource {
  readonly algorithms = ['HS256'];
  #secrets: readonly Uint8Array[] = [];
  #fingerprints = '';
  #failure: string | null = null;

  constructor(private readonly files: readonly string[]) {}

  has(key: VerificationKey): boolean {
    return this.#secrets.some((secret) => secret === key);
  }

  get fault(): string | null {
    return this.#failure;
  }

  async keysFor(): Promise<readonly VerificationKey[]> {
    if (this.#secrets.length > 0) return this.#secrets;
    throw new ServiceError('backendUnavailable', 'Tokens cannot be verified at the moment.', { retryAfter: 5 });
  }

  async look(): Promise<void> {
    const fingerprints = (await Promise.all(this.files.map((file) => fingerprintOf(file, true)))).join();
    if (fingerprints === this.#fingerprints) return;
    this.#fingerprints = fingerprints;
    const read = await Promise.all(this.files.map((file) => secretIn(file)));
    const before = this.#secrets;
    this.#secrets = read
      .filter((secret) => secret !== null)
      .map((secret) => before.find((one) => Buffer.compare(one, secret) === 0) ?? secret);
    const bad = this.files.filter((_, i) => read[i] === null);
    this.#failure =
      bad.length === 0
        ? null
        : `${bad.join(', ')} cannot be read, or holds less than ${String(SHORTEST_SECRET)} bytes.`;
  }

  close(): void {
    // It holds nothing open.
  }
}

/** The bytes of a file without one final line break; null: it cannot be read, or is too short. */
export async function secretIn(file: string): Promise<Uint8Array | null> {
  const bytes = await readFile(file).catch(() => null);
  if (bytes === null) return null;
  const end = bytes.at(-1) === 0x0a ? (bytes.at(-2) === 0x0d ? -2 : -1) : bytes.length;
  const secret = bytes.subarray(0, end);
  return secret.length < SHORTEST_SECRET || secret.length > LARGEST ? null : secret;
}
