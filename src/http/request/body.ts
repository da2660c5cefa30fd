import type { IncomingMessage } from 'node:http';

import { ServiceError } from '../../errors';
import type { RequestHeaders } from './headers';

/** Longest body, in bytes (docs/errors.md). */
const LONGEST_BODY = 256 * 1024;

const BODY_TYPES = ['application/json', 'application/x-www-form-urlencoded'] as const;

export interface Body {
  readonly type: (typeof BODY_TYPES)[number];
  readonly text: string;
}

/**
 * The body of a request; null where there is none, whatever its Content-Type says.
 *
 * @throws ServiceError payloadTooLarge, unsupportedMediaType; invalidParameter for bytes that are not UTF-8 or a body that
 *   breaks off
 */
export async function readBody(request: IncomingMessage, headers: RequestHeaders): Promise<Body | null> {
  // Refused by its own word before a byte is read; Node has checked that the word is a number.
  if (Number(headers.values('content-length')[0] ?? 0) > LONGEST_BODY) throw tooLarge();
  const bytes = await collect(request);
  if (bytes.length === 0) return null;
  const type = bodyType(headers);
  try {
    return { type, text: new TextDecoder('utf-8', { fatal: true }).decode(bytes) };
  } catch (cause) {
    throw new ServiceError('invalidParameter', 'The body is not UTF-8.', {}, { cause });
  }
}

function collect(request: IncomingMessage): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let length = 0;
    request.on('data', (chunk: Buffer) => {
      length += chunk.length;
      if (length > LONGEST_BODY) {
        chunks.length = 0;
        reject(tooLarge());
      } else {
        chunks.push(chunk);
      }
    });
    request.on('end', () => {
      resolve(Buffer.concat(chunks));
    });
    request.on('error', (cause) => {
      reject(new ServiceError('invalidParameter', 'The body broke off.', {}, { cause }));
    });
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
