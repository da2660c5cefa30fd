import { CONTENT_TYPES } from '../rendering/representation';
import type { DescribedEndpoint, Readers } from './described';
import { headerReferences, ON_EVERY_ANSWER, type ResponseHeader } from './response-headers';
import type { Example, Response, Schema } from './schema';

/** A result of an endpoint, in every form. */
export function resultResponse({ reserved, maxRows }: DescribedEndpoint, { key, engine }: Readers): Response {
  const withDryRun = reserved.includes('dry_run');
  const result: Schema = {
    type: 'object',
    required: ['result'],
    properties: { result: { type: 'array', maxItems: maxRows, items: { $ref: '#/components/schemas/Row' } } },
  };
  const costHeaders = engine.kind === 'bigquery' && (key === null || key.pins.size === 0) ? BYTES : [];
  return {
    description: withDryRun ? 'The rows, or with `dry_run` an estimate (always JSON).' : 'The rows.',
    headers: headerReferences([...ON_EVERY_ANSWER, ...ON_RESULTS, ...costHeaders]),
    content: {
      'application/json': {
        schema: withDryRun ? { oneOf: [result, { $ref: '#/components/schemas/DryRun' }] } : result,
        examples: {
          rows: { $ref: '#/components/examples/rows' },
          none: { $ref: '#/components/examples/none' },
          ...(withDryRun ? { dryRun: { $ref: '#/components/examples/dryRun' } } : {}),
        },
      },
      'application/x-ndjson': {
        schema: { type: 'string', description: 'One row a line, as a JSON object.' },
        example: `${JSON.stringify(ROW)}\n`,
      },
      'text/csv': {
        schema: {
          type: 'string',
          description: `RFC 4180 with a header line (\`${CONTENT_TYPES['text/csv']}\`); null is an empty field, an empty string \`""\`, records and arrays are JSON. A text that a spreadsheet would compute gets an apostrophe in front, unless the service is set otherwise.`,
        },
        example: `${Object.keys(ROW).join(',')}\r\n${Object.values(ROW).join(',')}\r\n`,
      },
    },
  };
}

const BYTES: readonly ResponseHeader[] = ['X-Query-Bytes-Processed', 'X-Query-Bytes-Billed'];
const ON_RESULTS: readonly ResponseHeader[] = [
  'ETag',
  'Age',
  'Cache-Status',
  'Vary',
  'Content-Encoding',
  'X-Result-Truncated',
  'RateLimit',
  'RateLimit-Policy',
];

export const NOT_MODIFIED: Response = {
  description: 'The client has this already: its `If-None-Match` names the tag.',
  headers: headerReferences([...ON_EVERY_ANSWER, 'ETag', 'Vary']),
};

const ROW = {
  id: 'd33b51e4-2141-4899-8680-3e9433c4ace2',
  timestamp: 1790769600000000,
  event_message: 'GET | 200 | /rest/v1/items',
};

/** Answers that succeed; the columns are an example, since each query has its own. */
export const SUCCESS_EXAMPLES: Readonly<Record<string, Example>> = {
  rows: { summary: 'Rows; the columns are those of the query.', value: { result: [ROW] } },
  none: { summary: 'No rows.', value: { result: [] } },
  dryRun: {
    summary: 'A dry run.',
    value: { dryRun: { bytesProcessed: '10485760', estimatedCost: 0.00006, currency: 'USD', tables: ['edge_logs'] } },
  },
};

export const RESULT_SCHEMAS: Readonly<Record<string, Schema>> = {
  Row: {
    type: 'object',
    description: 'One row, a member for each column; a column without a name is `f0_`, `f1_`, …',
    additionalProperties: { $ref: '#/components/schemas/Value' },
  },
  Value: {
    type: ['string', 'number', 'boolean', 'null', 'array', 'object'],
    description:
      'TIMESTAMP: whole microseconds since 1970. DATETIME, DATE, TIME: ISO 8601 text without a zone. INT64: a number with all its digits, also beyond 2^53. ' +
      'FLOAT64: a number, or the text `NaN`, `Infinity` or `-Infinity`. NUMERIC and BIGNUMERIC: text, exact. BYTES: base64, null where the result is redacted. ' +
      'STRUCT: an object or null. ARRAY: an array, never null. BOOL, STRING and JSON: as they are.',
  },
  DryRun: {
    type: 'object',
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
