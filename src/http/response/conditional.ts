import type { IncomingMessage } from 'node:http';

import type { EncodedResponse } from '../../rendering/encoded-response';
import type { HttpResponse } from './response';
import { clientHas } from './if-none-match';
import { chooseCoding } from './content-coding';
import type { RequestHeaders } from '../request/headers';

/** A response with a validator, before it is known whether the client needs its body. */
export interface Validated {
  readonly response: EncodedResponse;
  readonly contentType: string;
  /** Names and values in turn: everything but what describes the body. A 304 carries them all. */
  readonly headers: readonly string[];
}

/**
 * The answer to a conditional request: 304 for a client that has the representation, else 200, compressed where the client
 * takes that.
 *
 * A 304 has the same headers as the 200 would have, security headers included, as a browser updates what it stored by them
 * (RFC 9111, 3.2); only those that describe the body are left out (RFC 9110, 15.4.5).
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
  const packed = coding === null ? null : response.encoded(coding);
  if (coding === null || packed === null) return { status: 200, headers: common, body: response.bytes };
  common.push('Content-Encoding', coding);
  return { status: 200, headers: common, body: await packed };
}
