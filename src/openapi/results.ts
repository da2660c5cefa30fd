import type { NamedType } from '@logquay/googlesql/types';
import { CONTENT_TYPES } from '../rendering/representation';
import type { DescribedEndpoint, Readers } from './described';
import { exampleText } from './row-schema';
import type { Example, Header, Json, Reference, Response, Schema } from './schema';

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

/**
 * A result of an endpoint, in every form.
 *
 * @param row the name of the schema of its rows
 */
export function resultResponse(endpoint: DescribedEndpoint, row: string, { key, engine }: Readers): Response {
  const { reserved, maxRows, exportRows, ordered, columns, parameters } = endpoint;
  const own: Schema = { $ref: `#/components/schemas/${row}` };
  // A query of the caller's own has columns of its own: typed clients read it as the free row.
  const free = columns !== null && reserved.includes('sql');
  const result: Schema = {
    type: 'object',
    required: ['result'],
    properties: {
      result: { type: 'array', maxItems: maxRows, items: free ? { anyOf: [own, FREE_ROW] } : own },
      ...(ordered
        ? { next_page_token: { type: 'string', description: 'Of a page behind which there are more rows.' } }
        : {}),
    },
  };
  const costHeaders = engine.kind === 'bigquery' && (key === null || key.pins.size === 0) ? BYTES : [];
  const shown = columns ?? SOME_COLUMNS;
  const rows = JSON.parse(exampleText(shown, 'application/json')) as Json;
  return {
    description: describeResult(endpoint),
    headers: headerReferences([
      ...ON_EVERY_ANSWER,
      ...ON_RESULTS,
      ...costHeaders,
      ...(parameters.some(({ defaultLookback }) => defaultLookback !== null) ? ON_DEFAULT_STARTS : []),
      ...(exportRows > 0 ? ON_EXPORTS : []),
    ]),
    content: {
      'application/json': {
        // With dry_run the object is another; a union would take the types from everyone who does not send it.
        schema: columns === null && reserved.includes('dry_run') ? { oneOf: [result, DRY_RUN_REFERENCE] } : result,
        examples: {
          rows: { summary: columns === null ? 'Rows; the columns are those of the query.' : 'Rows.', value: rows },
          none: { $ref: '#/components/examples/none' },
        },
      },
      'application/x-ndjson': {
        schema: { type: 'string', description: 'One row a line, as a JSON object.' },
        example: exampleText(shown, 'application/x-ndjson'),
      },
      'text/csv': {
        schema: {
          type: 'string',
          description: `RFC 4180 with a header line (\`${CONTENT_TYPES['text/csv']}\`); null is an empty field, an empty string \`""\`, records and arrays are JSON. A text that a spreadsheet would compute gets an apostrophe in front, unless the service is set otherwise.`,
        },
        example: exampleText(shown, 'text/csv'),
      },
      ...(exportRows > 0 ? FILES : {}),
    },
  };
}

/** The form of exports alone. */
const FILES: NonNullable<Response['content']> = {
  'application/vnd.apache.parquet': {
    schema: { type: 'string', format: 'binary', description: 'With `export` alone: a Parquet file.' },
  },
};

function describeResult({ reserved, columns }: DescribedEndpoint): string {
  const other = [
    ...(reserved.includes('sql')
      ? ['With `sql` or `lql` the columns are those of that query: rows have the schema `Row`.']
      : []),
    ...(reserved.includes('dry_run')
      ? ['With `dry_run` the answer is an estimate, always JSON, with the schema `DryRun`.']
      : []),
  ];
  return [columns === null ? 'The rows.' : 'The rows of the stored query.', ...other].join(' ');
}

const FREE_ROW: Schema = { $ref: '#/components/schemas/Row' };
const DRY_RUN_REFERENCE: Schema = { $ref: '#/components/schemas/DryRun' };

const BYTES: readonly ResponseHeader[] = ['X-Query-Bytes-Processed', 'X-Query-Bytes-Billed'];
const ON_DEFAULT_STARTS: readonly ResponseHeader[] = ['X-Default-Parameters'];
const ON_EXPORTS: readonly ResponseHeader[] = ['Content-Disposition'];
const ON_RESULTS: readonly ResponseHeader[] = [
  'ETag',
  'Age',
  'Cache-Status',
  'Vary',
  'Content-Encoding',
  'X-Result-Truncated',
  'X-Error-Status',
  'X-Unknown-Parameters',
  'X-Query-Warnings',
  'RateLimit',
  'RateLimit-Policy',
];

export const NOT_MODIFIED: Response = {
  description: 'The client has this already: its `If-None-Match` names the tag.',
  headers: headerReferences([...ON_EVERY_ANSWER, 'ETag', 'Vary']),
};

/** Columns to show where those of an endpoint are not known. */
const SOME_COLUMNS: readonly NamedType[] = [
  { name: 'id', type: { kind: 'STRING' } },
  { name: 'timestamp', type: { kind: 'TIMESTAMP' } },
  { name: 'event_message', type: { kind: 'STRING' } },
];

/** Answers that succeed, alike for every endpoint. */
export const SUCCESS_EXAMPLES: Readonly<Record<string, Example>> = {
  none: { summary: 'No rows.', value: { result: [] } },
};

export const RESULT_SCHEMAS: Readonly<Record<string, Schema>> = {
  Row: {
    type: 'object',
    description: 'One row, a member for each column; a column without a name is `f0_`, `f1_`, …',
    additionalProperties: { $ref: '#/components/schemas/Value' },
  },
  Value: {
    type: ['string', 'number', 'boolean', 'null', 'array', 'object'],
    // Generators of typed clients leave out a type of arrays without it, and all that refers to it.
    items: {},
    description:
      'TIMESTAMP: whole microseconds since 1970. DATETIME, DATE, TIME: ISO 8601 text without a zone. INT64: a number with all its digits, also beyond 2^53. ' +
      'FLOAT64: a number, or the text `NaN`, `Infinity` or `-Infinity`. NUMERIC and BIGNUMERIC: text, exact. BYTES: base64, null where the result is redacted. ' +
      'STRUCT: an object or null. ARRAY: an array, never null. BOOL, STRING and JSON: as they are.',
  },
  DryRun: {
    type: 'object',
    description: 'The answer to `dry_run`.',
    examples: [
      { dryRun: { bytesProcessed: '10485760', estimatedCost: 0.00006, currency: 'USD', tables: ['edge_logs'] } },
    ],
    required: ['dryRun'],
    properties: {
      dryRun: {
        type: 'object',
        required: ['bytesProcessed', 'estimatedCost', 'currency', 'tables'],
        properties: {
          bytesProcessed: { type: 'string', pattern: '^\\d+$', description: 'Bytes that the query would read.' },
          estimatedCost: { type: 'number', minimum: 0 },
          currency: { type: 'string', const: 'USD' },
          tables: { type: 'array', items: { type: 'string' }, description: 'Tables of the endpoint that it reaches.' },
        },
      },
    },
  },
};
