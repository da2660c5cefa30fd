import type { Header, Reference } from './schema';

/** Headers of answers that a program may look at; those of the transport, of CORS and of security need no telling. */
export const RESPONSE_HEADERS = {
  'X-Request-Id': {
    description: "The request's own, where it sent a sane one, or a new one; errors and the log name it too.",
    schema: { type: 'string', pattern: '^[A-Za-z0-9._:+/=@-]{1,128}$' },
    example: '4e0c6f0e-6a5e-4f0e-9a0f-0d9a3f1f2b11',
  },
  'Server-Timing': {
    description: 'Milliseconds of each step, and in total; not for keys with pinned parameters.',
    schema: { type: 'string' },
    example: 'read;dur=0.1, engine;dur=11.5, total;dur=12.4',
  },
  'Cache-Control': {
    description:
      "On results `private, max-age=` the cached result's whole lifetime, or `private, no-cache` where nothing is cached; " +
      '`private, no-cache` on the catalogue and this description, `no-store` on errors and probes.',
    schema: { type: 'string' },
    example: 'private, max-age=900',
  },
  Age: {
    description: 'Age of the cached result in seconds; absent where nothing is cached.',
    schema: { type: 'integer', minimum: 0 },
    example: 12,
  },
  'Cache-Status': {
    description: 'Where the result came from (RFC 9211).',
    schema: { type: 'string' },
    example: 'logquay; hit; ttl=888',
  },
  ETag: {
    description: 'Weak: of the uncompressed bytes. Send it back in `If-None-Match` and get 304 while it holds.',
    schema: { type: 'string', pattern: '^W/"[^"]+"$' },
    example: 'W/"Y8SWceTA-vYZ7jl8mS5F5MQR3OVaTvlBAGewH8nJOg8"',
  },
  Vary: {
    description: 'What the answer depends on.',
    schema: { type: 'string' },
    example: 'Accept, Accept-Encoding, X-API-KEY, Authorization, LF-ENDPOINT-REDACT-PII',
  },
  'Content-Disposition': {
    description: 'Of an export: the name of a file for it.',
    schema: { type: 'string' },
    example: 'attachment; filename="logs.all-20261122T120000Z.ndjson"',
  },
  'Content-Encoding': {
    description: 'The compression, where the client takes one and it pays.',
    schema: { type: 'string', enum: ['br', 'gzip'] },
    example: 'br',
  },
  'X-Result-Truncated': {
    description: "There where the endpoint's maximum of rows cut the result.",
    schema: { type: 'string', const: 'true' },
    example: 'true',
  },
  'X-Default-Parameters': {
    description: 'Starts that the request did not give, and that therefore lie a fixed time before now.',
    schema: { type: 'string' },
    example: 'iso_timestamp_start=2026-11-16T06:00:00.000000Z',
  },
  'X-Unknown-Parameters': {
    description:
      'Parameters that the endpoint does not know, and ignored: percent-encoded names, ten and 256 bytes at most.',
    schema: { type: 'string' },
    example: 'projct',
  },
  'X-Query-Warnings': {
    description: 'What `lql` was read as and may not have been meant as, and how to write that: plain words.',
    schema: { type: 'string' },
    example: 'LQL has no OR: it searches messages for the word.',
  },
  'X-Query-Bytes-Processed': {
    description: 'Bytes that BigQuery read.',
    schema: { type: 'string', pattern: '^\\d+$' },
    example: '10485760',
  },
  'X-Query-Bytes-Billed': {
    description: 'Bytes that BigQuery billed.',
    schema: { type: 'string', pattern: '^\\d+$' },
    example: '10485760',
  },
  'X-Error-Status': {
    description:
      'The status of an error that is answered with 200, where `QUERY_ERRORS=logflare` is set: the body is then `{"error": "text"}`.',
    schema: { type: 'integer', enum: [400, 403] },
    example: 400,
  },
  RateLimit: {
    description: 'What is left of the rate: how many requests, and seconds until it is whole again.',
    schema: { type: 'string' },
  },
  'RateLimit-Policy': {
    description: 'The rates that bind this key.',
    schema: { type: 'string' },
  },
  Allow: {
    description: 'The methods of the path.',
    schema: { type: 'string' },
    example: 'GET, HEAD, POST, OPTIONS',
  },
  'WWW-Authenticate': {
    description: 'How to send the key.',
    schema: { type: 'string' },
    example: 'Bearer realm="logquay"',
  },
  'Retry-After': {
    description: 'Seconds to wait before the request is sent again.',
    schema: { type: 'integer', minimum: 1 },
    example: 1,
  },
} as const satisfies Readonly<Record<string, Header>>;

export type ResponseHeader = keyof typeof RESPONSE_HEADERS;

/** The headers of every answer. */
export const ON_EVERY_ANSWER: readonly ResponseHeader[] = ['X-Request-Id', 'Server-Timing', 'Cache-Control'];

/** References to the headers of a response, for the components' own. */
export function headerReferences(names: readonly ResponseHeader[]): Record<string, Reference> {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}
