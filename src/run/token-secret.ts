import { randomBytes } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
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
  try {
    await mkdir(cacheDir, { recursive: true });
    // Of two processes that begin at once one writes it.
    const text = randomBytes(SHORTEST).toString('base64url');
    await writeFile(path, text, { flag: 'wx', mode: 0o600 }).catch(() => undefined);
    const found = await readFile(path, 'utf8');
    return found.length >= SHORTEST ? new Secret(found) : null;
  } catch {
    return null;
  }
}
