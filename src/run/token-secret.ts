import { randomBytes } from 'node:crypto';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { Secret } from '../config';
import { createFile, replaceFile } from '../files';

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
    const found = await secretIn(path);
    if (found !== null) return found;
    const text = randomBytes(SHORTEST).toString('base64url');
    // A process that was killed, or a full disk, may have left a part of one.
    if (!(await createFile(path, text)) && (await secretIn(path)) === null) await replaceFile(path, text);
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
