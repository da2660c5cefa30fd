import type { NamedType } from '../googlesql/types';
import { CONTENT_TYPES } from '../rendering/representation';
import type { DescribedEndpoint, Readers } from './described';
import { headerReferences, ON_EVERY_ANSWER, type ResponseHeader } from './response-headers';
import { exampleText } from './row-example';
import type { Example, Json, Response, Schema } from './schema';

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
