/** Tables as CACHE_DIR has them: opened from their manifests, which the one process that may write keeps up to date. */
import { rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { DuckDBConnection } from '@duckdb/node-api';

import type { Log } from '../engine/log';
import { messageOf } from '../engine/native-error';
import type { CacheFolder } from './cache-folder';
import { faultKind } from './fault-kind';
import type { FolderFaults } from './folder-faults';
import { lockFolder, unlockFolder } from './folder-lock';
import { LiveTable, type TableOptions } from './live-table';
import { type Manifest, readManifest, writeManifest } from './manifest';
import type { Segment } from './segment';

/** Milliseconds between two tries to become the writer, or to write again what could not be written. */
const TRY_AGAIN = 2_000;

/** What a table is opened with that is not the store's to know. */
export type OpenedWith = Omit<TableOptions, 'folder' | 'index'>;

export class TableStore {
  /** Whether no other process may write CACHE_DIR, and whether this one does. */
  #locked = false;
  #isWriter = false;
  #nextLock = 0;
  #nextWrite = 0;
  #nextIndex = 0;
  /** Tables whose manifest is to be written, and files that go then. */
  readonly #unwritten = new Map<LiveTable, readonly string[]>();
  /** Of manifests that another process writes, by table: identity of the file. */
  readonly #manifests = new Map<string, string>();

  constructor(
    private readonly folder: CacheFolder,
    private readonly faults: FolderFaults,
    private readonly log: Log,
  ) {}

  /** Whether this process writes CACHE_DIR. */
  get isWriter(): boolean {
    return this.#isWriter;
  }

  /** Whether manifests name all that is stored. */
  get isWritten(): boolean {
    return this.#unwritten.size === 0;
  }

  /** Begins anew, with tables in the database of this connection. */
  async begin(connection: DuckDBConnection): Promise<void> {
    this.#unwritten.clear();
    this.#nextLock = 0;
    this.#isWriter = await this.lock(connection);
  }

  /** Called when the database is closed. */
  end(): void {
    if (this.#locked) unlockFolder(this.folder.path);
    this.#locked = this.#isWriter = false;
  }

  /** @returns whether no other process writes CACHE_DIR, now or later */
  async lock(connection: DuckDBConnection): Promise<boolean> {
    if (this.#locked || performance.now() < this.#nextLock) return this.#locked;
    this.#nextLock = performance.now() + TRY_AGAIN;
    try {
      this.#locked = await lockFolder(connection, this.folder);
      this.faults.set('lock', null);
    } catch (error) {
      this.faults.set('lock', `CACHE_DIR cannot be written (${faultKind(error)}).`);
    }
    return this.#locked;
  }

  /** Goes on from where the writer before has ended. */
  async takeOver(tables: Iterable<LiveTable>): Promise<void> {
    this.#isWriter = true;
    await this.removeUnused(tables);
    this.log.info({}, 'This process now writes CACHE_DIR');
  }

  /** The table as it is stored; empty where there is nothing of it, or nothing that can be used. */
  async open(opened: OpenedWith): Promise<LiveTable> {
    const { name } = opened;
    const folder = this.folder.segmentsOf(name);
    this.#manifests.set(name, await this.folder.manifestIdentity(name));
    const options = { ...opened, folder, index: this.#nextIndex++ };
    const manifest = await readManifest(this.folder.manifestOf(name));
    if (manifest === null || !(await this.#areWhole(folder, manifest))) return new LiveTable(options, null);
    const table = new LiveTable(options, manifest);
    try {
      await table.attach();
      return table;
    } catch (error) {
      await table.dispose();
      if (!this.#isWriter || !isDamage(error)) throw error;
      this.#warnOfDamage(folder);
      return new LiveTable(options, null);
    }
  }

  /** The table, opened again where another process has stored more of it. */
  async followed(table: LiveTable, opened: OpenedWith): Promise<LiveTable> {
    if (this.#isWriter) return table;
    const { name } = opened;
    const identity = await this.folder.manifestIdentity(name);
    if (identity === this.#manifests.get(name)) return table;
    try {
      return await this.open(opened);
    } catch (error) {
      this.#manifests.delete(name);
      // Segments that are gone already are no fault: the next look finds a newer manifest.
      if ((await this.folder.manifestIdentity(name)) !== identity) return table;
      throw error;
    }
  }

  /** The manifest of a table is to be written; then the files of these segments go. */
  outdate(table: LiveTable, segments: readonly Segment[] = []): void {
    if (!this.#isWriter) return;
    const files = segments.map(({ file }) => join(this.folder.segmentsOf(table.name), file));
    this.#unwritten.set(table, [...(this.#unwritten.get(table) ?? []), ...files]);
  }

  /** Writes what is stored; until that has succeeded nothing is removed, and nothing more is stored. */
  async writeManifests(): Promise<void> {
    if (performance.now() < this.#nextWrite) return;
    try {
      for (const [table, files] of this.#unwritten) {
        await writeManifest(this.folder.manifestOf(table.name), table.manifest);
        this.#unwritten.delete(table);
        for (const file of files) await rm(file, { force: true });
      }
      this.faults.set('write', null);
    } catch (error) {
      this.#nextWrite = performance.now() + TRY_AGAIN;
      this.#cannotWrite(error);
    }
  }

  /** Removes what a writer that was killed has left. */
  async removeUnused(tables: Iterable<LiveTable>): Promise<void> {
    if (!this.#isWriter) return;
    try {
      await this.folder.removeUnused(new Map([...tables].map(({ name, segments }) => [name, segments])));
    } catch (error) {
      this.#cannotWrite(error);
    }
  }

  #cannotWrite(error: unknown): void {
    this.faults.set('write', `CACHE_DIR cannot be written (${faultKind(error)}).`);
  }

  /** Whether segments are there as they were written; DuckDB's own checksums tell the rest when they are read. */
  async #areWhole(folder: string, { segments }: Manifest): Promise<boolean> {
    for (const { file, bytes } of segments) {
      const found = await stat(join(folder, file)).catch(() => null);
      if (found?.size === bytes) continue;
      this.#warnOfDamage(join(folder, file));
      return false;
    }
    return true;
  }

  #warnOfDamage(file: string): void {
    this.log.warn({ file }, 'A stored segment is damaged or gone: the table is converted again');
  }
}

/** DuckDB's words for a file that is not as it wrote it. */
function isDamage(error: unknown): boolean {
  return /not a valid DuckDB database|checksum|corrupt|deserializ/i.test(messageOf(error));
}
