import type { IncomingMessage } from 'node:http';

import { ServiceError } from '../../errors';
import type { Exchange } from '../exchange';
import type { RequestHeaders } from './headers';

/** Milliseconds between two looks at a body, and bytes that have to come between them, or its end: twice in a row fewer end it. */
const LOOK = 5_000;
const LEAST = 10 * 1024;

/**
 * The body of a request, in one piece of memory that grows as its bytes come, and counts for the request's key until it is answered.
 *
 * @param longest bytes
 * @param tooLong the error for a longer one
 * @throws ServiceError `tooLong`; tooManyConcurrentQueries: there is no room; deadlineExceeded: it comes too slowly; invalidParameter: it
 *   broke off
 */
export function receive(exchange: Exchange, longest: number, tooLong: () => ServiceError): Promise<Buffer> {
  const { request, response } = exchange;
  const declared = Number(request.headers['content-length'] ?? longest);
  if (declared > longest) return Promise.reject(tooLong());
  if (request.destroyed) return Promise.reject(brokeOff());
  const holding = exchange.holdBody();
  let body = Buffer.alloc(0);
  let length = 0;
  const add = (chunk: Buffer): ServiceError | null => {
    const needed = length + chunk.length;
    if (needed > longest) return tooLong();
    if (needed > body.length) {
      const larger = Math.max(needed, Math.min(2 * body.length, declared));
      if (!holding.take(larger - body.length)) return noRoom();
      const grown = Buffer.allocUnsafeSlow(larger);
      body.copy(grown, 0, 0, length);
      body = grown;
    }
    chunk.copy(body, length);
    length = needed;
    return null;
  };
  return new Promise((resolve, reject) => {
    let before = 0;
    let slow = 0;
    const settle = (how: () => void): void => {
      clearInterval(timer);
      request.off('data', onData).off('end', onEnd).off('error', onBroken).off('close', onBroken);
      how();
    };
    const fail = (error: ServiceError): void => settle(() => reject(error));
    const onData = (chunk: Buffer): void => {
      const error = add(chunk);
      if (error === null) return;
      request.pause();
      fail(error);
    };
    const onEnd = (): void => settle(() => resolve(body.subarray(0, length)));
    const onBroken = (): void => fail(brokeOff());
    const timer = setInterval(() => {
      slow = length - before < LEAST ? slow + 1 : 0;
      before = length;
      if (slow < 2) return;
      // What is still to come is not waited for.
      response.shouldKeepAlive = false;
      fail(
        new ServiceError('deadlineExceeded', `A body has to come at ${String((LEAST / LOOK) * 1000)} bytes a second.`),
      );
    }, LOOK);
    request.on('data', onData).on('end', onEnd).on('error', onBroken).on('close', onBroken);
  });
}

export function noRoom(): ServiceError {
  return new ServiceError('tooManyConcurrentQueries', 'Too many bodies of requests of this key are being read.', {
    retryAfter: 1,
  });
}

function brokeOff(): ServiceError {
  return new ServiceError('invalidParameter', 'The body broke off.');
}

/** Longest body, in bytes (docs/querying.md). */
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
