import { rmSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';

const PREFIXES = { samples: 'samples-', streams: 'streams-', store: 'tmp-' } as const;
/** A folder this old belongs to a process that died with its machine: milliseconds. */
const ABANDONED = 24 * 3600_000;

/**
 * A new folder for one run of the service: of its samples, of lines on their way to it, or of a store where another process has the usual one.
 *
 * @param cacheDir made if missing
 * @returns null where nothing can be written: samples are kept in memory then, and lines go through the channel
 */
export async function makeFolder(cacheDir: string, use: keyof typeof PREFIXES): Promise<string | null> {
  try {
    await mkdir(cacheDir, { recursive: true });
    await removeAbandoned(cacheDir, PREFIXES[use]);
    return await mkdtemp(join(cacheDir, PREFIXES[use]));
  } catch {
    return null;
  }
}

/** Removes a folder and what is in it, if it is there: at once, for who is about to end. */
export function removeFolder(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
}

async function removeAbandoned(cacheDir: string, prefix: string): Promise<void> {
  for (const name of await readdir(cacheDir)) {
    if (!name.startsWith(prefix)) continue;
    const { mtimeMs } = await stat(join(cacheDir, name));
    if (Date.now() - mtimeMs > ABANDONED) removeFolder(join(cacheDir, name));
  }
}
