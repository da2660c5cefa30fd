import type { IncomingMessage } from 'node:http';

import { ServiceError } from '../../errors';

/** The headers of a request as received: Node's own object joins or drops repeated ones. */
export class RequestHeaders {
  /** @param raw a flat list of names and values, as `IncomingMessage.rawHeaders` */
  constructor(private readonly raw: readonly string[]) {}

  /** Every value of a header, in order. @param name in lower case */
  values(name: string): string[] {
    const found: string[] = [];
    for (let i = 0; i + 1 < this.raw.length; i += 2) {
      const given = this.raw[i] ?? '';
      if (given.length === name.length && given.toLowerCase() === name) found.push(this.raw[i + 1] ?? '');
    }
    return found;
  }

  /** The values of a list header, joined (RFC 9110, 5.3); undefined: it is absent. @param name in lower case */
  list(name: string): string | undefined {
    const values = this.values(name);
    return values.length === 0 ? undefined : values.join(', ');
  }

  /** Headers, each repetition counted. */
  get count(): number {
    return this.raw.length / 2;
  }

  /** Length of all names and values, in bytes. */
  get size(): number {
    return this.raw.reduce((sum, text) => sum + text.length, 0);
  }
}

/** Most headers, whatever their length. */
export const MOST_HEADERS = 256;

/** Longest URL (docs/querying.md) and longest headers beside it, in bytes. */
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
