/** Which files a table's rows come from, through appending, rotation, compression, replacement and deletion. */
import { join } from 'node:path';

import { codeOf } from '../engine/native-error';
import { ChangedContent, resumeDigest, type Progress } from './content';
import { beginnings, beginsWith, continuesRecord, differ, headOf, isCopySoFar, isMoved } from './copies';
import type { FoundFile } from './folder-scan';
import { Source, type SourceRecord } from './source';

/** A file that holds the same rows as a source, or the first of them, while that is there. */
interface Copy {
  readonly of: Source;
  /** As it was when it was compared. */
  readonly file: FoundFile;
  /** `performance.now()`: not to be compared again before. */
  readonly notBefore: number;
  /** As it was then. */
  readonly original: FoundFile;
}

/** How a file's content begins. */
interface Head {
  /** As it was when it was read. */
  readonly file: FoundFile;
  readonly bytes: Buffer;
}

/** Milliseconds after which an archive without content that does not change is a file of its own. */
const UNDECIDED = 5_000;
/** Milliseconds between two comparisons of a growing copy, for each millisecond that one takes. */
const PATIENCE = 10;

export interface Reconciled {
  /** Sources with rows, which go. */
  readonly gone: readonly Source[];
  /** Whether there are other files than before, or under other names. */
  readonly moved: boolean;
}

export class SourcesOfTable {
  readonly #sources = new Map<number, Source>();
  readonly #copies = new Map<string, Copy>();
  /** By identity: each archive is compared with each file that it may be a copy of. */
  readonly #heads = new Map<string, Head>();
  /** Files of which it is not known whether they are copies, by identity: as they were, and since when. */
  readonly #undecided = new Map<string, { readonly size: number; readonly modified: bigint; readonly since: number }>();
  #next: number;

  constructor(
    table: string,
    private readonly dataDir: string,
    known: { readonly sources: ReadonlyMap<number, SourceRecord>; readonly next: number },
  ) {
    for (const [id, record] of known.sources) this.#sources.set(id, Source.of(id, record, table));
    this.#next = known.next;
  }

  get all(): readonly Source[] {
    return [...this.#sources.values()];
  }

  /** A number that no source has had. */
  get next(): number {
    return this.#next;
  }

  has(id: number): boolean {
    return this.#sources.has(id);
  }

  find(id: number): Source | undefined {
    return this.#sources.get(id);
  }

  /** Whether a file is shorter than what was read of it. */
  isTruncated(files: readonly FoundFile[]): boolean {
    const lengths = new Map(this.all.map(({ file, read }) => [file.identity, read.position.offset]));
    return files.some((file) => isText(file) && file.size < (lengths.get(file.identity) ?? 0));
  }

  /**
   * Takes what the folder holds now.
   *
   * @param files of this table
   * @param isKnown whether it is known that a path is not there, rather than that it could not be looked for
   */
  async reconcile(files: readonly FoundFile[], isKnown: (path: string) => boolean): Promise<Reconciled> {
    let moved = false;
    const byIdentity = new Map(this.all.map((source) => [source.file.identity, source]));
    const found = new Set<Source>();
    const candidates: FoundFile[] = [];
    const seen = new Set<string>();
    // The number of a file that was deleted may be that of one of another family by now.
    const isNew = ({ identity, family }: FoundFile): boolean => byIdentity.get(identity)?.file.family !== family;
    const rotating = new Set(files.filter(isNew).map(({ family }) => family));
    for (const file of files) {
      // One file of two names, or renamed while the folder was read.
      if (seen.has(file.identity)) continue;
      seen.add(file.identity);
      const source = byIdentity.get(file.identity);
      const isStill = async (): Promise<boolean> => this.#isStill(source!, file, rotating.has(file.family));
      if (source === undefined || isOther(source, file) || !(await isStill())) candidates.push(file);
      else {
        found.add(source);
        moved ||= source.file.path !== file.path;
        see(source, file);
      }
    }
    const vanished = new Set(this.all.filter((source) => !found.has(source)));
    for (const source of vanished) if (!source.replaced && !isKnown(source.file.path)) vanished.delete(source);
    // A folder is not read at one instant: what is renamed meanwhile may be missed once.
    const missed = new Set(
      [...vanished].filter(
        (source) => !source.replaced && !seen.has(source.file.identity) && (!source.missed || source.converting),
      ),
    );
    for (const source of this.all) source.missed = missed.has(source);
    candidates.sort((a, b) => rank(a) - rank(b));
    for (const file of candidates) {
      const before = byIdentity.get(file.identity);
      if (await this.#adopt(file, vanished)) moved = true;
      else if (await this.#isCopy(file, vanished)) continue;
      else if (before !== undefined && vanished.has(before) && isStillUnread(before, file)) {
        vanished.delete(before);
        see(before, file);
      } else {
        const source = new Source(this.#next++, file);
        this.#sources.set(source.id, source);
      }
    }
    for (const source of missed) vanished.delete(source);
    for (const source of vanished) this.#sources.delete(source.id);
    for (const known of [this.#copies, this.#undecided, this.#heads]) {
      for (const identity of known.keys()) if (!seen.has(identity)) known.delete(identity);
    }
    const gone = [...vanished].filter(({ read }) => read.position.offset > 0);
    return { gone, moved: moved || gone.length > 0 };
  }

  /** Whether a file takes the place of a source that has vanished: it holds all that was read of it. */
  async #adopt(file: FoundFile, vanished: Set<Source>): Promise<boolean> {
    const content = this.#contentOf(file);
    const wanted = [...vanished].filter((source) => mayTakeThePlaceOf(file, source));
    const reads = new Map(wanted.map((source) => [source.read, source]));
    const found = new Set((await this.#tried(() => beginnings(content, [...reads.keys()]))) || []);
    for (const [read, source] of reads) {
      if (!found.has(read) || (await this.#continues(file, source))) continue;
      source.file = file;
      source.seen = null;
      source.replaced = false;
      source.fault = null;
      vanished.delete(source);
      this.#copies.delete(file.identity);
      return true;
    }
    return false;
  }

  /** Whether a file is a copy of a source that is still there, as rotation makes it. */
  async #isCopy(file: FoundFile, vanished: ReadonlySet<Source>): Promise<boolean> {
    if (!file.rotated || file.format === 'parquet') return false;
    const known = this.#copies.get(file.identity);
    if (known !== undefined && this.has(known.of.id)) {
      const { read, file: original } = known.of;
      // Nothing else shows that the original has been truncated before anything was read of it.
      const isUnread = read.position.offset === 0;
      const same = sameContent(known.file, file) && !(isUnread && !sameContent(original, known.original));
      const unchanged = original.path !== file.path && !(isUnread && original.size < known.original.size);
      if (unchanged && (same || performance.now() < known.notBefore)) return true;
    }
    let [isMissed, isUndecided] = [false, false];
    for (const source of this.all) {
      if (!mayBeCopy(file, source.file) || (vanished.has(source) && !source.missed)) continue;
      const started = performance.now();
      const isCopy = await this.#isCopyOf(file, source);
      // One of them has gone meanwhile, or cannot be read yet: a later look shows it.
      if (isCopy === null && source.missed) isMissed = true;
      else if (isCopy === null) isUndecided = true;
      if (isCopy !== true) continue;
      const took = performance.now() - started;
      this.#copies.set(file.identity, {
        of: source,
        original: source.file,
        file,
        notBefore: performance.now() + PATIENCE * took,
      });
      return true;
    }
    this.#copies.delete(file.identity);
    return isMissed || (isUndecided && this.#mayWait(file));
  }

  /** null: it cannot be known now. */
  async #isCopyOf(file: FoundFile, { file: original, read }: Source): Promise<boolean | null> {
    const copy = this.#contentOf(file);
    const isCopy = await this.#tried(async () => {
      if (differ(await this.#headOf(file), await this.#headOf(original))) return false;
      return isCopySoFar(copy, this.#contentOf(original));
    });
    if (isCopy === true || read.position.offset === 0) return isCopy;
    // The original may have been truncated or renamed since the folder was looked at.
    if (isCopy === false) return (await this.#isAsFound(original, read)) ? false : null;
    // It cannot be read any more: what was read of it may be enough.
    return (await this.#tried(() => beginsWith(copy, read))) === true ? true : null;
  }

  async #headOf(file: FoundFile): Promise<Buffer> {
    const known = this.#heads.get(file.identity);
    if (known?.file.size === file.size && known.file.modified === file.modified) return known.bytes;
    const bytes = await headOf(this.#contentOf(file));
    this.#heads.set(file.identity, { file, bytes });
    return bytes;
  }

  /** Whether a file is where it was found, and if it is written to, still holds what was read of it. */
  async #isAsFound(file: FoundFile, read: Progress): Promise<boolean> {
    if (file.rotated) return !(await isMoved(join(this.dataDir, file.path), file.identity));
    return (await this.#holds(file, read)) === true;
  }

  /** Whether a file holds what was read, as far as the last block tells; null: it cannot be read, or is not there. */
  #holds(file: FoundFile, read: Progress): Promise<boolean | null> {
    return this.#tried(async () => {
      try {
        await resumeDigest({ ...this.#contentOf(file), from: read });
        return true;
      } catch (error) {
        if (error instanceof ChangedContent) return false;
        throw error;
      }
    });
  }

  /** Whether a file may turn out to be a copy: it has not been as it is for long. */
  #mayWait({ identity, size, modified }: FoundFile): boolean {
    const before = this.#undecided.get(identity);
    if (before?.size !== size || before.modified !== modified) {
      this.#undecided.set(identity, { size, modified, since: performance.now() });
      return true;
    }
    return performance.now() - before.since < UNDECIDED;
  }

  /** null: one of the files cannot be read, or is not there any more. */
  async #tried<T>(compare: () => Promise<T>): Promise<T | false | null> {
    try {
      return await compare();
    } catch (error) {
      return codeOf(error) === null ? false : null;
    }
  }

  /**
   * Whether a file is the one that was read: numbers of files are given again, and a last record may go on.
   *
   * @param rotates whether a file of its family has come: it may have been copied to that, truncated, and have grown again
   */
  async #isStill(source: Source, file: FoundFile, rotates: boolean): Promise<boolean> {
    const { path, family, size, modified } = source.file;
    if (file.format === 'parquet' || source.read.position.offset === 0) return true;
    if (size === file.size && modified === file.modified) return true;
    if (await this.#continues(file, source)) return false;
    if (path === file.path && !rotates) return true;
    const holds = await this.#holds(file, source.read);
    if (holds !== null || family === file.family) return holds !== false;
    // A file of another family that has gone since it was found may have had the number of one that was deleted.
    return !(await isMoved(join(this.dataDir, file.path), file.identity));
  }

  /** Whether what was taken for the last record of a source goes on in a file. */
  async #continues(file: FoundFile, { read }: Source): Promise<boolean> {
    return read.position.open && (await this.#tried(() => continuesRecord(this.#contentOf(file), read))) === true;
  }

  #contentOf({ path, compression }: FoundFile): { path: string; compression: FoundFile['compression'] } {
    return { path: join(this.dataDir, path), compression };
  }
}

/** Whether a file of the same identity is not the one that was read. */
function isOther(source: Source, file: FoundFile): boolean {
  if (source.replaced) return true;
  const { format, compression, size, modified } = source.file;
  if (format !== file.format || compression !== file.compression) return true;
  const same = size === file.size && modified === file.modified;
  if (format === 'parquet') {
    return (
      source.read.position.offset > 0 && (source.seen?.size !== file.size || source.seen.modified !== file.modified)
    );
  }
  // A file of which nothing could be read before, as of an archive that is still being written, may turn out to be a copy.
  const isTried = !same || (source.fault !== null && source.isChanged && performance.now() >= source.notBefore);
  if (file.rotated && source.read.position.offset === 0 && !source.converting && isTried) return true;
  return isText(file) && file.size < source.read.position.offset;
}

function sameContent(a: FoundFile, b: FoundFile): boolean {
  return a.size === b.size && a.modified === b.modified;
}

/** Whether a file may hold all that was read of a source which has vanished. */
function mayTakeThePlaceOf(file: FoundFile, { file: before, read, converting }: Source): boolean {
  if (before.family !== file.family && before.path !== file.path) return false;
  if (read.position.offset === 0 || converting) return false;
  if (before.format === 'parquet' || before.format !== file.format) return false;
  return file.compression !== 'none' || file.size >= read.position.offset;
}

/**
 * Whether rotation may have made a file of another one: it compresses what is plain, and copies what is written to. Beside an
 * archive its own content may be, or the same in another compression.
 */
function mayBeCopy(file: FoundFile, original: FoundFile): boolean {
  if (original.family !== file.family || original.identity === file.identity) return false;
  if (original.compression !== 'none') return unpackedPath(original) === unpackedPath(file);
  return file.compression !== 'none' || !original.rotated;
}

function unpackedPath({ path, compression }: FoundFile): string {
  return compression === 'none' ? path : path.slice(0, path.lastIndexOf('.'));
}

function isText({ format, compression }: FoundFile): boolean {
  return format !== 'parquet' && compression === 'none';
}

/** Whether nothing has been read of a source, so that it goes on as the file that it is now. */
function isStillUnread(
  { file: { format, compression }, read, replaced, converting }: Source,
  file: FoundFile,
): boolean {
  if (read.position.offset > 0 || replaced || converting) return false;
  return format === file.format && compression === file.compression;
}

function see(source: Source, file: FoundFile): void {
  const { size, modified } = source.file;
  source.file = file;
  if (size === file.size && modified === file.modified) return;
  // An archive is read from its beginning every time.
  if (file.compression === 'none') source.notBefore = 0;
}

/** Copies come after what they may be copies of. */
function rank({ rotated, compression }: FoundFile): number {
  return compression !== 'none' ? 2 : rotated ? 1 : 0;
}
