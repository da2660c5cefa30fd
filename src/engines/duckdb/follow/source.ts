import { join } from 'node:path';

import { START } from './records';
import type { FoundFile } from './folder-scan';
import type { SourceRecord } from './manifest';
import type { Progress } from './segment-job';

export const UNREAD: Progress = { position: START, digest: { chain: '', rest: '' } };

/** How the fault of a file begins whose rows could be read and not be stored. */
export const NOT_STORED = 'cannot be stored';

/** Whether a file cannot be read, rather than that its content is not what its name says. */
export function isOfReading(fault: string): boolean {
  return fault.startsWith('cannot be read');
}

/** Milliseconds after which the last record of a file that does not change is complete without its end. */
const QUIET = 60_000;

/** A file whose rows a table has, or will have. */
export class Source {
  /** What is in segments. */
  stored: Progress;
  /** What is in segments and in the tail. */
  read: Progress;
  /** The size and time of change that it had when it was last read to its end; null: it was not. */
  seen: { readonly size: number; readonly modified: bigint } | null = null;
  /** The file is another one than what was read: its rows go. */
  replaced = false;
  /** Its last line has no newline yet. */
  waiting = false;
  /** It was not found at the last look. */
  missed = false;
  /** A conversion reads it to an end that is not known yet. */
  converting = false;
  /** Why it is set aside; it is tried again when it changes, and now and then. */
  fault: string | null = null;
  /** `performance.now()`: not to be read before. */
  notBefore = 0;
  /** `performance.now()` when there came to be something unread; null: there is nothing. */
  behindSince: number | null = null;
  #file: FoundFile;
  #changedAt: number;

  constructor(
    readonly id: number,
    file: FoundFile,
    from: Progress = UNREAD,
  ) {
    this.#file = file;
    this.#changedAt = changedAt(file);
    this.stored = from;
    this.read = from;
  }

  /** As it was found last. */
  get file(): FoundFile {
    return this.#file;
  }

  set file(file: FoundFile) {
    const { identity, size, modified } = this.#file;
    const isSame = identity === file.identity && size === file.size && modified === file.modified;
    if (!isSame) this.#changedAt = changedAt(file);
    this.#file = file;
  }

  static of(record: SourceRecord, file: FoundFile): Source {
    const { position, digest, size, modified } = record;
    const source = new Source(record.id, file, { position, digest });
    if (size >= 0) source.seen = { size, modified: BigInt(modified) };
    return source;
  }

  pathIn(dataDir: string): string {
    return join(dataDir, this.file.path);
  }

  /** Whether rows of it are in the tail. */
  get isInTail(): boolean {
    return this.stored.position.offset !== this.read.position.offset;
  }

  /** Whether nothing has been written to it for long. A clock may be wrong: what follows later is noticed (`Position.open`). */
  get isQuiet(): boolean {
    return performance.now() - this.#changedAt > QUIET;
  }

  /** Whether there may be something to read. */
  get isChanged(): boolean {
    return this.seen?.size !== this.file.size || this.seen.modified !== this.file.modified;
  }

  /** Bytes of the file that are likely unread. */
  get unreadBytes(): number {
    if (!this.isChanged) return 0;
    return this.file.compression === 'none' ? this.file.size - this.read.position.offset : this.file.size;
  }

  get record(): SourceRecord {
    const { path, identity, format, compression, family, rotated } = this.file;
    const seen = this.isInTail ? null : this.seen;
    return {
      id: this.id,
      ...{ path, identity, format, compression, family, rotated },
      ...{ size: seen?.size ?? -1, modified: String(seen?.modified ?? 0n) },
      ...this.stored,
    };
  }
}

/** As `performance.now()`: how long ago a file was written, by the clock as it is when that is seen; it may be set later. */
function changedAt({ modified }: FoundFile): number {
  return performance.now() - Math.max(0, Date.now() - Number(modified / 1_000_000n));
}
