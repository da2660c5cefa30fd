import { watch } from 'node:fs';
import { readdir } from 'node:fs/promises';
import path from 'node:path';

import { fingerprintOf, MOST_OF_QUERY, readBounded } from '../files';
import { concurrently } from '../concurrency/concurrently';

/** Files that are looked at, or read, at the same time. */
export const FILES_AT_ONCE = 32;

/** What tells one state of a file from another without reading it. */
export type Fingerprint = string;

/** Hidden files are editors' own. */
export function isQueryFile(name: string): boolean {
  return name.endsWith('.sql') && !name.startsWith('.');
}

/** The `.sql` files of a directory by name, sorted; hidden files and folders left out. Links are followed. */
export async function listQueries(directory: string): Promise<Map<string, Fingerprint>> {
  return fingerprintsOf(directory, (await readdir(directory)).filter(isQueryFile).sort());
}

/**
 * Listens for changes in a directory where its file system has events: some have none, and some lose them.
 *
 * @param changed called with the name of what changed; null: it is not known
 * @returns stops it
 */
export function listenForChanges(directory: string, changed: (name: string | null) => void): () => void {
  try {
    const watcher = watch(directory, { persistent: false }, (_, name) => changed(name));
    watcher.on('error', () => watcher.close());
    return () => watcher.close();
  } catch {
    // The system has no more of them to give, or the directory is gone.
    return () => undefined;
  }
}

/** Those of these files of a directory that are there. */
export async function fingerprintsOf(directory: string, names: readonly string[]): Promise<Map<string, Fingerprint>> {
  const files = new Map<string, Fingerprint | null>(names.map((name) => [name, null]));
  await concurrently(FILES_AT_ONCE, names, async (name) => {
    files.set(name, await fingerprintOf(path.join(directory, name), true));
  });
  return new Map([...files].filter((file): file is [string, Fingerprint] => file[1] !== null));
}

/** The bytes of a file, or null when it changed while it was read: it is then read again later. */
export async function readUnchanged(file: string, fingerprint: Fingerprint): Promise<Buffer | null> {
  const bytes = await readBounded(file, MOST_OF_QUERY);
  return (await fingerprintOf(file, true)) === fingerprint ? bytes : null;
}
