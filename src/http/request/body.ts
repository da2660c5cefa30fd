import type { IncomingMessage } from 'node:http';

import { ServiceError } from '../../errors';
import type { Exchange } from '../exchange';
import type { RequestHeaders } from './headers';
import { receive } from './receive';

/** Longest body, in bytes (docs/errors.md). */
const LONGEST_BODY = 256 * 1024;

const BODY_TYPES = ['application/json', 'application/x-www-form-urlencoded'] as const;

export interface Body {
  readonly type: (typeof BODY_TYPES)[number];
  readonly text: string;
}

/** Whether a request has a body, by its framing (RFC 9112, 6.3); it may still be empty. */
export function hasBody({ headers }: Pick<IncomingMessage, 'headers'>): boolean {
  return headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0';
}

/**
 * The body of a request; null: it is empty, whatever its Content-Type says.
 *
 * @throws ServiceError as `receive`, unsupportedMediaType; invalidParameter for bytes that are not UTF-8, or a body of a GET that is
 *   not JSON
 */
export async function readBody(exchange: Exchange): Promise<Body | null> {
  const { request, headers } = exchange;
  const bytes = await receive(exchange, LONGEST_BODY, tooLarge);
  if (bytes.length === 0) return null;
  const type = request.method === 'POST' ? bodyType(headers) : jsonOnly(headers);
  try {
    return { type, text: new TextDecoder('utf-8', { fatal: true }).decode(bytes) };
  } catch (cause) {
    throw new ServiceError('invalidParameter', 'The body is not UTF-8.', {}, { cause });
  }
}

/** Clients of Logflare send JSON with GET; any other body of a GET has no meaning (RFC 9110, 9.3.1). */
function jsonOnly(headers: RequestHeaders): 'application/json' {
  try {
    const type = bodyType(headers);
    if (type === 'application/json') return type;
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
  }
  throw new ServiceError('invalidParameter', 'A body of a GET must be a JSON object, in UTF-8.', {
    hint: 'Send a form with POST.',
  });
}

function bodyType(headers: RequestHeaders): Body['type'] {
  const coding = headers.list('content-encoding')?.trim().toLowerCase() ?? 'identity';
  if (coding !== 'identity') {
    throw new ServiceError('unsupportedMediaType', 'A compressed body is not read.', { allowed: ['identity'] });
  }
  const given = headers.list('content-type') ?? '';
  const type = BODY_TYPES.find((one) => one === given.split(';', 1)[0]?.trim().toLowerCase());
  const charset = /;\s*charset\s*=\s*"?([^";\s]*)/i.exec(given)?.[1]?.toLowerCase() ?? 'utf-8';
  if (type !== undefined && (charset === 'utf-8' || charset === 'utf8' || charset === 'us-ascii')) return type;
  throw new ServiceError('unsupportedMediaType', 'The body must be a JSON object or a form, in UTF-8.', {
    allowed: BODY_TYPES,
  });
}

function tooLarge(): ServiceError {
  return new ServiceError('payloadTooLarge', `The body is longer than ${String(LONGEST_BODY)} bytes.`);
}
