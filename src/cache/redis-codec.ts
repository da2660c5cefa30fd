/** Entries as fields of a Redis hash (docs/cache.md). Whatever does not parse as an entry is ignored. */
import { createHash } from 'node:crypto';
import { z } from 'zod';

import { EncodedResponse, type Forms } from '../rendering/encoded-response';
import { CONTENT_TYPES, type Representation } from '../rendering/representation';
import type { Entry } from './entry';

/** Part of every key: changed whenever the format of entries, leases or the usage book changes. */
export const FORMAT = 2;

/** In the order of `decode`'s values; a missing compressed form is an empty value. */
export const FIELDS = ['fence', 'question', 'meta', 'body', 'gzip', 'br'] as const;

const metaForm = z.strictObject({
  createdAt: z.number().int().nonnegative(),
  lifetime: z.number().nonnegative(),
  representation: z.custom<Representation>((value) => typeof value === 'string' && Object.hasOwn(CONTENT_TYPES, value)),
  truncated: z.boolean(),
  /** A hash of the body. */
  etag: z.string(),
  /** A hash of the compressed forms. */
  packed: z.string(),
});

/** All fields but the fence, as a flat list of names and values. */
export function encode({ question, response, createdAt, lifetime }: Entry, forms: Forms): (string | Buffer)[] {
  const { representation, truncated, etag } = response;
  const gzip = forms.gzip ?? Buffer.alloc(0);
  const br = forms.br ?? Buffer.alloc(0);
  const meta: z.infer<typeof metaForm> = {
    createdAt,
    lifetime,
    representation,
    truncated,
    etag,
    packed: hashOf(gzip, br),
  };
  return ['question', question, 'meta', JSON.stringify(meta), 'body', forms.bytes, 'gzip', gzip, 'br', br];
}

/**
 * @param values of `FIELDS`
 * @returns null: no entry; `unreadable`: damaged, of another format, or of another identity
 */
export function decode(values: readonly (Buffer | null)[], question: string): Entry | 'unreadable' | null {
  if (values.every((value) => value === null)) return null;
  const [fenceText, questionText, metaText, bytes, gzip, br] = values;
  if (!fenceText || !questionText || !metaText || !bytes || !gzip || !br) return 'unreadable';
  if (questionText.toString() !== question) return 'unreadable';
  const fence = readFence(fenceText.toString('latin1'));
  const meta = readMeta(metaText);
  if (fence === null || meta === null || hashOf(gzip, br) !== meta.packed) return 'unreadable';
  const { createdAt, lifetime, representation, truncated, etag } = meta;
  const response = EncodedResponse.of({ bytes, gzip: orNull(gzip), br: orNull(br) }, representation, truncated);
  // The etag is a hash of the bytes anyway.
  if (response.etag !== etag) return 'unreadable';
  return { question, response, createdAt, lifetime, fence };
}

/** null: not a valid fence. */
export function readFence(text: string): number | null {
  const fence = /^\d{1,16}$/.test(text) ? Number(text) : NaN;
  return Number.isSafeInteger(fence) ? fence : null;
}

function readMeta(text: Buffer): z.infer<typeof metaForm> | null {
  try {
    return metaForm.safeParse(JSON.parse(text.toString())).data ?? null;
  } catch {
    return null;
  }
}

function hashOf(gzip: Buffer, br: Buffer): string {
  // The length separates the bytes of the two forms.
  return createHash('sha256').update(`${gzip.length} `).update(gzip).update(br).digest('base64url');
}

function orNull(bytes: Buffer): Buffer | null {
  return bytes.length === 0 ? null : bytes;
}
