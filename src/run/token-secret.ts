import { randomBytes } from 'node:crypto';
import { link, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { Secret } from '../config';

const FILE = 'token-secret';
const SHORTEST = 32;

/**
 * The secret that CACHE_DIR has, for where TOKEN_SECRET is not set: what was sealed before a restart is good after it, as are
 * the positions of the data folder.
 *
 * @returns null: the folder cannot be used, and each process has a secret of its own
 */
export async function secretOf(cacheDir: string): Promise<Secret | null> {
  const path = join(cacheDir, FILE);
  const whole = join(cacheDir, `${FILE}.${randomBytes(8).toString('hex')}`);
  try {
    await mkdir(cacheDir, { recursive: true });
    const found = await secretIn(path);
    if (found !== null) return found;
    await writeFile(whole, randomBytes(SHORTEST).toString('base64url'), { flag: 'wx', mode: 0o600 });
    try {
      // Of two processes that begin at once one gives its file the name.
      await link(whole, path).catch(() => undefined);
      // A process that was killed, or a full disk, may have left a part of one.
      if ((await secretIn(path)) === null) await rename(whole, path);
    } finally {
      await rm(whole, { force: true });
    }
    return await secretIn(path);
  } catch {
    return null;
  }
}

/** null: there is none, or none that is whole. */
async function secretIn(path: string): Promise<Secret | null> {
  const text = await readFile(path, 'utf8').catch(() => '');
  return text.length >= SHORTEST ? new Secret(text) : null;
}
