import Negotiator from 'negotiator';
import type { Encoding, EncodedResponse } from '../../rendering/encoded-response';
import type { IncomingMessage } from 'node:http';
import type { RequestHeaders } from '../request/headers';
import type { HttpResponse } from './response';

/** What negotiator's own types leave out: whom to prefer among codings of one weight. */
interface Preferring {
  encodings(available: string[], options: { preferred: string[] }): string[];
}

/**
 * The coding that `Accept-Encoding` prefers (RFC 9110, 12.5.3); of equals, the one that packs better. null: as it is,
 * which is also the answer to a client that refuses everything.
 */
export function chooseCoding(accepted: string | undefined): Encoding | null {
  if (accepted === undefined) return null;
  const known = CHOSEN.get(accepted);
  if (known !== undefined) return known.coding;
  const coding = negotiate(accepted);
  if (accepted.length > LONGEST) return coding;
  if (CHOSEN.size >= MOST) CHOSEN.clear();
  CHOSEN.set(accepted, { coding });
  return coding;
}

/** Clients send one of a few texts. */
const CHOSEN = new Map<string, { readonly coding: Encoding | null }>();
const MOST = 100;
const LONGEST = 256;

/** Codings of one header that are looked at. */
const MOST_LISTED = 100;

function negotiate(accepted: string): Encoding | null {
  const listed = accepted.split(',', MOST_LISTED).join();
  const negotiator: Preferring = new Negotiator({ headers: { 'accept-encoding': listed } });
  const [first] = negotiator.encodings(['br', 'gzip', 'identity'], { preferred: ['br', 'gzip'] });
  return first === 'br' || first === 'gzip' ? first : null;
}

/** One entity tag of a list, with the comma behind it (RFC 9110, 8.8.3). */
const TAG = /\s*(?:(?:W\/)?("[\x21\x23-\x7e\x80-\xff]*")\s*)?(?:,|$)/y;

/**
 * Whether `If-None-Match` names the tag, compared weakly (RFC 9110, 13.1.2): the client has this already.
 *
 * @param header undefined: absent; anything that is not a list of tags matches nothing
 */
function clientHas(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  if (header.trim() === '*') return true;
  const opaque = etag.replace(/^W\//, '');
  TAG.lastIndex = 0;
  while (TAG.lastIndex < header.length) {
    const match = TAG.exec(header);
    if (match === null) return false;
    if (match[1] === opaque) return true;
  }
  return false;
}

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
