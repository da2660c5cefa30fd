import { ServiceError } from '../errors';

/** Every value that was sent for a header, in order; the name in lower case. Empty: the header is absent. */
export type HeaderValues = (name: string) => readonly string[];

const HINT = { hint: 'Send the key in the X-API-KEY header.' };

/**
 * The key that a request presents (docs/keys.md): `X-API-KEY` alone where that header is there at all, otherwise
 * `Authorization: Bearer`. Throws `unauthenticated` for a key that is missing, empty, repeated or malformed.
 */
export function presentedKey(header: HeaderValues): string {
  const apiKey = header('x-api-key');
  if (apiKey.length > 0) return single(apiKey, 'X-API-KEY');
  const authorization = header('authorization');
  if (authorization.length === 0) {
    throw new ServiceError('unauthenticated', 'This request needs a key.', HINT);
  }
  const match = /^Bearer[ \t]+(\S+)$/i.exec(single(authorization, 'Authorization'));
  if (match?.[1] === undefined) {
    throw new ServiceError('unauthenticated', 'The Authorization header must be "Bearer" and a key.', HINT);
  }
  return match[1];
}

/** Whether a request presents a key at all, well-formed or not. */
export function presentsKey(header: HeaderValues): boolean {
  return header('x-api-key').length > 0 || header('authorization').length > 0;
}

function single(values: readonly string[], header: string): string {
  const value = (values[0] ?? '').trim();
  if (values.length > 1) throw new ServiceError('unauthenticated', `The ${header} header is repeated.`, HINT);
  if (value === '') throw new ServiceError('unauthenticated', `The ${header} header is empty.`, HINT);
  return value;
}
