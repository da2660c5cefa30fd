import { join } from 'node:path';

import type { FoundFile, SourceName } from './folder-scan';
import { type Progress, START } from './content';

export const UNREAD: Progress = { position: START, digest: { chain: '', rest: '' } };

/** How the fault of a file begins whose rows could be read and not be stored. */
export const NOT_STORED = 'cannot be stored';

/** Whether a file cannot be read, rather than that its content is not what its name says. */
export function isOfReading(fault: string): boolean {
  return fault.startsWith('cannot be read');
}

/** Milliseconds after which the last record of a file that does not change is complete without its end. */
const QUIET = 60_000;
/** The same of a line of text that has its end, to which more lines may belong: a line that comes later is a row of its own. */
const QUIET_LINE = 500;

/** A source as the hot file knows it. */
export interface SourceRecord extends Progress, Omit<SourceName, 'table'> {
  /** Relative to DATA_DIR. */
  readonly path: string;
  readonly identity: string;
  /** Of the file when it was read to its end, bytes and nanoseconds; a file that has both need not be read again. */
  readonly size: number;
  readonly modified: string;
}

/** The size and time of change of a file. */
export type Seen = Pick<FoundFile, 'size' | 'modified'>;

/** A file whose rows a table has, or will have. */
export class Source {
  /** How far its rows are in the table. */
  read: Progress;
  /** What it was when it was last read to its end; null: it was not. */
  seen: Seen | null = null;
  /** The file is another one than what was read: its rows go. */
  replaced = false;
  /** Its last record may not be whole yet. */
  waiting = false;
  /** Whether that ends with its line. */
  endsWithLine = false;
  /** It was not found at the last look. */
  missed = false;
  /** It is being read as a backlog. */
  converting = false;
  /** Why it is set aside; it is tried again when it changes, and now and then. */
  fault: string | null = null;
  /** `performance.now()`: not to be read before. */
  notBefore = 0;
  /** `performance.now()` when there came to be something unread; null: there is nothing. */
  behindSince: number | null = null;
  #file: FoundFile;
  #changedAt: number;
  /** Where the hot file has it. */
  #saved = '';

  constructor(
    readonly id: number,
    file: FoundFile,
    from: Progress = UNREAD,
  ) {
    this.#file = file;
    this.#changedAt = changedAt(file);
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

  static of(id: number, { position, digest, size, modified, ...file }: SourceRecord, table: string): Source {
    const found = { ...file, table, size, modified: BigInt(modified), lookedAt: performance.now() };
    const source = new Source(id, found, { position, digest });
    if (size >= 0) source.seen = { size, modified: BigInt(modified) };
    source.save();
    return source;
  }

  /** The hot file has it as it is. */
  save(): void {
    this.#saved = this.#place;
  }

  /** Whether the hot file has it in another place. */
  get isRenamed(): boolean {
    return this.read.position.offset > 0 && this.#saved !== this.#place;
  }

  get #place(): string {
    return `${this.#file.identity} ${this.#file.path}`;
  }

  pathIn(dataDir: string): string {
    return join(dataDir, this.file.path);
  }

  /**
   * Whether nothing had been written to it for long when it was looked at: what has been written since is not known. A clock may be wrong:
   * what goes on with a line without its end is noticed (`Position.open`).
   */
  get isQuiet(): boolean {
    return this.#file.lookedAt - this.#changedAt > (this.endsWithLine ? QUIET_LINE : QUIET);
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

  /** As the hot file is to know it. @param read how far its rows are in the table then @param seen what it was at its end */
  record(
    { position, digest }: Progress = this.read,
    seen: Seen | null = this.waiting ? null : this.seen,
  ): SourceRecord {
    const { path, identity, format, compression, family, rotated } = this.file;
    const { size = -1, modified = 0n } = seen ?? {};
    return {
      ...{ path, identity, format, compression, family, rotated, position, digest },
      ...{ size, modified: String(modified) },
    };
  }
}

/** As `performance.now()`: how long ago a file was written, by the clock as it is when that is seen; it may be set later. */
function changedAt({ modified }: FoundFile): number {
  return performance.now() - Math.max(0, Date.now() - Number(modified / 1_000_000n));
}
