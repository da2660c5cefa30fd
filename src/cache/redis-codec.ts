/** An entry as the fields of a Redis hash (docs/cache.md). What does not read as one, read back, is none. */
import { createHash } from 'node:crypto';
import { z } from 'zod';

import { EncodedResponse, type Forms } from '../rendering/encoded-response';
import { CONTENT_TYPES, type Representation } from '../rendering/representation';
import type { Entry } from './entry';

/** Part of every key: another form of entries, leases or the book of usage takes another number. */
export const FORMAT = 1;

/** In the order in which `decode` takes their values; an absent compressed form is an empty value. */
export const FIELDS = ['fence', 'question', 'meta', 'body', 'gzip', 'br'] as const;

const metaForm = z.strictObject({
  made: z.number().int().nonnegative(),
  lifetime: z.number().nonnegative(),
  representation: z.custom<Representation>((value) => typeof value === 'string' && Object.hasOwn(CONTENT_TYPES, value)),
  truncated: z.boolean(),
  /** A hash of the body. */
  etag: z.string(),
  /** A hash of the compressed forms. */
  packed: z.string(),
});

/** Every field but the fence, names and values in turn. */
export function encode({ question, response, made, lifetime }: Entry, forms: Forms): (string | Buffer)[] {
  const { representation, truncated, etag } = response;
  const gzip = forms.gzip ?? Buffer.alloc(0);
  const br = forms.br ?? Buffer.alloc(0);
  const meta: z.infer<typeof metaForm> = { made, lifetime, representation, truncated, etag, packed: hashOf(gzip, br) };
  return ['question', question, 'meta', JSON.stringify(meta), 'body', forms.bytes, 'gzip', gzip, 'br', br];
}

/**
 * @param values of `FIELDS`
 * @returns null: there is none; `unreadable`: damaged, of another format, or the answer to another question
 */
export function decode(values: readonly (Buffer | null)[], question: string): Entry | 'unreadable' | null {
  if (values.every((value) => value === null)) return null;
  const [fenceText, asked, metaText, bytes, gzip, br] = values;
  if (!fenceText || !asked || !metaText || !bytes || !gzip || !br) return 'unreadable';
  if (asked.toString() !== question) return 'unreadable';
  const fence = readFence(fenceText.toString('latin1'));
  const meta = readMeta(metaText);
  if (fence === null || meta === null || hashOf(gzip, br) !== meta.packed) return 'unreadable';
  const { made, lifetime, representation, truncated, etag } = meta;
  const response = EncodedResponse.of({ bytes, gzip: orNull(gzip), br: orNull(br) }, representation, truncated);
  // Its etag is made of the bytes anyway.
  if (response.etag !== etag) return 'unreadable';
  return { question, response, made, lifetime, fence };
}

/** null: it is none. */
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
  // The lengths keep bytes of one form from being taken for the other's.
  return createHash('sha256').update(`${gzip.length} `).update(gzip).update(br).digest('base64url');
}

function orNull(bytes: Buffer): Buffer | null {
  return bytes.length === 0 ? null : bytes;
}
