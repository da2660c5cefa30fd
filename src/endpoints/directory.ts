import { readdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';

import { systemCode } from '../errors';

/** What tells one state of a file from another without reading it. */
export type Fingerprint = string;

/** The `.sql` files of a directory by name, sorted; hidden files (editors' own) and folders left out. Links are followed. */
export async function listQueries(directory: string): Promise<Map<string, Fingerprint>> {
  const names = (await readdir(directory)).filter((name) => name.endsWith('.sql') && !name.startsWith('.')).sort();
  const files = new Map<string, Fingerprint>();
  for (const name of names) {
    const fingerprint = await fingerprintOf(path.join(directory, name));
    if (fingerprint !== null) files.set(name, fingerprint);
  }
  return files;
}

/** The bytes of a file, or null when it changed while it was read: it is then read again later. */
export async function readUnchanged(file: string, fingerprint: Fingerprint): Promise<Buffer | null> {
  const bytes = await readFile(file);
  return (await fingerprintOf(file)) === fingerprint ? bytes : null;
}

/** null: gone, a folder, or a link that leads nowhere. */
async function fingerprintOf(file: string): Promise<Fingerprint | null> {
  try {
    const entry = await stat(file, { bigint: true });
    return entry.isFile() ? [entry.ino, entry.size, entry.mtimeNs, entry.ctimeNs].join(':') : null;
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return null;
    throw error;
  }
}
