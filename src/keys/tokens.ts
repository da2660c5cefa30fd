/** Tokens that others sign for their users (RFC 7519): each is verified once, and does at most what the entry of its issuer says. */
import { createHash } from 'node:crypto';

import { groupOf } from '@logquay/duckdb-engine/concurrency';
import { LRUCache } from 'lru-cache';

import { ServiceError } from '../errors';
import type { ReportFault } from '../health/health';
import { scopeOf, TokenRefused } from './claims';
import type { IssuerEntry } from './entry';
import { hashOf, type HeaderValues, type Key, presentedKey, presentsKey } from './key';
import { type KeySource, PublicKeys, Secrets, type VerificationKey } from './key-set';

/** Tokens that are remembered, accounts of an issuer, and refusals. */
const MOST_TOKENS = 10_000;
const MOST_ACCOUNTS = 10_000;
const MOST_REFUSED = 1_000;
/** Milliseconds after which an account without requests makes room for another. */
const FORGOTTEN = 24 * 3_600_000;
/** Milliseconds for which a refusal stands. */
const REFUSED_FOR = 1_000;
/** Seconds by which clocks may differ. */
const SKEW = 30;
const LONGEST_TOKEN = 8_192;
const LONGEST_SUBJECT = 255;
/** Verifications of one token while its issuer's keys are changing. */
const MOST_TRIES = 3;
const JWS = /^[\w-]+\.[\w-]+\.[\w-]+$/;

interface Issuer {
  readonly entry: IssuerEntry;
  /** The entry, as text. */
  readonly text: string;
  readonly source: KeySource;
}

/** A token as a request presents it. */
interface Presented {
  readonly text: string;
  /** The one header that it came in; null: that of a key. */
  readonly header: string | null;
}

/** What is known of a token. */
type Known = { readonly key: Key } | Refused;

interface Refused {
  readonly refusal: ServiceError;
  /** Milliseconds since the epoch. */
  readonly until: number;
}

export interface TokensOptions {
  readonly report: ReportFault;
  /** Milliseconds since the epoch: the real time. */
  readonly now: () => number;
}

/** The issuers of the keys file, and the tokens of theirs that have been verified. */
export class Tokens {
  #issuers: readonly Issuer[] = [];
  /** As it was reported last. */
  #fault: string | null = null;
  readonly #known = new LRUCache<string, Key>({ max: MOST_TOKENS });
  /** Apart from those: anybody can make as many of these as it likes. */
  readonly #refused = new LRUCache<string, Refused>({ max: MOST_REFUSED });
  readonly #verifying = new Map<string, Promise<void>>();
  /** When each account was used last, by the name of the entry: many users of one issuer cost another none of its accounts. */
  readonly #accounts = new Map<string, Map<string, number>>();
  /** Of each key of a token: what it rests on. */
  readonly #origins = new WeakMap<Key, { readonly issuer: Issuer; readonly signer: VerificationKey }>();

  constructor(private readonly options: TokensOptions) {}

  /** Takes up the entries of the keys file: one that has not changed goes on as it is. */
  set(entries: readonly IssuerEntry[]): void {
    const before = this.#issuers;
    // What is known of keys outlives a change of the entry.
    const sources = new Map(before.map(({ entry, source }) => [JSON.stringify(entry.keys), source]));
    this.#issuers = entries.map((entry) => {
      const text = JSON.stringify(entry, (_, value: unknown) =>
        value instanceof Map ? [...(value as Map<string, unknown>)] : typeof value === 'bigint' ? String(value) : value,
      );
      const keys = JSON.stringify(entry.keys);
      const source = sources.get(keys) ?? sourceOf(entry, this.options.now);
      sources.set(keys, source);
      return before.find((one) => one.text === text) ?? { entry, text, source };
    });
    for (const { source } of before) if (!this.#issuers.some((one) => one.source === source)) source.close();
  }

  /** Looks for changes of files, and reports what is wrong. */
  async look(): Promise<void> {
    if (this.#issuers.length === 0 && this.#fault === null) return;
    await Promise.all(this.#issuers.map(({ source }) => source.look().catch(() => undefined)));
    const faults = this.#issuers.flatMap(({ entry, source: { fault } }) =>
      fault === null ? [] : `${entry.name}: ${fault}`,
    );
    this.#fault = faults.length === 0 ? null : faults.join(' ');
    this.options.report('token_keys', this.#fault);
  }

  close(): void {
    for (const { source } of this.#issuers) source.close();
  }

  /** Whether a request brings something of the form of a token. */
  presents(header: HeaderValues): boolean {
    return this.#presented(header) !== null;
  }

  /**
   * Verifies the token of a request, if it brings one that is not known: `find` then has an answer.
   *
   * @returns null: there is nothing to wait for. It never rejects
   */
  admit(header: HeaderValues): Promise<void> | null {
    const token = this.#presented(header);
    if (token === null) return null;
    const name = nameOf(token);
    if (this.#usable(name) !== null) return null;
    const running = this.#verifying.get(name) ?? this.#begin(name, token);
    this.#verifying.set(name, running);
    return running;
  }

  /**
   * The key of a request's token.
   *
   * @returns null: it brings no token of an issuer here
   * @throws ServiceError unauthenticated; backendUnavailable where the keys of its issuer are not known
   */
  find(header: HeaderValues): Key | null {
    const token = this.#presented(header);
    if (token === null) return null;
    const known = this.#usable(nameOf(token));
    if (known === null) throw new TokenRefused(null, 'it is not known yet');
    if ('refusal' in known) throw known.refusal;
    this.#accountsOf(groupOf(known.key.name)).set(known.key.name, this.options.now());
    return known.key;
  }

  /** What an account may have billed: its entry says so, whichever tokens of the account are valid. null: it is none of these. */
  budgetOf(name: string): Pick<Key, 'name' | 'dailyBytes' | 'issuer'> | null {
    const entry = this.#issuers.find((one) => one.entry.name === groupOf(name))?.entry;
    if (entry === undefined) return null;
    return { name, dailyBytes: entry.dailyBytesPerSubject, issuer: issuerOf(entry) };
  }

  /**
   * Whether what the key of a token rests on is as it was: its issuer's entry, and the keys.
   *
   * @param inTime whether it must not have expired either
   */
  isCurrent(key: Key, inTime: boolean): boolean {
    const origin = this.#origins.get(key);
    if (origin === undefined) return false;
    const { issuer, signer } = origin;
    if (!this.#issuers.includes(issuer) || !issuer.source.has(signer)) return false;
    return !inTime || (key.expires ?? 0) > this.options.now();
  }

  /** null: neither verified nor refused lately. */
  #usable(name: string): Known | null {
    const key = this.#known.get(name);
    if (key !== undefined && this.isCurrent(key, true)) return { key };
    const refused = this.#refused.get(name);
    return refused !== undefined && refused.until > this.options.now() ? refused : null;
  }

  /** The token that a request presents; null: none. */
  #presented(header: HeaderValues): Presented | null {
    if (this.#issuers.length === 0) return null;
    if (presentsKey(header)) {
      const text = textOf(() => presentedKey(header));
      return text === null || !this.#issuers.some(({ entry }) => entry.header === null) ? null : inHeader(null, text);
    }
    if (isOfOtherPage(header)) return null;
    for (const name of new Set(this.#issuers.flatMap(({ entry }) => entry.header ?? []))) {
      const [text, ...more] = header(name);
      const token = text === undefined || more.length > 0 ? null : inHeader(name, text);
      if (token !== null) return token;
    }
    return null;
  }

  async #begin(name: string, token: Presented): Promise<void> {
    // Keys or the keys file may change meanwhile: what was right before is looked at again.
    for (let tries = 0; tries < MOST_TRIES && this.#usable(name) === null; tries++) {
      const known = await this.#verify(token).catch((error: unknown) => {
        const refusal = error instanceof ServiceError ? error : new TokenRefused(null, String(error));
        return { refusal, until: this.options.now() + REFUSED_FOR };
      });
      if ('key' in known) this.#known.set(name, known.key);
      else this.#refused.set(name, known);
    }
    this.#verifying.delete(name);
  }

  /** @throws ServiceError */
  async #verify({ text, header }: Presented): Promise<Known> {
    const { decodeJwt, decodeProtectedHeader } = await import('jose');
    if (text.length > LONGEST_TOKEN) throw new TokenRefused(null, 'the token is too long');
    let claims: ReturnType<typeof decodeJwt>;
    let head: ReturnType<typeof decodeProtectedHeader>;
    try {
      claims = decodeJwt(text);
      head = decodeProtectedHeader(text);
    } catch {
      throw new TokenRefused(null, 'the token cannot be read');
    }
    const audiences: readonly unknown[] = [claims.aud].flat();
    const fitting = this.#issuers.filter(
      ({ entry }) => entry.header === header && entry.issuer === claims.iss && audiences.includes(entry.audience),
    );
    const [issuer] = fitting;
    if (issuer === undefined || fitting.length > 1)
      throw new TokenRefused(null, 'no entry has its issuer and audience, or two have');
    const { alg = '', kid } = head;
    if (!issuer.source.algorithms.includes(alg)) throw new TokenRefused(null, 'its algorithm is not one of its entry');
    if (kid !== undefined && typeof kid !== 'string') throw new TokenRefused(null, 'its key id is no text');
    const keys = await issuer.source.keysFor(alg, kid);
    const signer = await this.#signerOf(text, alg, keys, issuer.entry, claims.sub);
    const key = this.#keyOf(claims, issuer);
    this.#origins.set(key, { issuer, signer });
    return { key };
  }

  /** The key that has signed a token. @throws TokenRefused */
  async #signerOf(
    text: string,
    algorithm: string,
    keys: readonly VerificationKey[],
    entry: IssuerEntry,
    sub: unknown,
  ): Promise<VerificationKey> {
    const { errors, jwtVerify } = await import('jose');
    const { issuer, audience, maxAge } = entry;
    const options = {
      ...{ issuer, audience, algorithms: [algorithm], clockTolerance: SKEW, maxTokenAge: maxAge / 1000 },
      requiredClaims: ['exp', 'iat', 'sub'],
      currentDate: new Date(this.options.now()),
    };
    for (const key of keys) {
      try {
        await jwtVerify(text, key, options);
        return key;
      } catch (error) {
        if (error instanceof errors.JWTExpired || error instanceof errors.JWTClaimValidationFailed)
          throw new TokenRefused(this.#signedBy(entry, sub), error.message);
        if (!(error instanceof errors.JOSEError)) throw error;
      }
    }
    throw new TokenRefused(null, 'no key of its issuer has signed it');
  }

  /** @throws TokenRefused */
  #keyOf(claims: { readonly sub?: unknown; readonly exp?: unknown; readonly iat?: unknown }, issuer: Issuer): Key {
    const { entry } = issuer;
    const { name, redact, maxAge, notBefore, allowSql } = entry;
    const { sub, exp, iat } = claims;
    const signed = this.#signedBy(entry, sub);
    if (!isSubject(sub)) throw new TokenRefused(signed, 'it has no usable sub');
    const issued = Number(iat) * 1000;
    if (notBefore !== null && issued < notBefore) throw new TokenRefused(signed, 'it was issued before notBefore');
    const scope = scopeOf(claims, entry);
    if (typeof scope === 'string') throw new TokenRefused(signed, scope);
    const key: Key = Object.freeze({
      name: this.#accountOf(name, sub),
      ...scope,
      redact,
      allowSql: allowSql === true,
      refusesSql: allowSql === false,
      export: entry.export,
      dailyBytes: entry.dailyBytesPerSubject,
      expires: Math.min(Number(exp) * 1000, issued + maxAge) + SKEW * 1000,
      issuer: issuerOf(entry),
      isAmbient: entry.header !== null,
    });
    return key;
  }

  /** Whose rate a token counts in that is not taken: its user's, so that it costs no other user anything. */
  #signedBy({ name, rateLimit }: IssuerEntry, sub: unknown): TokenRefused['account'] {
    return { name: isSubject(sub) ? this.#accountOf(name, sub) : name, rateLimit };
  }

  /** The account of a subject; where there are too many, one that they share. */
  #accountOf(issuer: string, subject: string): string {
    const account = `${issuer}/${createHash('sha256').update(subject).digest('hex')}`;
    const now = this.options.now();
    const accounts = this.#accountsOf(issuer);
    if (!accounts.has(account) && accounts.size >= MOST_ACCOUNTS) {
      for (const [other, used] of accounts) if (used < now - FORGOTTEN) accounts.delete(other);
      if (accounts.size >= MOST_ACCOUNTS) return `${issuer}/others`;
    }
    accounts.set(account, now);
    return account;
  }

  #accountsOf(issuer: string): Map<string, number> {
    const accounts = this.#accounts.get(issuer) ?? new Map<string, number>();
    this.#accounts.set(issuer, accounts);
    return accounts;
  }
}

function issuerOf({ name, dailyBytes, rateLimit }: IssuerEntry): NonNullable<Key['issuer']> {
  return { name, dailyBytes, rateLimit };
}

function isSubject(sub: unknown): sub is string {
  return typeof sub === 'string' && sub !== '' && sub.length <= LONGEST_SUBJECT && !/\p{Surrogate}/u.test(sub);
}

function sourceOf({ keys }: IssuerEntry, now: () => number): KeySource {
  return 'jwks' in keys ? new PublicKeys({ from: keys.jwks, now }) : new Secrets(keys.secretFiles);
}

/**
 * Whether a page of another origin has the browser ask, other than by a link: a proxy adds the token of its user to what any page
 * asks for, such as an image. No such page could read the answer; it would cost the user.
 */
function isOfOtherPage(header: HeaderValues): boolean {
  const [site = 'none'] = header('sec-fetch-site');
  const isLink = header('sec-fetch-mode')[0] === 'navigate' && header('sec-fetch-dest')[0] === 'document';
  return site !== 'none' && site !== 'same-origin' && !isLink;
}

/** null: it is no token. */
function inHeader(header: string | null, text: string): Presented | null {
  return JWS.test(text) ? { text, header } : null;
}

/** What a token is remembered by: its header, and a hash of its text. */
function nameOf({ text, header }: Presented): string {
  return `${header ?? ''} ${hashOf(text).toString('latin1')}`;
}

/** null: it throws. */
function textOf(read: () => string): string | null {
  try {
    return read();
  } catch {
    return null;
  }
}
