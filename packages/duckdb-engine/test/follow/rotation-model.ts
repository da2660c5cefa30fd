/**
 * The files of a table through appending, rotation, compression and kills, without a database: a source has the rows that were
 * read of it. Everything that changes the folder comes between two steps of who follows it, in an order that a seed decides.
 */
import { existsSync } from 'node:fs';
import {
  appendFile,
  copyFile,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  truncate,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

import { ContentFault, readContent, ChangedContent, resumeDigest } from '../../src/follow/content';
import { isMoved } from '../../src/follow/copies';
import { type FolderScan, scanFolder } from '../../src/follow/folder-scan';
import type { Source, SourceRecord } from '../../src/follow/source';
import { SourcesOfTable } from '../../src/follow/sources-of-table';
import type { Random } from '../../../../test/dialect/random';

const TABLE = 'x';
const NEWLINE = 10;

/** What the hot file knows. */
interface Stored {
  readonly sources: ReadonlyMap<number, SourceRecord>;
  readonly next: number;
}

/** Sources that are read as a backlog, and where they were found. */
type Job = readonly { readonly source: number; readonly path: string }[];

export class RotationModel {
  readonly steps: string[] = [];
  /** Rows that were written, each a line. */
  readonly written: string[] = [];
  /** Rows of sources, by number and how much was read: after a kill a source has what is stored of it. */
  readonly #rowsOf = new Map<string, readonly string[]>();
  #stored: Stored = { sources: new Map(), next: 1 };
  #sources: SourcesOfTable;
  #scan: FolderScan | null = null;
  #job: Job | null = null;
  #rotations = 0;
  /** Of the archive that is being written: its path, what is missing, and the plain file, which then goes. */
  #archive: { readonly path: string; readonly rest: Buffer; readonly plain: string } | null = null;
  /** A file that was copied, and is truncated next, and its copy. */
  #copied: { readonly live: string; readonly away: string } | null = null;

  private constructor(
    private readonly folder: string,
    private readonly random: Random,
  ) {
    this.#sources = this.#opened();
  }

  static async make(random: Random): Promise<RotationModel> {
    const folder = await mkdtemp(join(tmpdir(), 'logquay-rotation-'));
    await mkdir(join(folder, TABLE));
    return new RotationModel(folder, random);
  }

  remove(): Promise<void> {
    return rm(this.folder, { recursive: true });
  }

  /** One step of the writer, or of who follows. @returns whether queries may read what there is now */
  async step(): Promise<boolean> {
    if (this.random.chance(0.5)) {
      await this.#change();
      return false;
    }
    return this.#follow();
  }

  /** Ends what was begun; from then on nothing changes but by `look`. */
  async finish(): Promise<void> {
    while (this.#archive !== null) await this.#compress();
    if (this.#copied !== null) await this.#truncate();
  }

  /** A whole look, and a backlog where there is one. */
  async look(): Promise<void> {
    this.#scan = await this.#look();
    await this.#reconcile();
    await this.#read();
    await this.#finishJob();
  }

  kill(): void {
    this.#note('kill');
    this.#scan = null;
    this.#job = null;
    this.#sources = this.#opened();
  }

  /** Rows that are served. */
  get rows(): readonly string[] {
    return this.#sources.all.flatMap((source) => this.#rowsOf.get(rowsKey(source)) ?? []);
  }

  #opened(): SourcesOfTable {
    return new SourcesOfTable(TABLE, this.folder, this.#stored);
  }

  #note(what: string): void {
    this.steps.push(what);
  }

  async #change(): Promise<void> {
    const live = `${TABLE}/${this.random.pick(['a', 'b'])}.ndjson`;
    const what = this.random.int(10);
    if (this.#archive !== null && what < 5) return this.#compress();
    if (this.#copied !== null && what < 5) return this.#truncate();
    if (what === 0 && existsSync(this.#path(live)) && this.#copied?.live !== live) {
      const away = `${live}.${++this.#rotations}`;
      this.#note(`rename ${live} to ${away}`);
      return rename(this.#path(live), this.#path(away));
    }
    if (what === 1 && existsSync(this.#path(live)) && this.#copied === null) {
      const away = `${live}.${++this.#rotations}`;
      this.#note(`copy ${live} to ${away}`);
      this.#copied = { live, away };
      return copyFile(this.#path(live), this.#path(away));
    }
    if (what <= 4 && this.#archive === null) return this.#compress();
    // What is written between copying and truncating is lost, as it is with logrotate.
    if (this.#copied?.live !== live) return this.#append(live);
  }

  async #append(live: string): Promise<void> {
    const first = this.written.length;
    const rows = Array.from(
      { length: 1 + this.random.int(5) },
      (_, i) => `row ${first + i} ${'x'.repeat(this.random.int(200))}`,
    );
    this.written.push(...rows.map((row) => row.trimEnd().replace(/ x*$/, '')));
    this.#note(`append ${rows.length} to ${live}`);
    await appendFile(this.#path(live), rows.map((row) => `${row}\n`).join(''));
  }

  async #compress(): Promise<void> {
    if (this.#archive === null) {
      const names = (await readdir(this.#path(TABLE))).filter((name) => /\.\d+$/.test(name));
      // A copy is not compressed before its original is truncated.
      const plain = names.map((name) => `${TABLE}/${name}`).find((path) => path !== this.#copied?.away);
      if (plain === undefined) return;
      const archive = gzipSync(await readFile(this.#path(plain)));
      const half = this.random.int(archive.length);
      this.#note(`half of ${plain}.gz`);
      await writeFile(this.#path(`${plain}.gz`), archive.subarray(0, half));
      this.#archive = { path: `${plain}.gz`, rest: archive.subarray(half), plain };
    } else if (this.#archive.rest.length > 0) {
      const { path, rest, plain } = this.#archive;
      this.#note(`all of ${path}`);
      await appendFile(this.#path(path), rest);
      this.#archive = { path, rest: Buffer.alloc(0), plain };
    } else {
      this.#note(`remove ${this.#archive.plain}`);
      await rm(this.#path(this.#archive.plain));
      this.#archive = null;
    }
  }

  async #truncate(): Promise<void> {
    const { live } = this.#copied!;
    this.#note(`truncate ${live}`);
    await truncate(this.#path(live));
    this.#copied = null;
  }

  /** The next step of a look. @returns whether it was the last */
  async #follow(): Promise<boolean> {
    if (this.#scan === null) {
      this.#note('scan');
      this.#scan = await this.#look();
      return false;
    }
    await this.#reconcile();
    await this.#read();
    this.#scan = null;
    if (this.#job === null && this.random.chance(0.3)) this.#startJob();
    return true;
  }

  /** As `LiveFolder` looks at it. */
  async #look(): Promise<FolderScan> {
    const scan = await scanFolder(this.folder, () => false);
    return this.#sources.isTruncated(scan.files) ? scanFolder(this.folder, () => false) : scan;
  }

  async #reconcile(): Promise<void> {
    if (this.random.chance(0.5)) await this.#finishJob();
    const { files } = this.#scan!;
    const { gone, moved } = await this.#sources.reconcile(files, () => true);
    if (moved) this.#save();
    this.#note(
      `reconcile: ${this.#sources.all.map(({ id, file }) => `${id} ${file.path}`).join(', ')}; gone ${gone.length}`,
    );
  }

  async #read(): Promise<void> {
    for (const source of this.#sources.all) {
      if (source.converting || !source.isChanged) continue;
      await this.#readSource(source);
      this.#save();
    }
  }

  /** One transaction: before a kill or not at all. */
  #save(): void {
    const read = this.#sources.all.filter((source) => source.read.position.offset > 0);
    const sources = read.map((source) => [source.id, source.record()] as const);
    this.#stored = { sources: new Map(sources), next: this.#sources.next };
  }

  /** Reads what is new of a source, as `LiveTable` does. */
  async #readSource(source: Source): Promise<void> {
    const { compression, identity, size, modified } = source.file;
    const path = source.pathIn(this.folder);
    try {
      const digest = await resumeDigest({ path, compression, from: source.read });
      const { position } = source.read;
      const parts: Buffer[] = [];
      try {
        for await (const part of readContent(path, compression, position.offset)) parts.push(part);
      } catch (error) {
        if (!(error instanceof ContentFault)) throw error;
      }
      if (await isMoved(path, identity)) return;
      const content = Buffer.concat(parts);
      const lines = content.subarray(0, content.lastIndexOf(NEWLINE) + 1);
      digest.update(lines);
      const rows = [...lines.toString().matchAll(/^row \d+/gm)].map(([row]) => row);
      const before = this.#rowsOf.get(rowsKey(source)) ?? [];
      const read = { position: { ...position, offset: position.offset + lines.length }, digest: digest.state() };
      source.read = read;
      source.seen = { size, modified };
      this.#rowsOf.set(rowsKey(source), [...before, ...rows]);
    } catch (error) {
      if (await isMoved(path, identity)) return;
      if (!(error instanceof ChangedContent)) throw error;
      source.replaced = true;
    }
  }

  #startJob(): void {
    const changed = this.#sources.all.filter((source) => source.isChanged);
    for (const source of changed) source.converting = true;
    this.#job = changed.map((source) => ({ source: source.id, path: source.pathIn(this.folder) }));
    this.#note(`begin with ${changed.map(({ id }) => id).join(', ')}`);
  }

  async #finishJob(): Promise<void> {
    if (this.#job === null) return;
    for (const { source: id, path } of this.#job) {
      const source = this.#sources.find(id);
      if (source === undefined) continue;
      source.converting = false;
      if (!(await isMoved(path, source.file.identity))) await this.#readSource(source);
    }
    this.#job = null;
    this.#save();
    this.#note(`stored ${this.#sources.all.map(({ id, file }) => `${id} ${file.path}`).join(', ')}`);
  }

  #path(name: string): string {
    return join(this.folder, name);
  }
}

function rowsKey({ id, read }: Source): string {
  return `${id} ${read.position.offset}`;
}
