import type { IncomingMessage } from 'node:http';

import type { EncodedResponse } from '../../rendering/encoded-response';
import type { HttpResponse } from './response';
import { clientHas } from './if-none-match';
import { chooseCoding } from './content-coding';
import type { RequestHeaders } from '../request/headers';

/** A response whose validator may match `If-None-Match`. */
export interface Validated {
  readonly response: EncodedResponse;
  readonly contentType: string;
  /** A flat header list: everything that a 304 carries too. */
  readonly headers: readonly string[];
}

/**
 * Answers a conditional request: 304 if the client has the representation, else 200, compressed if the client accepts it.
 *
 * A 304 has the headers of the 200, as a browser updates what it stored by them (RFC 9111, 3.2), but for those that describe
 * the body (RFC 9110, 15.4.5).
 */
export async function conditionalResponse(
  { response, contentType, headers }: Validated,
  { method }: Pick<IncomingMessage, 'method'>,
  request: RequestHeaders,
): Promise<HttpResponse> {
  const common = [...headers, 'ETag', response.etag];
  // A POST selects no representation that a client could hold (RFC 9110, 13.1).
  if (method !== 'POST' && clientHas(request.list('if-none-match'), response.etag)) {
    return { status: 304, headers: common, body: null };
  }
  common.push('Content-Type', contentType);
  const coding = chooseCoding(request.list('accept-encoding'));
  const compressed = coding === null ? null : response.encoded(coding);
  if (coding === null || compressed === null) return { status: 200, headers: common, body: response.bytes };
  common.push('Content-Encoding', coding);
  return { status: 200, headers: common, body: await compressed };
}
