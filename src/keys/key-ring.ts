import type { Logger } from 'pino';

import type { Secret } from '../config';
import { ServiceError } from '../errors';
import { systemCode, fingerprintOf } from '@logquay/duckdb-engine/files';
import { hashOf, type HeaderValues, type Key, presentedKey, presentsKey, sameHash } from './key';
import type { ReportFault } from '../health/health';

import { API_KEY_NAME, type KeyEntry, PUBLIC_TOKEN_NAME, START_KEY_NAME } from './entry';
import { TokenRefused } from './claims';
import { Tokens } from './tokens';
import { type KeysFile, KeysFileError, readKeysFile, ensureStartKey, hasStartKey, readStartKey } from './keys-file';

export interface KeyRingOptions {
  /** One key for everything, from the environment. */
  readonly apiKey: Secret | null;
  /** One key that may only send logs, from the environment; absent or null: there is none. */
  readonly ingestKey?: Secret | null;
  readonly keysFile: string;
  /** Whether the file was asked for by name: it must then be there. */
  readonly keysFileGiven: boolean;
  /** Where the embedded engine keeps the key that it makes; null on an engine that makes none. */
  readonly startKeyFile: string | null;
  readonly log: Pick<Logger, 'info' | 'warn'>;
  /** Called when the keys file becomes unreadable while the service runs, and when it is readable again. */
  readonly report?: ReportFault;
  /** Milliseconds since the epoch, for expiry; the real time whatever CLOCK says. */
  readonly now?: () => number;
  /** Milliseconds between two looks at the keys file. */
  readonly pollEvery?: number;
}

/** The key that was made at this or an earlier start, for the curl line printed at start. */
export interface StartKey {
  readonly secret: string;
  readonly file: string;
  readonly created: boolean;
}

/** Of what is found by other means. */
const NO_HASH = Buffer.alloc(0);

/** Nobody could ever be let in. */
export class NoKeyError extends Error {
  override readonly name = 'NoKeyError';
}

/** Faulty entries that are reported at a time; the log has all of them. */
const MOST_REPORTED = 20;

/** Who may call, as the keys file says now. */
export class KeyRing {
  private entries: readonly KeyEntry[];
  private fingerprint: string | null = null;
  /** Why the file cannot be read; empty: it can. */
  private complaint = '';
  /** Which of its entries do not count; null: all do. */
  private leftOut: string | null = null;
  private timer: NodeJS.Timeout | null = null;
  private closed = false;

  private readonly tokens: Tokens;

  private constructor(
    private readonly options: KeyRingOptions,
    /** Outside the file: API_KEY and the start key. */
    private builtIn: readonly KeyEntry[],
    /** null: there was none at the start. */
    readonly startKey: StartKey | null,
  ) {
    this.entries = builtIn;
    const { report = () => undefined, now = Date.now } = options;
    this.tokens = new Tokens({ report, now });
  }

  /** See `openKeyRing`. */
  static async open(options: KeyRingOptions): Promise<KeyRing> {
    const { apiKey, ingestKey = null, keysFile, keysFileGiven, startKeyFile, log } = options;
    const fingerprint = await fingerprintOf(keysFile, false);
    let file: KeysFile | null = null;
    try {
      file = await readKeysFile(keysFile);
    } catch (error) {
      if (!(error instanceof KeysFileError) || !error.missing || keysFileGiven) throw error;
    }
    let startKey: StartKey | null = null;
    // What is left of the default file when its last key is revoked is no choice of keys: nobody could get in.
    const readers =
      file === null
        ? 0
        : file.entries.filter(({ ingest }) => !ingest).length + file.issuers.length + file.faults.length;
    const chosen = file !== null && (keysFileGiven || readers > 0);
    const others = apiKey !== null || chosen;
    if (!others && (file === null || startKeyFile !== null)) {
      if (startKeyFile === null) {
        throw new NoKeyError('There is no key: set API_KEY, or create one with "npm run keys -- create --name NAME".');
      }
      startKey = { ...(await ensureStartKey(startKeyFile)), file: startKeyFile };
    } else if (startKeyFile !== null) {
      const secret = await readStartKey(startKeyFile);
      if (secret !== null) {
        startKey = { secret, created: false, file: startKeyFile };
        log.info(
          { file: startKeyFile },
          'the start key is valid beside the others until "logquay keys revoke start-key"',
        );
      }
    }
    const builtIn = [
      ...(apiKey === null ? [] : [unrestricted(API_KEY_NAME, apiKey.reveal())]),
      ...(startKey === null ? [] : [unrestricted(START_KEY_NAME, startKey.secret)]),
      ...(ingestKey === null ? [] : [{ ...unrestricted(PUBLIC_TOKEN_NAME, ingestKey.reveal()), ingest: true }]),
    ];
    const ring = new KeyRing(options, builtIn, startKey);
    if (file !== null) ring.takeUp(file, fingerprint);
    if (ring.entries.length === 0 && file?.issuers.length === 0)
      log.warn({ file: keysFile }, 'the keys file holds no usable key');
    await ring.tokens.look();
    ring.watch();
    return ring;
  }

  /** Verifies the token of a request, for `authenticate`. @returns null: there is nothing to wait for. It never rejects */
  admit(header: HeaderValues): Promise<void> | null {
    try {
      // A key has not the form of a token, mostly: it need not be looked up twice.
      return this.tokens.presents(header) && this.keyEntry(header) === null ? this.tokens.admit(header) : null;
    } catch (error) {
      // `authenticate` says what is wrong with its headers.
      if (error instanceof ServiceError) return null;
      throw error;
    }
  }

  /**
   * Who calls. Throws `unauthenticated` without saying which keys there are.
   *
   * @param before of a request that goes on: the key that it has begun with, and whether its token must not have expired meanwhile
   * @throws ServiceError accessDenied for a key that may only send logs; backendUnavailable where its token cannot be verified
   */
  authenticate(header: HeaderValues, before?: { readonly key: Key; readonly inTime: boolean }): Key {
    if (before?.key.issuer !== undefined) {
      if (this.tokens.isCurrent(before.key, before.inTime)) return before.key;
      throw new TokenRefused(before.key, 'it has expired, or its issuer or key is gone');
    }
    const { key, ingest } = this.identify(header);
    if (ingest) throw new ServiceError('accessDenied', 'This key may send logs, and nothing else.');
    return key;
  }

  /** Who sends logs to be stored. @throws ServiceError unauthenticated, accessDenied for a key that reads */
  authenticateIngest(header: HeaderValues): Key {
    const { key, ingest } = this.identify(header);
    if (ingest) return key;
    throw new ServiceError('accessDenied', 'This key may not send logs.', {
      hint: 'Create one for that with "keys create --ingest".',
    });
  }

  /**
   * The presented key is hashed and compared with every key there is, found or not: the time tells neither whether nor
   * which one matched.
   */
  private identify(header: HeaderValues): KeyEntry {
    const found = this.keyEntry(header);
    if (found === null) {
      const key = this.tokens.find(header);
      if (key !== null) return { key, hash: NO_HASH, ingest: false };
      presentedKey(header);
      throw new ServiceError('unauthenticated', 'The key is not valid.');
    }
    if (isExpired(found.key, this.now())) throw new ServiceError('unauthenticated', 'The key has expired.');
    return found;
  }

  /** null: it presents none of these. */
  private keyEntry(header: HeaderValues): KeyEntry | null {
    if (!presentsKey(header)) return null;
    const hash = hashOf(presentedKey(header));
    let found: KeyEntry | null = null;
    for (const entry of this.entries) {
      if (sameHash(entry.hash, hash)) found ??= entry;
    }
    return found;
  }

  /** A key of the file by its name, for work done later on its account; null: removed or expired. */
  find(name: string): Key | null {
    const key = this.#named(name);
    return key === null || isExpired(key, this.now()) ? null : key;
  }

  /** What a key, or the account of a token, may have billed, expired or not; null: it is gone. */
  budgetOf(name: string): Pick<Key, 'name' | 'dailyBytes' | 'issuer'> | null {
    return this.#named(name) ?? this.tokens.budgetOf(name);
  }

  #named(name: string): Key | null {
    return this.entries.find((entry) => entry.key.name === name && !entry.ingest)?.key ?? null;
  }

  /** Stops watching the keys file. */
  close(): void {
    this.closed = true;
    if (this.timer !== null) clearTimeout(this.timer);
    this.tokens.close();
  }

  private now(): number {
    return (this.options.now ?? Date.now)();
  }

  private watch(): void {
    if (this.closed) return;
    this.timer = setTimeout(() => {
      void this.look().finally(() => {
        this.watch();
      });
    }, this.options.pollEvery ?? 500);
    this.timer.unref();
  }

  private async look(): Promise<void> {
    const { keysFile, log } = this.options;
    await this.lookForStartKey();
    await this.tokens.look();
    try {
      const fingerprint = await fingerprintOf(keysFile, false);
      if (fingerprint === this.fingerprint) {
        this.recover();
        return;
      }
      const file = await readKeysFile(keysFile);
      if (this.closed) return;
      this.takeUp(file, fingerprint);
      log.info({ file: keysFile, keys: this.entries.length - this.builtIn.length }, 'the keys file was taken up');
    } catch (error) {
      const complaint = complaintOf(keysFile, error);
      if (complaint === this.complaint || this.closed) return;
      this.complaint = complaint;
      log.warn(complaint);
      this.options.report?.('keys_file', complaint);
    }
  }

  /** A start key whose file is gone was revoked. */
  private async lookForStartKey(): Promise<void> {
    const valid = this.builtIn.some(({ key }) => key.name === START_KEY_NAME);
    if (!valid || this.startKey === null || (await hasStartKey(this.startKey.file)) || this.closed) return;
    const isOther = ({ key }: KeyEntry): boolean => key.name !== START_KEY_NAME;
    this.builtIn = this.builtIn.filter(isOther);
    this.entries = this.entries.filter(isOther);
    this.options.log.info({ file: this.startKey.file }, 'the start key was revoked');
  }

  /** The file can be read. */
  private recover(): void {
    if (this.complaint === '') return;
    this.complaint = '';
    this.options.log.info({ file: this.options.keysFile }, 'the keys file can be read again');
    this.options.report?.('keys_file', this.leftOut);
  }

  private takeUp({ entries, issuers, faults }: KeysFile, fingerprint: string | null): void {
    this.entries = [...this.builtIn, ...entries];
    this.tokens.set(issuers);
    this.fingerprint = fingerprint;
    this.leftOut = faults.length === 0 ? null : `Keys are left out: ${faults.slice(0, MOST_REPORTED).join('; ')}`;
    this.recover();
    this.options.report?.('keys_file', this.leftOut);
    for (const fault of faults) this.options.log.warn({ file: this.options.keysFile }, `a key is left out: ${fault}`);
  }
}

/**
 * Opens the keys of a service (docs/keys.md) and keeps up with the keys file: a change counts within a second.
 *
 * Rejects with `KeysFileError` for a keys file that cannot be read (or is missing though asked for by name) and with
 * `NoKeyError` when there is neither API_KEY nor a keys file and no key may be made. From then on a file that cannot be
 * read, or is gone, is logged once and reported until it can be read again, and the keys stay as they were.
 */
export function openKeyRing(options: KeyRingOptions): Promise<KeyRing> {
  return KeyRing.open(options);
}

/** What an operator has to know: a key that was revoked in a file nobody can read goes on working. */
function complaintOf(file: string, error: unknown): string {
  const code = systemCode(error);
  const what =
    error instanceof KeysFileError
      ? error.message
      : `The keys file ${file} cannot be read: ${code ?? 'unknown failure'}`;
  return `${what}; the keys stay as they were: what was revoked since still works`;
}

function unrestricted(name: string, secret: string): KeyEntry {
  const key: Key = {
    name,
    endpoints: '*',
    pins: new Map(),
    redact: false,
    allowSql: true,
    export: true,
    rateLimit: null,
    dailyBytes: null,
    expires: null,
    admin: true,
    operator: true,
  };
  return { key, hash: hashOf(secret), ingest: false };
}

function isExpired({ expires }: Key, now: number): boolean {
  return expires !== null && now >= expires;
}
