import { type IncomingMessage } from 'node:http';
import { gunzipSync } from 'node:zlib';
import { parseExact } from '../exact-json';
import { BigQueryError, invalid } from '../query/error';

const MOST_BYTES = 64 * 1024 * 1024;

/** The JSON object of a request's body; `{}` for none. Rejects with `BigQueryError`. */
export async function readBody(request: IncomingMessage): Promise<Readonly<Record<string, unknown>>> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MOST_BYTES)
      throw new BigQueryError('requestTooLarge', 'Request payload size exceeds the limit', {}, 413);
    chunks.push(chunk);
  }
  if (bytes === 0) return {};
  const raw = Buffer.concat(chunks);
  const content = request.headers['content-encoding'] === 'gzip' ? gunzipSync(raw) : raw;
  let json: unknown;
  try {
    json = parseExact(content.toString('utf8'));
  } catch {
    throw new BigQueryError('parseError', 'Parse Error');
  }
  if (typeof json !== 'object' || json === null || Array.isArray(json))
    throw invalid('The request body is not a JSON object');
  return json as Record<string, unknown>;
}
