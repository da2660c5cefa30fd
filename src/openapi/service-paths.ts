import { DECLARED_TYPES } from '../endpoints/settings';
import type { Reason } from '../errors';
import { headerReferences, ON_EVERY_ANSWER, type ResponseHeader } from './results';
import { COMPONENTS } from '../health/health';
import { ERROR_SCHEMA, errorResponses } from './error-responses';
import type { Json, Operation, Parameter, PathItem, Reference, Response, Schema } from './schema';

/** Whether reading the documentation needs a key. */
export type DocsAccess = 'open' | 'key';

const NO_KEY: readonly [] = [];
const NEEDS_SERVICES: readonly Reason[] = ['backendUnavailable'];
const NEEDS_KEY: readonly Reason[] = ['unauthenticated', 'notAcceptable', ...NEEDS_SERVICES];
const ON_CATALOGUE: readonly ResponseHeader[] = ['Vary'];
const ON_DOCS: readonly ResponseHeader[] = ['ETag', 'Vary', 'Content-Encoding'];

const NEEDS_ANALYSIS: readonly Reason[] = [
  ...NEEDS_KEY,
  'invalidParameter',
  'accessDenied',
  'notFound',
  'rateLimitExceeded',
  'tooManyConcurrentQueries',
  'endpointBroken',
  'deadlineExceeded',
];

const NEEDS_TAIL: readonly Reason[] = [
  ...NEEDS_ANALYSIS,
  'invalidQuery',
  'invalidLql',
  'unknownField',
  'resourcesExceeded',
  'bytesBilledLimitExceeded',
  'sandboxViolation',
  'budgetExceeded',
  'storedQueryFailed',
  'backendError',
];

const PARAMETERS_BODY = {
  description: 'The parameters of a run.',
  required: false,
  content: {
    'application/json': { schema: { type: 'object', additionalProperties: true }, example: { project: 'default' } },
  },
} as const;

/** The paths beside those that run an endpoint. @param endpointName one that there is, for an example */
export function servicePaths(access: DocsAccess, endpointName: string | null): Record<string, PathItem> {
  const docsReasons: readonly Reason[] = access === 'key' ? NEEDS_KEY : ['notAcceptable', ...NEEDS_SERVICES];
  const docs = access === 'key' ? {} : { security: NO_KEY };
  return {
    '/api/endpoints': {
      get: {
        operationId: 'listEndpoints',
        summary: 'What this key may run',
        tags: ['Catalogue'],
        responses: {
          '200': json('The endpoints, by name.', ON_CATALOGUE, {
            type: 'object',
            required: ['result'],
            properties: { result: { type: 'array', items: { $ref: '#/components/schemas/Endpoint' } } },
          }),
          ...errorResponses(NEEDS_KEY),
        },
      },
    },
    '/api/endpoints/{idOrName}': {
      get: {
        operationId: 'getEndpoint',
        summary: 'One endpoint, without its SQL',
        tags: ['Catalogue'],
        parameters: [idOrName(endpointName)],
        responses: {
          '200': json('The endpoint.', ON_CATALOGUE, {
            type: 'object',
            required: ['result'],
            properties: { result: { $ref: '#/components/schemas/Endpoint' } },
          }),
          ...errorResponses([...NEEDS_KEY, 'notFound']),
        },
      },
    },
    '/api/endpoints/tail/{idOrName}': {
      get: tailOf(endpointName, 'followEndpoint', NEEDS_TAIL),
      post: {
        ...tailOf(endpointName, 'followLongRequest', [...NEEDS_TAIL, 'payloadTooLarge', 'unsupportedMediaType']),
        requestBody: PARAMETERS_BODY,
      },
    },
    '/api/endpoints/analyze/{idOrName}': {
      get: analysisOf(endpointName, 'analyzeRequest', [...NEEDS_ANALYSIS]),
      post: {
        ...analysisOf(endpointName, 'analyzeLongRequest', [
          ...NEEDS_ANALYSIS,
          'payloadTooLarge',
          'unsupportedMediaType',
        ]),
        requestBody: PARAMETERS_BODY,
      },
    },
    '/api/endpoints/schema/{idOrName}': {
      get: {
        operationId: 'getSchema',
        summary: 'What may be queried there: tables, their columns with types, functions',
        tags: ['Catalogue'],
        parameters: [idOrName(endpointName)],
        responses: {
          '200': json(
            'Parameters, columns, tables and functions.',
            ON_CATALOGUE,
            resultOf(['parameters', 'tables', 'functions']),
          ),
          ...errorResponses([...NEEDS_ANALYSIS]),
        },
      },
    },
    '/api/key': {
      get: {
        operationId: 'getKey',
        summary: 'What the key of the request is and may do',
        tags: ['Catalogue'],
        responses: {
          '200': json(
            'The key, without any value that it pins.',
            ON_CATALOGUE,
            resultOf(['name', 'endpoints', 'pinned']),
          ),
          ...errorResponses(NEEDS_KEY),
        },
      },
    },
    '/api/searches': {
      get: {
        operationId: 'getSearches',
        summary: 'Searches that the operators share, for keys without pins',
        tags: ['Catalogue'],
        responses: {
          '200': json('Name and search, as the part of the address of the explorer behind its path.', ON_CATALOGUE, {
            type: 'object',
            required: ['result'],
            properties: { result: { type: 'array', items: { type: 'object', required: ['name', 'search'] } } },
          }),
          ...errorResponses([...NEEDS_KEY, 'accessDenied']),
        },
      },
    },
    '/api/usage': {
      get: {
        operationId: 'getUsage',
        summary: 'Who used how much, for keys of the operator',
        tags: ['Catalogue'],
        responses: {
          '200': json('Rows by hour and by day, also as CSV.', ON_CATALOGUE, {
            type: 'object',
            required: ['result'],
            properties: { result: { type: 'array', items: { type: 'object' } } },
          }),
          ...errorResponses([...NEEDS_KEY, 'accessDenied']),
        },
      },
    },
    '/openapi.json': {
      get: {
        operationId: 'getOpenApi',
        summary: 'This description',
        tags: ['Documentation'],
        parameters: [IF_NONE_MATCH],
        responses: {
          '200': json('An OpenAPI 3.1 document.', ON_DOCS, { type: 'object', required: ['openapi', 'info', 'paths'] }),
          '304': NOT_MODIFIED,
          ...errorResponses(docsReasons),
        },
        ...docs,
      },
    },
    '/docs': {
      get: {
        operationId: 'getDocs',
        summary: 'The same as a page for people',
        ...(access === 'key'
          ? {
              description: 'A browser that sends no key gets the page without any endpoint; it asks for the key there.',
            }
          : {}),
        tags: ['Documentation'],
        parameters: [IF_NONE_MATCH],
        responses: {
          '200': {
            description: 'A page that asks nothing of any other host.',
            headers: headerReferences([...ON_EVERY_ANSWER, ...ON_DOCS]),
            content: { 'text/html': { schema: { type: 'string' } } },
          },
          '304': NOT_MODIFIED,
          ...errorResponses(docsReasons),
        },
        ...docs,
      },
    },
    '/health': {
      get: {
        operationId: 'getHealth',
        summary: 'The process is alive',
        description: 'Asks neither the engine nor the catalogue.',
        tags: ['Probes'],
        responses: {
          '200': json('It is.', [], objectOf({ status: { type: 'string', const: 'ok' } }), { status: 'ok' }),
          ...errorResponses([]),
        },
        security: NO_KEY,
      },
    },
    '/ready': {
      get: {
        operationId: 'getReady',
        summary: 'Whether requests should be sent here',
        tags: ['Probes'],
        responses: {
          '200': json('The catalogue is loaded and the engine answers.', [], READY, {
            status: 'ready',
            engine: 'duckdb',
            cache: 'ok',
          }),
          ...errorResponses([]),
          '503': {
            description: 'It is starting or ending, or the engine does not answer.',
            headers: headerReferences([...ON_EVERY_ANSWER, 'Retry-After']),
            content: { 'application/json': { schema: NOT_READY } },
          },
        },
        security: NO_KEY,
      },
    },
  };
}

const IF_NONE_MATCH: Reference = { $ref: '#/components/parameters/If-None-Match' };
const NOT_MODIFIED: Reference = { $ref: '#/components/responses/NotModified' };

function json(description: string, headers: readonly ResponseHeader[], schema: Schema, example?: Json): Response {
  return {
    description,
    headers: headerReferences([...ON_EVERY_ANSWER, ...headers]),
    content: { 'application/json': { schema, ...(example === undefined ? {} : { example }) } },
  };
}

function objectOf(properties: Readonly<Record<string, Schema>>): Schema {
  return { type: 'object', required: Object.keys(properties), properties };
}

/** What is impaired; the same with 200 and 503. */
const IMPAIRED: Readonly<Record<string, Schema>> = {
  degraded: { type: 'boolean', const: true, description: 'There where something is impaired.' },
  detail: {
    type: 'array',
    description: 'What is impaired: with METRICS_KEY, and on METRICS_PORT, alone.',
    items: objectOf({
      component: { type: 'string', enum: COMPONENTS },
      message: { type: 'string' },
      since: { type: 'string', format: 'date-time' },
    }),
  },
};

const READY: Schema = {
  type: 'object',
  required: ['status', 'engine', 'cache'],
  properties: {
    status: { type: 'string', const: 'ready' },
    engine: { type: 'string', enum: ['bigquery', 'duckdb'] },
    cache: { type: 'string', enum: ['ok', 'degraded'], description: 'Whether Redis answers, where there is one.' },
    ...IMPAIRED,
    tables: {
      type: 'array',
      description: 'Tables of the data folder that have rows, for who may read every one of them.',
      items: objectOf({ table: { type: 'string' }, rows: { type: 'integer', minimum: 1 } }),
    },
  },
};

const NOT_READY: Schema = {
  type: 'object',
  required: ['status', 'error'],
  properties: {
    status: { type: 'string', enum: ['starting', 'draining', 'engine-unavailable'] },
    // In place: generators of typed clients follow references to components alone.
    error: ERROR_SCHEMA.properties?.['error'] ?? {},
    ...IMPAIRED,
  },
};

/** An endpoint as the catalogue's routes answer it. */
export const ENDPOINT_SCHEMA: Schema = objectOf({
  id: { type: 'string', format: 'uuid' },
  name: { type: 'string' },
  description: { type: 'string' },
  params: {
    type: 'array',
    items: {
      type: 'object',
      required: ['name', 'type', 'required', 'description'],
      properties: {
        name: { type: 'string' },
        type: {
          type: 'string',
          enum: DECLARED_TYPES,
        },
        required: { type: 'boolean' },
        description: { type: 'string' },
        default: {
          anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }],
          description: 'As it would stand in a URL; of a list each of its values.',
        },
        values: { type: 'array', items: { type: 'string' } },
        minimum: { type: 'number' },
        maximum: { type: 'number' },
        fixed: {
          type: 'boolean',
          const: true,
          description: 'There where the key pins the parameter; its values, bounds and default are then left out.',
        },
      },
    },
  },
  maxRows: { type: 'integer', minimum: 1, maximum: 10_000 },
  cacheTtl: { type: 'integer', minimum: 0, description: 'Seconds; 0: not cached.' },
  cacheWarming: { type: 'integer', minimum: 0, description: 'Seconds; 0: not refreshed by the warmer.' },
  sandbox: { type: 'boolean' },
  redactPii: { type: 'boolean' },
  tail: { type: 'boolean', description: 'Whether its rows can be followed as they arrive.' },
  tables: { type: 'array', items: { type: 'string' } },
});

function idOrName(example: string | null): Parameter {
  return {
    name: 'idOrName',
    in: 'path',
    required: true,
    description: 'An id where it is a UUID, in any case; else a name, exact.',
    schema: { type: 'string' },
    ...(example === null ? {} : { example }),
  };
}

function analysisOf(endpointName: string | null, operationId: string, reasons: readonly Reason[]): Operation {
  return {
    operationId,
    summary: 'What a run of the same parameters would say, without running anything',
    description: 'Faults of a query are part of the answer, each with its place.',
    tags: ['Catalogue'],
    parameters: [idOrName(endpointName)],
    responses: {
      '200': json('The analysis.', ON_CATALOGUE, resultOf(['kind', 'tables', 'parameters', 'errors', 'warnings'])),
      ...errorResponses(reasons),
    },
  };
}

function tailOf(endpointName: string | null, operationId: string, reasons: readonly Reason[]): Operation {
  return {
    operationId,
    summary: 'Rows as they arrive, as server-sent events',
    description: 'Parameters are those of a run. An event without a name is a row; `Last-Event-ID` goes on behind one.',
    tags: ['Stored endpoints'],
    parameters: [
      idOrName(endpointName),
      {
        name: 'Last-Event-ID',
        in: 'header',
        description: 'The `id` of the last event that was received; good for an hour.',
        schema: { type: 'string' },
      },
    ],
    responses: {
      '200': {
        description: 'Events until the client leaves, or one of the name `end` says why there are no more.',
        headers: headerReferences([...ON_EVERY_ANSWER, ...ON_CATALOGUE]),
        content: { 'text/event-stream': { schema: { type: 'string' } } },
      },
      ...errorResponses(reasons),
    },
  };
}

function resultOf(required: readonly string[]): Schema {
  return {
    type: 'object',
    required: ['result'],
    properties: { result: { type: 'object', required, additionalProperties: true } },
  };
}
