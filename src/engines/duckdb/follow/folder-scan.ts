/** A look at what DATA_DIR holds. */
import type { Dirent } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';

import { codeOf } from '../engine/native-error';
import { readSourceName, type SourceName } from './source-name';

/** A file that is read, as it is now. */
export interface FoundFile extends SourceName {
  /** Relative to DATA_DIR. */
  readonly path: string;
  /** Device and inode: the file, whatever its name. */
  readonly identity: string;
  /** Bytes. */
  readonly size: number;
  /** Of the last change, in nanoseconds since the epoch. */
  readonly modified: bigint;
}

export interface FolderScan {
  readonly files: readonly FoundFile[];
  /** Why other files are not read, by path. */
  readonly refused: ReadonlyMap<string, string>;
  /** Folders that could not be read now, with the error's code: nothing is known of what is in them. */
  readonly unreadable: ReadonlyMap<string, string>;
}

const DEEPEST = 32;
const MOST_FILES = 200_000;
/** Files looked at at once. */
const AT_ONCE = 16;

/** Names that begin with a dot or an underscore are others' bookkeeping. */
const PRIVATE = /^[._]/;

/** @param declared whether a table of that name is described */
export async function scanFolder(dataDir: string, declared: (table: string) => boolean): Promise<FolderScan> {
  const files: FoundFile[] = [];
  const refused = new Map<string, string>();
  const unreadable = new Map<string, string>();
  const seen = new Set<string>();

  async function scanFile(path: string): Promise<boolean> {
    const name = readSourceName(path, declared);
    if (typeof name === 'string') refused.set(path, name);
    else {
      try {
        const { dev, ino, size, mtimeNs } = await stat(join(dataDir, path), { bigint: true });
        files.push({ ...name, path, identity: `${dev}:${ino}`, size: Number(size), modified: mtimeNs });
      } catch (error) {
        refused.set(path, `cannot be read (${codeOf(error)})`);
      }
    }
    return true;
  }

  async function scanEntry(folder: string, entry: Dirent, depth: number): Promise<unknown> {
    const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
    if (PRIVATE.test(entry.name) || path === 'schema.json') return;
    if (entry.isFile()) return scanFile(path);
    if (entry.isDirectory()) return scanIn(path, depth + 1);
    if (!entry.isSymbolicLink()) return refused.set(path, 'not a file');
    const target = await stat(join(dataDir, path)).catch((error: unknown) => codeOf(error));
    if (target === null || typeof target === 'string') return refused.set(path, `a link to nothing (${target})`);
    if (target.isDirectory()) return scanIn(path, depth + 1);
    return target.isFile() ? scanFile(path) : refused.set(path, 'not a file');
  }

  async function scanIn(folder: string, depth: number): Promise<void> {
    if (depth > DEEPEST) return void refused.set(folder, `more than ${DEEPEST} folders deep`);
    try {
      // A link may lead back to where it is.
      const { dev, ino } = await stat(join(dataDir, folder), { bigint: true });
      if (seen.has(`${dev}:${ino}`)) return;
      seen.add(`${dev}:${ino}`);
      const entries = await readdir(join(dataDir, folder), { withFileTypes: true });
      entries.sort((a, b) => (a.name < b.name ? -1 : 1));
      for (let i = 0; i < entries.length; i += AT_ONCE) {
        if (files.length > MOST_FILES) return void refused.set(folder, `more than ${MOST_FILES} files`);
        await Promise.all(entries.slice(i, i + AT_ONCE).map((entry) => scanEntry(folder, entry, depth)));
      }
    } catch (error) {
      const code = codeOf(error) ?? 'unknown';
      // A folder may go while it is read; DATA_DIR itself does not.
      if (folder === '' || code !== 'ENOENT') unreadable.set(folder, code);
    }
  }

  await scanIn('', 0);
  files.sort((a, b) => (a.path < b.path ? -1 : 1));
  return { files, refused, unreadable };
}
