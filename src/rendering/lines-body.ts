/** Bodies made of lines of JSON as they are: nothing in them is read, and what has room around it is not copied either. */
import { createHash } from 'node:crypto';

import { yieldToEventLoop } from '@logquay/duckdb-engine/concurrency';
import { around, type Lines } from '@logquay/duckdb-engine/contract';
import { EncodedResponse } from './encoded-response';
import { closingOf, OPENING, tooLarge } from './render';

const NEWLINE = '\n'.charCodeAt(0);
const COMMA = ','.charCodeAt(0);

/**
 * Encodes a result in a format that keeps its rows' bytes: they may become the body's, and are no lines any more then.
 *
 * @throws ServiceError resourcesExceeded when they are more than `limit`
 */
export async function linesBody(
  { parts }: Pick<Lines, 'parts'>,
  representation: 'application/json' | 'application/x-ndjson',
  truncated: boolean,
  limit: number,
): Promise<EncodedResponse> {
  const isList = representation === 'application/json';
  const [opening, closing] = [isList ? OPENING : '', closingOf(representation)];
  const size = parts.reduce((sum, part) => sum + part.length, 0);
  // Nothing separates the last row from the end of a list.
  const surplus = isList && size > 0 ? 1 : 0;
  const length = opening.length + size - surplus + closing.length;
  if (length > limit) throw tooLarge(limit);
  const [only] = parts;
  const before = opening.length;
  const inPlace = parts.length === 1 ? around(only!, before, length - before - size) : null;
  const bytes = inPlace ?? Buffer.allocUnsafeSlow(length);
  const hash = createHash('sha256');
  bytes.write(opening);
  let at = opening.length;
  hash.update(opening);
  for (const [i, part] of parts.entries()) {
    if (i > 0) await yieldToEventLoop();
    const own = bytes.subarray(at, at + part.length - (i === parts.length - 1 ? surplus : 0));
    if (inPlace === null) own.set(part.subarray(0, own.length));
    if (isList) separate(own);
    hash.update(own);
    at += own.length;
  }
  bytes.write(closing, at);
  hash.update(closing);
  return new EncodedResponse(bytes, representation, truncated, hash.digest('base64url'));
}

/** Rows of a list have commas between them. */
function separate(lines: Buffer): void {
  for (let end = lines.indexOf(NEWLINE); end >= 0; end = lines.indexOf(NEWLINE, end + 1)) lines[end] = COMMA;
}
