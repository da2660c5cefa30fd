import { createHash, hash, randomBytes, timingSafeEqual } from 'node:crypto';

/** A new key: 256 random bits behind a prefix by which secret scanners and people know it. */
export function newSecretKey(): string {
  return `lq_${randomBytes(32).toString('base64url')}`;
}

/** What is kept of a key. Keys are random and long, so one round of SHA-256 is as strong as any slower hash. */
export function hashOf(secret: string): Buffer {
  // In one call where Node has it (20.12): every request has its key hashed.
  if (typeof hash === 'function') return hash('sha256', secret, 'buffer');
  return createHash('sha256').update(secret, 'utf8').digest();
}

/** Compares two hashes in a time that does not tell where they differ. */
export function sameHash(a: Buffer, b: Buffer): boolean {
  return timingSafeEqual(a, b);
}
