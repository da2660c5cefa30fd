import { rmSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';

const PREFIX = 'samples-';
/** A folder this old belongs to a process that died with its machine: milliseconds. */
const ABANDONED = 24 * 3600_000;

/**
 * A new folder for the samples of one run of the service.
 *
 * @param cacheDir made if missing
 * @returns null where nothing can be written: samples are kept in memory then
 */
export async function makeSamplesFolder(cacheDir: string): Promise<string | null> {
  try {
    await mkdir(cacheDir, { recursive: true });
    await removeAbandoned(cacheDir);
    return await mkdtemp(join(cacheDir, PREFIX));
  } catch {
    return null;
  }
}

/** Removes a folder and what is in it, if it is there: at once, for who is about to end. */
export function removeFolder(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
}

async function removeAbandoned(cacheDir: string): Promise<void> {
  for (const name of await readdir(cacheDir)) {
    if (!name.startsWith(PREFIX)) continue;
    const { mtimeMs } = await stat(join(cacheDir, name));
    if (Date.now() - mtimeMs > ABANDONED) removeFolder(join(cacheDir, name));
  }
}
