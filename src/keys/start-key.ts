import { access, chmod, mkdir, readFile, unlink } from 'node:fs/promises';
import path from 'node:path';

import { systemCode } from '../errors';
import { newSecretKey } from './key';
import { createFile } from '../files';

/** Where the embedded engine keeps the key that it makes. */
export const START_KEY_FILE = '.data/key';

/** Whether there is a start key. */
export async function hasStartKey(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    (error: unknown) => systemCode(error) !== 'ENOENT' && systemCode(error) !== 'ENOTDIR',
  );
}

/** Removes the start key: a running service takes that up. @returns false: there is none */
export async function revokeStartKey(file: string): Promise<boolean> {
  if (!(await hasStartKey(file))) return false;
  await unlink(file);
  return true;
}

/**
 * The key that the embedded engine makes at its first start, and finds again at the next ones. Mode 0600.
 *
 * Two processes that start at once get the same key.
 */
export async function ensureStartKey(file: string): Promise<{ secret: string; created: boolean }> {
  const existing = await readStartKey(file);
  if (existing !== null) return { secret: existing, created: false };
  await mkdir(path.dirname(file), { recursive: true });
  const secret = newSecretKey();
  if (await createFile(file, `${secret}\n`)) return { secret, created: true };
  const others = await readStartKey(file);
  if (others === null) throw new Error(`${file} cannot be created`);
  return { secret: others, created: false };
}

/** null: the file does not exist yet. */
export async function readStartKey(file: string): Promise<string | null> {
  let secret: string;
  try {
    secret = (await readFile(file, 'utf8')).trim();
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return null;
    throw error;
  }
  if (!/^[\x21-\x7e]{16,}$/.test(secret)) throw new Error(`${file} holds no key: remove it, and a new one is created`);
  await chmod(file, 0o600).catch((error: unknown) => {
    // A file of another owner, or a file system without modes: the key serves all the same.
    if (!['EPERM', 'EROFS', 'ENOTSUP'].includes(systemCode(error) ?? '')) throw error;
  });
  return secret;
}
