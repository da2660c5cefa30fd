import { readFile } from 'node:fs/promises';
import path from 'node:path';

import { z } from 'zod';

import { systemCode, replaceFile } from '@logquay/duckdb-engine/files';

/** A file that the collector created, and which day's events it holds. */
export interface CollectedFile {
  /** Of the file as it was created, relative to DATA_DIR, with `/`. */
  readonly path: string;
  readonly table: string;
  /** UTC, `YYYY-MM-DD`. */
  readonly day: string;
  /** Whether it is `path` with `.gz` behind it by now. */
  readonly compressed: boolean;
}

/** Nothing but what the collector itself writes: a path from here is deleted one day. */
const PATH = /^[a-z][a-z0-9_]{0,127}\/\d{4}-\d{2}-\d{2}(?:-collected(?:-\d{1,3})?)?\.ndjson$/;

const schema = z.strictObject({
  files: z.array(
    z
      .strictObject({
        path: z.string().regex(PATH),
        table: z.string(),
        day: z.iso.date(),
        compressed: z.boolean(),
      })
      .refine(({ path: file, table, day }) => file.startsWith(`${table}/${day}`)),
  ),
});

/** The files that the collector created, which are the only ones that it ever changes or deletes. */
export class Manifest {
  #files: readonly CollectedFile[];
  #last: Promise<void> = Promise.resolve();

  private constructor(
    private readonly file: string,
    files: readonly CollectedFile[],
  ) {
    this.#files = files;
  }

  /** @throws Error for a manifest that is damaged: without it nothing says which files are the collector's */
  static async open(file: string): Promise<Manifest> {
    let text: string;
    try {
      text = await readFile(file, 'utf8');
    } catch (error) {
      if (systemCode(error) !== 'ENOENT') throw error;
      return new Manifest(file, []);
    }
    try {
      return new Manifest(file, schema.parse(JSON.parse(text)).files);
    } catch (cause) {
      const name = path.basename(file);
      throw new Error(`${name} in DATA_DIR is damaged: remove it, and delete the daily files so far yourself`, {
        cause,
      });
    }
  }

  get files(): readonly CollectedFile[] {
    return this.#files;
  }

  find(file: string): CollectedFile | null {
    return this.#files.find(({ path: one }) => one === file) ?? null;
  }

  /** Adds a file, or replaces what is known of it; durable once it resolves. */
  put(file: CollectedFile): Promise<void> {
    return this.#change((others) => [...others.filter(({ path: one }) => one !== file.path), file]);
  }

  remove(file: CollectedFile): Promise<void> {
    return this.#change((files) => files.filter(({ path: one }) => one !== file.path));
  }

  /** One change after the other: each begins with what the one before it left. */
  #change(change: (files: readonly CollectedFile[]) => readonly CollectedFile[]): Promise<void> {
    const changed = this.#last.then(async () => {
      const files = change(this.#files);
      await replaceFile(this.file, `${JSON.stringify({ files }, null, 1)}\n`);
      this.#files = files;
    });
    this.#last = changed.catch(() => undefined);
    return changed;
  }
}
