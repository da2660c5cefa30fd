import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';

import type { Secret } from '../config';
import { ServiceError } from '../errors';
import type { PagePosition } from './page-query';

const CIPHER = 'aes-256-gcm';
const IV = 12;
const TAG = 16;

/**
 * Positions of pages as opaque texts: sealed, as they hold values that redaction may hide, and bound to what they are for.
 * A token is valid where the same secret is.
 */
export class PageTokens {
  readonly #key: Buffer;

  /** @param secret null: one of this process */
  constructor(secret: Secret | null) {
    this.#key = secret === null ? randomBytes(32) : createHash('sha256').update(secret.reveal()).digest();
  }

  /** @param purpose what the token is good for, and for nothing else */
  seal(position: PagePosition, purpose: string): string {
    const iv = randomBytes(IV);
    const cipher = createCipheriv(CIPHER, this.#key, iv).setAAD(Buffer.from(purpose));
    const sealed = [cipher.update(JSON.stringify(position), 'utf8'), cipher.final()];
    return Buffer.concat([iv, ...sealed, cipher.getAuthTag()]).toString('base64url');
  }

  /** @throws ServiceError invalidParameter for a token of another request, key or service, or of a changed endpoint */
  open(token: string, purpose: string): PagePosition {
    const bytes = Buffer.from(token, 'base64url');
    try {
      const decipher = createDecipheriv(CIPHER, this.#key, bytes.subarray(0, IV), { authTagLength: TAG });
      decipher.setAAD(Buffer.from(purpose)).setAuthTag(bytes.subarray(-TAG));
      const text = Buffer.concat([decipher.update(bytes.subarray(IV, -TAG)), decipher.final()]).toString();
      return JSON.parse(text) as PagePosition;
    } catch (cause) {
      const message =
        'The page_token is not one of this request: other parameters, another key, or an endpoint that has changed.';
      throw new ServiceError(
        'invalidParameter',
        message,
        { parameter: 'page_token', hint: 'Begin without it.' },
        { cause },
      );
    }
  }
}
