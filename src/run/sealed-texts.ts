import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { Secret } from '../config';
import { createFile, replaceFile } from '@logquay/duckdb-engine/files';

const CIPHER = 'aes-256-gcm';
const IV = 12;
const TAG = 16;

/**
 * Texts that callers carry for the service: sealed, as they may say what redaction or pins hide, and bound to what they are
 * for. One is valid where the same secret is.
 */
export class SealedTexts {
  readonly #key: Buffer;

  /** @param secret null: one of this process */
  constructor(secret: Secret | null) {
    this.#key = secret === null ? randomBytes(32) : createHash('sha256').update(secret.reveal()).digest();
  }

  /** @param purpose what the text is good for, and for nothing else @returns text for a URL or a header */
  seal(text: string, purpose: string): string {
    const iv = randomBytes(IV);
    const cipher = createCipheriv(CIPHER, this.#key, iv).setAAD(Buffer.from(purpose));
    return Buffer.concat([iv, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]).toString('base64url');
  }

  /** null: it was sealed for another purpose, by another service, or by nobody. */
  open(token: string, purpose: string): string | null {
    const bytes = Buffer.from(token, 'base64url');
    if (bytes.length < IV + TAG) return null;
    try {
      const decipher = createDecipheriv(CIPHER, this.#key, bytes.subarray(0, IV), { authTagLength: TAG });
      decipher.setAAD(Buffer.from(purpose)).setAuthTag(bytes.subarray(-TAG));
      return Buffer.concat([decipher.update(bytes.subarray(IV, -TAG)), decipher.final()]).toString();
    } catch {
      return null;
    }
  }
}

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
