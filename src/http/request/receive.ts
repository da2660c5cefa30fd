import { ServiceError } from '../../errors';
import type { Exchange } from '../exchange';

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
