import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';

import type { Secret } from '../config';

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
