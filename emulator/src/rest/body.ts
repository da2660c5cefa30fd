import { type IncomingMessage } from 'node:http';
import { gunzipSync } from 'node:zlib';
import { parseExact } from '../exact-json';
import { BigQueryError, invalid } from '../query/error';

/** Bytes of a request, and of an upload in several. */
export const MOST_BYTES = 64 * 1024 * 1024;

/** The bytes of a request's body. Rejects with `BigQueryError`. */
export async function readBytes(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MOST_BYTES)
      throw new BigQueryError('requestTooLarge', 'Request payload size exceeds the limit', {}, 413);
    chunks.push(chunk);
  }
  const raw = Buffer.concat(chunks);
  return request.headers['content-encoding'] === 'gzip' ? gunzipSync(raw) : raw;
}

/** The JSON object of a body; `{}` for none. @throws BigQueryError */
export function parseBody(raw: Buffer): Readonly<Record<string, unknown>> {
  if (raw.length === 0) return {};
  let json: unknown;
  try {
    json = parseExact(raw.toString('utf8'));
  } catch {
    throw new BigQueryError('parseError', 'Parse Error');
  }
  if (typeof json !== 'object' || json === null || Array.isArray(json))
    throw invalid('The request body is not a JSON object');
  return json as Record<string, unknown>;
}
