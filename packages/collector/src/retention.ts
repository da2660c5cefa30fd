import { createReadStream, createWriteStream } from 'node:fs';
import { type FileHandle, open, rename, stat, unlink } from 'node:fs/promises';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';

import { systemCode, ignoreMissing, syncFolder } from '@logquay/duckdb-engine/files';
import type { Log } from '@logquay/duckdb-engine/contract';
import { dayOf } from './day-files';
import type { CollectedFile, Manifest } from './manifest';

const DAY = 86_400_000;

/** Milliseconds after midnight from which on yesterday's files are compressed: their last rows have been read by then. */
const PAUSE = 5 * 60_000;

export interface RetentionOptions {
  readonly dataDir: string;
  readonly manifest: Manifest;
  /** Days that a file is kept after its own; 0: for ever. */
  readonly days: number;
  readonly log: Pick<Log, 'info' | 'warn'>;
  /** Closes what is open of files of days before this one. */
  readonly closeBefore: (day: string) => Promise<void>;
  /** Cuts off what failed appends have left of a row. */
  readonly settleAppends: () => Promise<void>;
  readonly now: () => number;
}

/** Deletes daily files that are old, and compresses those of days that are over. Only files of the manifest are touched. */
export class Retention {
  constructor(private readonly options: RetentionOptions) {}

  /** One pass over all files; a file that cannot be handled is named in the log and does not keep the others from it. */
  async run(signal: AbortSignal): Promise<void> {
    const { manifest, days, now, closeBefore, log } = this.options;
    const today = dayOf(now() - PAUSE);
    await closeBefore(today);
    const oldest = days === 0 ? '' : dayOf(now() - days * DAY);
    for (const file of manifest.files) {
      if (signal.aborted || file.day >= today) continue;
      try {
        if (file.day < oldest) await this.#delete(file);
        else await this.#compress(file, signal);
      } catch (error) {
        if (!signal.aborted)
          log.warn({ err: error, file: file.path }, 'a collected file could not be compressed or deleted');
      }
    }
  }

  async #delete(file: CollectedFile): Promise<void> {
    const { manifest, log } = this.options;
    const plain = this.#place(file);
    await unlinkFound(plain);
    if (file.compressed) await unlinkFound(`${plain}.gz`);
    await manifest.remove(file);
    log.info({ file: file.path }, 'a collected file is deleted: it is older than COLLECT_RETENTION');
  }

  /** The archive gets its name when it is whole, and the file goes when the archive is there. */
  async #compress(file: CollectedFile, signal: AbortSignal): Promise<void> {
    const { manifest, settleAppends } = this.options;
    await settleAppends();
    const plain = this.#place(file);
    const archive = `${plain}.gz`;
    const size = await sizeOf(plain);
    if (file.compressed) {
      if (size === null) return;
      // The process ended in between.
      if ((await unpackedSize(archive)) === size % 2 ** 32) await unlink(plain);
      else if ((await sizeOf(archive)) === null) await manifest.put({ ...file, compressed: false });
      return;
    }
    if (size === null) return manifest.remove(file);
    // Somebody else compresses it.
    if ((await sizeOf(archive)) !== null) return;
    const draft = path.join(path.dirname(plain), `.${path.basename(archive)}.draft`);
    await pipeline(createReadStream(plain), createGzip(), createWriteStream(draft, { mode: 0o644 }), { signal });
    await syncFile(draft);
    await manifest.put({ ...file, compressed: true });
    await rename(draft, archive);
    await syncFolder(path.dirname(plain));
    await unlink(plain);
  }

  #place({ path: file }: CollectedFile): string {
    return path.join(this.options.dataDir, file);
  }
}

async function unlinkFound(file: string): Promise<void> {
  await unlink(file).catch(ignoreMissing);
}

async function syncFile(file: string): Promise<void> {
  const handle = await open(file, 'r+');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Bytes; null: there is no such file. */
async function sizeOf(file: string): Promise<number | null> {
  try {
    return (await stat(file)).size;
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return null;
    throw error;
  }
}

/** The bytes that an archive says are in it (RFC 1952, 2.3.1: modulo 2^32); null: there is none. */
async function unpackedSize(archive: string): Promise<number | null> {
  let handle: FileHandle;
  try {
    handle = await open(archive, 'r');
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return null;
    throw error;
  }
  try {
    const { size } = await handle.stat();
    const trailer = Buffer.alloc(4);
    await handle.read(trailer, 0, 4, Math.max(0, size - 4));
    return trailer.readUInt32LE();
  } finally {
    await handle.close();
  }
}
