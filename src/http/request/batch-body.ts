import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';

import { ServiceError } from '../../errors';
import type { Exchange } from '../exchange';
import type { RequestHeaders } from './headers';
import { noRoom, receive } from './receive';

const unpack = promisify(gunzip);

/**
 * The body of a request that brings a batch of logs: JSON, as it is or with gzip. Without a type it counts as JSON.
 *
 * @param longest bytes, unpacked
 * @throws ServiceError as `receive`, unsupportedMediaType
 */
export async function readBatchBody(exchange: Exchange, longest: number): Promise<Buffer> {
  const { headers } = exchange;
  const packed = isPacked(headers);
  const type = headers.list('content-type')?.split(';', 1)[0]?.trim().toLowerCase() ?? 'application/json';
  if (type !== 'application/json') {
    throw new ServiceError('unsupportedMediaType', 'A batch of logs must be JSON, in UTF-8.', {
      allowed: ['application/json'],
    });
  }
  const body = await receive(exchange, longest, () => tooLarge(longest));
  return packed ? unpacked(exchange, body, longest) : body;
}

function isPacked(headers: RequestHeaders): boolean {
  const coding = headers.list('content-encoding')?.trim().toLowerCase() ?? 'identity';
  if (coding === 'identity' || coding === 'gzip') return coding === 'gzip';
  throw new ServiceError('unsupportedMediaType', 'This content coding is not read.', { allowed: ['gzip', 'identity'] });
}

async function unpacked(exchange: Exchange, packed: Buffer, longest: number): Promise<Buffer> {
  const holding = exchange.holdBody();
  // How long it gets is not known before.
  if (!holding.take(longest, packed)) throw noRoom();
  try {
    const body = await unpack(packed, { maxOutputLength: longest });
    holding.take(body.length);
    holding.give(packed);
    return body;
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && cause.code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge(longest);
    throw new ServiceError('invalidParameter', 'The body is not gzip.', {}, { cause });
  }
}

function tooLarge(longest: number): ServiceError {
  return new ServiceError('payloadTooLarge', `A batch may have ${String(longest)} bytes.`, {
    hint: 'Send smaller batches, or raise COLLECT_MAX_BODY.',
  });
}
