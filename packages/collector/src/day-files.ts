import { type FileHandle, mkdir, open, stat } from 'node:fs/promises';
import path from 'node:path';

import { systemCode, syncFolder } from '@logquay/duckdb-engine/files';
import type { Manifest } from './manifest';

/** A daily file that is open for appending. */
export interface DayFile {
  /** Relative to DATA_DIR, with `/`. */
  readonly path: string;
  readonly day: string;
  readonly handle: FileHandle;
  /** Bytes: where the next row begins. */
  readonly size: number;
}

/** Files of one table and day, at most: others are in their place, or were compressed when the clock was set back. */
const MOST_NAMES = 100;

/** UTC, `YYYY-MM-DD`. @param now milliseconds since the epoch */
export function dayOf(now: number): string {
  return new Date(now).toISOString().slice(0, 10);
}

/** The files that events are appended to: one for each table and UTC day, by when the events came. */
export class DayFiles {
  readonly #open = new Map<string, Omit<DayFile, 'size'>>();

  constructor(
    private readonly dataDir: string,
    private readonly manifest: Manifest,
    private readonly now: () => number = Date.now,
  ) {}

  /** The file of today, created where it is not there. Whoever deletes it in between gets a new one. */
  async today(table: string): Promise<DayFile> {
    const day = dayOf(this.now());
    const known = this.#open.get(table);
    if (known !== undefined) {
      const { size, nlink } = await known.handle.stat();
      if (known.day === day && nlink > 0) return { ...known, size };
      await this.forget(table);
    }
    for (const file of namesOf(table, day)) {
      const opened = await this.#tryOpen(table, day, file);
      if (opened === null) continue;
      this.#open.set(table, opened);
      return { ...opened, size: (await opened.handle.stat()).size };
    }
    throw new Error(`there are too many files of ${day} in ${table}`);
  }

  /** Closes the file of a table: the next event opens it anew. */
  async forget(table: string): Promise<void> {
    const known = this.#open.get(table);
    this.#open.delete(table);
    await known?.handle.close();
  }

  /** Closes the files of days before this one. */
  async closeBefore(day: string): Promise<void> {
    for (const [table, file] of [...this.#open]) if (file.day < day) await this.forget(table);
  }

  async close(): Promise<void> {
    for (const table of [...this.#open.keys()]) await this.forget(table);
  }

  /** null: there is a file of that name that is not the collector's, or that is finished. */
  async #tryOpen(table: string, day: string, file: string): Promise<Omit<DayFile, 'size'> | null> {
    const place = path.join(this.dataDir, file);
    const known = this.manifest.find(file);
    if (known?.compressed === true || (await exists(`${place}.gz`))) return null;
    if (known === null) {
      if (await exists(place)) return null;
      await mkdir(path.dirname(place), { recursive: true });
      await this.manifest.put({ path: file, table, day, compressed: false });
    }
    const handle = await open(place, 'a');
    await syncFolder(path.dirname(place));
    return { path: file, day, handle };
  }
}

function* namesOf(table: string, day: string): Generator<string> {
  yield `${table}/${day}.ndjson`;
  yield `${table}/${day}-collected.ndjson`;
  for (let i = 2; i < MOST_NAMES; i++) yield `${table}/${day}-collected-${String(i)}.ndjson`;
}

async function exists(file: string): Promise<boolean> {
  try {
    await stat(file);
    return true;
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return false;
    throw error;
  }
}
