/**
 * The lines of one stream on their way from the engine's process, in a file of both: what goes through a channel of Node's is copied
 * several times by the threads that answer requests, and leaves as much to be collected (docs/decisions/exports.md).
 */
import { randomUUID } from 'node:crypto';
import { type FileHandle, open, rm } from 'node:fs/promises';
import { join } from 'node:path';

import { type RunLimits, withinLimits } from '../concurrency/deadline';
import { ServiceError } from '../contract/service-error';
import type { SinkOf } from '../engine/ending-with-sink';

/** Bytes of a part's place. A larger part goes through the channel. */
const PLACE = 768 * 1024;

/** Where the bytes of a part are. */
export interface Written {
  readonly at: number;
  readonly size: number;
}

/** Takes lines, or reads them from where they are. */
export type PartSink = SinkOf<Uint8Array | Written>;

/** The service's side: it makes the file, reads it, and removes it. */
export class LinesFile {
  #place = Buffer.alloc(0);

  private constructor(
    readonly path: string,
    private readonly file: FileHandle,
  ) {}

  /** @returns null where no file can be made: all goes through the channel then */
  static async create(folder: string): Promise<LinesFile | null> {
    const path = join(folder, randomUUID());
    try {
      return new LinesFile(path, await open(path, 'wx+', 0o600));
    } catch {
      return null;
    }
  }

  /** The bytes are there until the next part is read. @throws ServiceError `backendError` where they cannot be read */
  async read({ at, size }: Written): Promise<Uint8Array> {
    if (this.#place.length < size) this.#place = Buffer.allocUnsafeSlow(PLACE);
    const { bytesRead } = await this.file.read(this.#place, 0, size, at).catch(() => ({ bytesRead: 0 }));
    if (bytesRead !== size) throw new ServiceError('backendError', 'The embedded engine failed.');
    return this.#place.subarray(0, size);
  }

  async close(): Promise<void> {
    await Promise.allSettled([this.file.close(), rm(this.path, { force: true })]);
  }
}

/** The engine's side. No more parts are on their way than there are places. */
export class LinesFileWriter {
  #parts = 0;

  private constructor(private readonly file: FileHandle) {}

  /** @returns null where it cannot be opened */
  static async open(path: string): Promise<LinesFileWriter | null> {
    try {
      return new LinesFileWriter(await open(path, 'r+'));
    } catch {
      return null;
    }
  }

  /** @returns null where there is no room for them, in their place or on the disk */
  async write(lines: Uint8Array): Promise<Written | null> {
    const size = lines.length;
    if (size > PLACE) return null;
    const at = (this.#parts++ % WINDOW) * PLACE;
    try {
      const { bytesWritten } = await this.file.write(lines, 0, size, at);
      return bytesWritten === size ? { at, size } : null;
    } catch {
      return null;
    }
  }

  async close(): Promise<void> {
    await this.file.close().catch(() => undefined);
  }
}

/** Parts that may be on their way to the service's process, each of some 256 KiB. */
export const WINDOW = 4;

/** Sends the parts of one result no faster than the other process takes them. */
export class Flow {
  #untaken = 0;
  #resume: (() => void) | null = null;

  constructor(private readonly limits: RunLimits) {}

  /** Resolves when one more part may be sent, which counts as sent. @throws as withinLimits */
  async admit(): Promise<void> {
    if (this.#untaken >= WINDOW) {
      await withinLimits(
        this.limits,
        (signal) =>
          new Promise<void>((resolve, reject) => {
            this.#resume = resolve;
            signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
          }),
      );
    }
    this.#untaken++;
  }

  /** The other process has taken a part. */
  taken(): void {
    this.#untaken--;
    this.#resume?.();
    this.#resume = null;
  }
}
