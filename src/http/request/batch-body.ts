import type { IncomingMessage } from 'node:http';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';

import getRawBody from 'raw-body';

import { ServiceError } from '../../errors';
import type { RequestHeaders } from './headers';

const unpack = promisify(gunzip);

/** Bytes that a body may take once it is read. @param longest bytes of a body, unpacked */
export function batchRoom({ headers }: Pick<IncomingMessage, 'headers'>, longest: number): number {
  const length = headers['content-encoding'] === undefined ? Number(headers['content-length'] ?? longest) : longest;
  return Math.min(length, longest);
}

/**
 * The body of a request that brings a batch of logs: JSON, as it is or with gzip. Without a type it counts as JSON.
 *
 * @param longest bytes, unpacked
 * @throws ServiceError payloadTooLarge, unsupportedMediaType, invalidParameter
 */
export async function readBatchBody(
  request: IncomingMessage,
  headers: RequestHeaders,
  longest: number,
): Promise<Buffer> {
  const packed = isPacked(headers);
  const type = headers.list('content-type')?.split(';', 1)[0]?.trim().toLowerCase() ?? 'application/json';
  if (type !== 'application/json') {
    throw new ServiceError('unsupportedMediaType', 'A batch of logs must be JSON, in UTF-8.', {
      allowed: ['application/json'],
    });
  }
  const body = await collect(request, longest);
  return packed ? unpacked(body, longest) : body;
}

function isPacked(headers: RequestHeaders): boolean {
  const coding = headers.list('content-encoding')?.trim().toLowerCase() ?? 'identity';
  if (coding === 'identity' || coding === 'gzip') return coding === 'gzip';
  throw new ServiceError('unsupportedMediaType', 'This content coding is not read.', { allowed: ['gzip', 'identity'] });
}

async function collect(request: IncomingMessage, longest: number): Promise<Buffer> {
  try {
    return await getRawBody(request, { limit: longest, length: request.headers['content-length'] ?? null });
  } catch (cause) {
    if (cause instanceof Error && 'type' in cause && cause.type === 'entity.too.large') throw tooLarge(longest);
    throw new ServiceError('invalidParameter', 'The body broke off.', {}, { cause });
  }
}

async function unpacked(body: Buffer, longest: number): Promise<Buffer> {
  try {
    return await unpack(body, { maxOutputLength: longest });
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
