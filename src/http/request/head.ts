import type { IncomingMessage } from 'node:http';

import { ServiceError } from '../../errors';
import type { RequestHeaders } from './headers';

/** Most headers, whatever their length. */
export const MOST_HEADERS = 256;

/** Longest URL (docs/http.md) and longest headers beside it, in bytes. */
export const LONGEST_URL = 96 * 1024;
export const LONGEST_HEADERS = 32 * 1024;

/**
 * Checks request line and headers. URL and headers have limits and errors of their own; the parser's limit
 * (http-server.ts) is above their sum.
 *
 * @throws ServiceError uriTooLong, headersTooLarge, invalidParameter
 */
export function checkHead(request: IncomingMessage, headers: RequestHeaders): void {
  if (headers.count > MOST_HEADERS)
    throw new ServiceError('headersTooLarge', `There are more than ${String(MOST_HEADERS)} headers.`);
  if ((request.url ?? '').length > LONGEST_URL) throw uriTooLong();
  if (headers.size > LONGEST_HEADERS) throw headersTooLarge();
  // RFC 9112, 3.2: one Host with HTTP/1.1, no more.
  const hosts = headers.values('host').length;
  if (hosts > 1 || (hosts === 0 && request.httpVersion === '1.1')) {
    throw new ServiceError('invalidParameter', 'The request must have one Host header.');
  }
}

export function uriTooLong(): ServiceError {
  return new ServiceError('uriTooLong', `The URL is longer than ${String(LONGEST_URL)} bytes.`, {
    hint: 'Send the parameters in the body of a POST.',
  });
}

export function headersTooLarge(): ServiceError {
  return new ServiceError('headersTooLarge', `The headers are longer than ${String(LONGEST_HEADERS)} bytes.`);
}
