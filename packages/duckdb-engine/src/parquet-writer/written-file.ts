/** A Parquet file that the engine writes by itself, sent while it grows (docs/decisions/exports.md). */
import { type FileHandle, mkdir, open, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import type { TakeBytes } from './encoder';
import { type ExportFile, fileTooLarge } from './opening';

/** Between two looks at the file, in milliseconds. */
const LOOK = 50;
/** Bytes that are read at once. */
const BLOCK = 256 * 1024;
/** Bytes of the file that are sent together, at least: a failure before them can be answered as any other. */
const LEAST_SENT = 64 * 1024;
/** What ends the file, without which no reader opens it: the length of its footer, and a mark. */
const END = 8;

/**
 * Sends what `write` writes, from its beginning to its end, and no faster than it is taken; its last bytes not before `write` has
 * resolved. The file loses its name as soon as it is there, and is gone with the last who has it open.
 *
 * @param write is aborted where the file cannot be sent
 * @throws what `write` and `take` throw; ServiceError resourcesExceeded for a file that is too large
 */
export async function sendWrittenFile(
  { path, maxBytes }: ExportFile,
  write: (signal: AbortSignal) => Promise<void>,
  take: TakeBytes,
): Promise<void> {
  // What is in it is nobody else's.
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const cancel = new AbortController();
  const file = new GrowingFile(path);
  const outcome: Outcome = { written: false, failure: null };
  const fail = (error: unknown): void => {
    outcome.failure ??= { error };
    cancel.abort();
  };
  const writing = write(cancel.signal).then(() => void (outcome.written = true), fail);
  const sizeOf = async (): Promise<number> => {
    const size = await file.size();
    if (size > maxBytes) fail(fileTooLarge());
    if (outcome.failure !== null) throw outcome.failure.error;
    return size;
  };
  // It grows also while whoever takes it is slow.
  const watch = async (): Promise<void> => {
    while (!outcome.written && outcome.failure === null) {
      await Promise.race([writing, sleep(LOOK)]);
      await sizeOf().catch(fail);
    }
  };
  const watching = watch();
  try {
    for (let sent = 0, isWhole = false; !isWhole;) {
      isWhole = outcome.written;
      const size = await sizeOf();
      const upTo = isWhole ? size : size - END;
      if (!isWhole && upTo - sent < LEAST_SENT) await Promise.race([writing, sleep(LOOK)]);
      else {
        while (sent < upTo) {
          const bytes = await file.read(sent, Math.min(BLOCK, upTo - sent));
          sent += bytes.length;
          await take(bytes);
        }
      }
    }
  } catch (error) {
    fail(error);
    throw error;
  } finally {
    await watching;
    await file.remove();
  }
}

interface Outcome {
  written: boolean;
  failure: { readonly error: unknown } | null;
}

/** A file that somebody else makes and writes. */
class GrowingFile {
  #opening: Promise<FileHandle | null> | null = null;
  #file: FileHandle | null = null;

  constructor(private readonly path: string) {}

  /** 0 before it is there. */
  async size(): Promise<number> {
    const file = await this.#open();
    return file === null ? 0 : (await file.stat()).size;
  }

  async read(position: number, length: number): Promise<Uint8Array> {
    const { bytesRead, buffer } = await this.#file!.read(Buffer.allocUnsafeSlow(length), 0, length, position);
    if (bytesRead === 0) throw new Error('The file has become shorter.');
    return buffer.subarray(0, bytesRead);
  }

  async remove(): Promise<void> {
    await this.#file?.close();
    await rm(this.path, { force: true });
  }

  async #open(): Promise<FileHandle | null> {
    if (this.#file !== null) return this.#file;
    this.#opening ??= open(this.path).catch((error: unknown) => {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
      throw error;
    });
    const file = await this.#opening;
    this.#opening = null;
    if (file === null || this.#file !== null) return file;
    this.#file = file;
    // Windows keeps a file that is open: it goes at the end.
    await rm(this.path, { force: true }).catch(() => undefined);
    return file;
  }
}
