import { access, constants, mkdir, statfs } from 'node:fs/promises';
import path from 'node:path';

import { ServiceError, type Log } from '@logquay/duckdb-engine/contract';
import { systemCode } from '@logquay/duckdb-engine/files';
import { DayFiles } from './day-files';
import { FolderLock } from './folder-lock';
import { type Intent, Journal, settleAppend } from './journal';
import { Manifest } from './manifest';
import { Retention } from './retention';
import { Writer } from './writer';

/** Where the collector's own books are: tables do not begin with a dot (docs/data.md). */
const FOLDER = '.collector';

/** Milliseconds between two passes over the daily files. */
const RETENTION_EVERY = 60_000;

export interface StoreOptions {
  readonly dataDir: string;
  /** Days; 0: for ever. */
  readonly retention: number;
  readonly log: Pick<Log, 'info' | 'warn'>;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** Creates the folder of the books. @throws Error where DATA_DIR or that folder cannot be written */
export async function prepareStore(dataDir: string): Promise<void> {
  await makeFolder(dataDir, {});
  // The mode is for this folder alone, not for those around it.
  await makeFolder(path.join(dataDir, FOLDER), { mode: 0o700 });
  for (const folder of [dataDir, path.join(dataDir, FOLDER)]) await access(folder, constants.W_OK | constants.X_OK);
}

async function makeFolder(folder: string, options: { readonly mode?: number }): Promise<void> {
  try {
    await mkdir(folder, { recursive: options.mode === undefined, ...options });
  } catch (error) {
    // A file of that name is a fault when something is to be created in it.
    if (systemCode(error) !== 'EEXIST') throw error;
  }
}

/** The daily files, what is known of batches, and who writes: open while this process holds the folder's lock. */
export class Store {
  readonly #ending = new AbortController();
  readonly #timer: NodeJS.Timeout;
  #pass: Promise<void>;

  private constructor(
    readonly writer: Writer,
    private readonly lock: FolderLock,
    private readonly files: DayFiles,
    private readonly journal: Journal,
    retention: Retention,
    log: StoreOptions['log'],
  ) {
    const run = (): Promise<void> =>
      retention.run(this.#ending.signal).catch((error: unknown) => {
        log.warn({ err: error }, 'collected files could not be looked through');
      });
    this.#pass = run();
    this.#timer = setInterval(() => {
      this.#pass = this.#pass.then(run);
    }, RETENTION_EVERY);
    this.#timer.unref();
  }

  /**
   * @param onLost called when another process has taken the folder
   * @returns null: another process has it
   */
  static async open({ dataDir, retention: days, log, now }: StoreOptions, onLost: () => void): Promise<Store | null> {
    const place = (name: string): string => path.join(dataDir, FOLDER, name);
    const lock = await FolderLock.acquire(place('lock'), onLost);
    if (lock === null) return null;
    try {
      const manifest = await Manifest.open(place('files.json'));
      const settle = async ({ file, ...part }: Intent): Promise<number | null> => {
        const rows = await settleAppend(path.join(dataDir, file), part);
        // Compressed since, or deleted as every file is one day: then it was complete.
        return rows === 'gone' ? null : rows;
      };
      const journal = await Journal.open(place('journal.ndjson'), settle, now);
      const files = new DayFiles(dataDir, manifest, now);
      const writer = new Writer(dataDir, files, journal);
      const closeBefore = (day: string): Promise<void> => writer.between(() => files.closeBefore(day));
      const settleAppends = (): Promise<void> => writer.settle();
      const retention = new Retention({ dataDir, manifest, days, log, closeBefore, settleAppends, now });
      return new Store(writer, lock, files, journal, retention, log);
    } catch (error) {
      await lock.release();
      throw error;
    }
  }

  /** Ends what goes on in the background and closes the files; call it when nothing is written any more. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    this.#ending.abort();
    await this.#pass;
    await this.files.close();
    await this.journal.close();
    await this.lock.release();
  }
}

/** Codes of a disk, or of a user's part of it, that is full. */
const FULL = new Set(['ENOSPC', 'EDQUOT']);

/** Seconds after which a shipper is to send again. */
const RETRY = 5;

/** The error for a batch that could not be stored: the shipper is to hold it and to send it again. */
export function storeFault(cause: unknown): ServiceError {
  if (cause instanceof ServiceError) return cause;
  if (FULL.has(systemCode(cause) ?? '')) return diskFull(cause);
  return new ServiceError(
    'backendUnavailable',
    'The events could not be stored. Send them again.',
    { retryAfter: RETRY },
    { cause },
  );
}

export function diskFull(cause?: unknown): ServiceError {
  return new ServiceError(
    'insufficientStorage',
    'There is too little free space to store events. Send them again later.',
    { retryAfter: RETRY },
    { cause },
  );
}

/** Milliseconds for which a look at the file system counts. */
const FRESH = 1_000;

/** The free space of a file system, looked at once a second at most. */
export class FreeSpace {
  #looked = -Infinity;
  #bytes: Promise<number> = Promise.resolve(Infinity);

  /** @param floor bytes */
  constructor(
    private readonly folder: string,
    private readonly floor: number,
  ) {}

  /** Whether less is free than the floor. */
  async low(): Promise<boolean> {
    if (performance.now() - this.#looked > FRESH) {
      this.#looked = performance.now();
      this.#bytes = freeBytes(this.folder);
    }
    return (await this.#bytes) < this.floor;
  }
}

/** Bytes for users without privileges. A file system that does not say has as many as are needed. */
async function freeBytes(folder: string): Promise<number> {
  try {
    const { bavail, bsize } = await statfs(folder);
    return bavail * bsize;
  } catch {
    return Infinity;
  }
}
