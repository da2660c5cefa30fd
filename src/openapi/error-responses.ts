import { type ErrorDetails, ERRORS, type Reason } from '../errors';
import { headerReferences, ON_EVERY_ANSWER, type ResponseHeader } from './results';
import type { Example, Json, Reference, Response, Schema } from './schema';

type Shown = Omit<ErrorDetails, 'retryAfter'>;

/** One reason as the documentation tells it: when it is given, and an answer that gives it. */
export interface Failure {
  readonly when: string;
  readonly message: string;
  readonly details: Shown;
}

/** Every reason of the closed list; the compiler asks for a missing one. */
export const FAILURES: Readonly<Record<Reason, Failure>> = {
  invalidParameter: {
    when: 'A parameter is missing, malformed, too long or given twice; a percent-escape or the body cannot be read.',
    message: 'Parameter "project" is required. It is of type string: Project reference, compared exactly.',
    details: { parameter: 'project' },
  },
  invalidQuery: {
    when: 'A query of your own is not GoogleSQL, means nothing, or fails on the data.',
    message: 'The query ends too early: expected an expression.',
    details: { line: 1, column: 31 },
  },
  invalidLql: {
    when: 'An LQL text cannot be read.',
    message: 'missing closing double quote',
    details: { code: 'unterminated_string', line: 1, column: 13, near: '"timeout' },
  },
  unknownField: {
    when: 'A query names a column or field that is not there.',
    message: 'Unrecognized name: event_mesage.',
    details: {
      hint: 'Did you mean event_message?',
      allowed: ['edge_logs', 'timestamp', 'id', 'event_message', 'metadata'],
      line: 1,
      column: 8,
      near: 'event_mesage',
    },
  },
  resourcesExceeded: {
    when: 'A query needs too much memory, or its answer is too long.',
    message: 'The answer is larger than 67108864 bytes.',
    details: { hint: 'Select fewer columns or rows.' },
  },
  bytesBilledLimitExceeded: {
    when: 'A query would bill more than the endpoint allows.',
    message: 'The query would bill more bytes than the endpoint allows.',
    details: { hint: 'Ask for a shorter time.' },
  },
  unauthenticated: {
    when: 'There is no key, or one that is not valid.',
    message: 'This request needs a key.',
    details: { hint: 'Send the key in the X-API-KEY header.' },
  },
  sandboxViolation: {
    when: 'A query of your own reads or calls what it may not.',
    message: 'Table "edge_log" may not be read here. Tables that may be read: edge_logs, auth_logs.',
    details: {
      allowed: ['edge_logs', 'auth_logs'],
      hint: 'Did you mean edge_logs?',
      line: 1,
      column: 16,
      near: 'edge_log',
    },
  },
  accessDenied: {
    when: 'A parameter that the key fixes has another value, or the key may not do this.',
    message: 'This key fixes the parameter "project" to another value.',
    details: { parameter: 'project' },
  },
  notFound: {
    when: 'There is no such path or endpoint, or this key may not run it.',
    message: 'There is no such endpoint, or this key may not run it.',
    details: { hint: 'GET /api/endpoints lists the endpoints that a key may run.' },
  },
  methodNotAllowed: {
    when: 'The path has other methods: `Allow` names them.',
    message: 'DELETE is not allowed here.',
    details: { allowed: ['GET', 'HEAD', 'POST', 'OPTIONS'] },
  },
  notAcceptable: {
    when: '`Accept` leaves none of the forms there are; Parquet is for exports alone.',
    message: 'None of the media types in Accept can be answered.',
    details: { allowed: ['application/json', 'application/x-ndjson', 'text/csv'] },
  },
  payloadTooLarge: {
    when: 'The body is longer than 256 KiB.',
    message: 'The body is longer than 262144 bytes.',
    details: {},
  },
  uriTooLong: {
    when: 'The URL is longer than 96 KiB: send a POST.',
    message: 'The URL is longer than 98304 bytes.',
    details: { hint: 'Send the parameters in the body of a POST.' },
  },
  unsupportedMediaType: {
    when: 'The body is neither JSON nor a form in UTF-8.',
    message: 'The body must be a JSON object or a form, in UTF-8.',
    details: { allowed: ['application/json', 'application/x-www-form-urlencoded'] },
  },
  headersTooLarge: {
    when: 'The headers are longer than 32 KiB.',
    message: 'The headers are longer than 32768 bytes.',
    details: {},
  },
  rateLimitExceeded: {
    when: 'There were more requests in a second than the key may send, or the endpoint takes.',
    message: 'This key may make 100 requests a second.',
    details: {},
  },
  budgetExceeded: {
    when: "The key's bytes of this day are spent.",
    message:
      'The budget of this key is spent: of 1099511627776 bytes a day, 0 are left. It resets at 2026-10-01T00:00:00Z, in 4 h 12 min.',
    details: { hint: 'Cached results are still served.' },
  },
  tooManyConcurrentQueries: {
    when: 'The queue of those that wait for a slot is full.',
    message: 'Too many queries wait for a slot.',
    details: {},
  },
  internalError: {
    when: 'A bug; the log has its place under the request id.',
    message: 'Something went wrong inside. The log names it by the request id.',
    details: {},
  },
  storedQueryFailed: {
    when: 'The stored query of the endpoint is wrong, whatever is sent: its operator finds the place in the log.',
    message: 'The stored query of this endpoint is wrong. Its operator finds the reason in the log.',
    details: {},
  },
  notImplemented: {
    when: "A path of Logflare's that this service does not have.",
    message: 'Log drains are not configured here: configure them as sinks of Vector, which sends the logs.',
    details: {},
  },
  backendError: { when: 'The engine failed.', message: 'The embedded engine failed.', details: {} },
  backendUnavailable: {
    when: 'The engine cannot be reached, or the service is starting or ending.',
    message: 'The service is starting.',
    details: {},
  },
  endpointBroken: {
    when: 'The stored query of the endpoint means nothing to the engine since the service was started: its operator finds the reason in the log.',
    message: 'The stored query of this endpoint has a fault. Its operator finds the reason in the log.',
    details: {},
  },
  insufficientStorage: {
    when: 'Logs are sent to be stored, and there is too little free space.',
    message: 'There is too little free space to store events. Send them again later.',
    details: {},
  },
  deadlineExceeded: {
    when: 'The deadline passed, while the query ran or while it waited for a slot.',
    message: 'The deadline passed while the query waited for a slot.',
    details: {},
  },
};

/** Reasons of paths that are not described: Logflare's, which only say that they are not there, and those that logs are sent to. */
const ELSEWHERE: readonly Reason[] = ['notImplemented', 'insufficientStorage'];

/** Reasons of the described paths. */
export const REASONS = (Object.keys(ERRORS) as readonly Reason[]).filter((reason) => !ELSEWHERE.includes(reason));

/** Reasons that a request may meet on every path and whatever it asks. */
const ANYWHERE: readonly Reason[] = [
  'invalidParameter',
  'methodNotAllowed',
  'uriTooLong',
  'headersTooLarge',
  'internalError',
];

/** What a detail of `errors[0]` is; the compiler asks for a missing one. */
const DETAILS: Readonly<Record<keyof Omit<ErrorDetails, 'retryAfter'>, Schema>> = {
  line: { type: 'integer', minimum: 1, description: 'The line of the text that was sent, from 1.' },
  column: { type: 'integer', minimum: 1, description: 'The column in it, from 1, in Unicode code points.' },
  near: { type: 'string', description: 'The words at fault.' },
  parameter: { type: 'string', description: 'The parameter at fault.' },
  allowed: { type: 'array', items: { type: 'string' }, description: 'What would have been accepted.' },
  hint: { type: 'string', description: 'What may help.' },
  code: { type: 'string', description: "LQL's own code of the fault." },
};

/** The one shape of every error. */
export const ERROR_SCHEMA: Schema = {
  type: 'object',
  description: "The shape of Google's own API errors.",
  required: ['error'],
  properties: {
    error: {
      type: 'object',
      required: ['code', 'status', 'message', 'errors', 'requestId'],
      properties: {
        code: {
          type: 'integer',
          enum: unique(REASONS.map((reason) => ERRORS[reason].http)),
          description: 'The HTTP status.',
        },
        status: { type: 'string', enum: unique(REASONS.map((reason) => ERRORS[reason].status)) },
        message: { type: 'string' },
        errors: {
          type: 'array',
          minItems: 1,
          maxItems: 1,
          items: {
            type: 'object',
            required: ['domain', 'reason', 'message'],
            properties: {
              domain: { type: 'string', const: 'global' },
              reason: { type: 'string', enum: REASONS, description: 'What a program should look at.' },
              message: { type: 'string' },
              ...DETAILS,
            },
          },
        },
        requestId: { type: 'string', description: 'As in X-Request-Id, and in the log.' },
      },
    },
  },
};

/** An answer of each reason, by its name, for the components. */
export function errorExamples(): Record<string, Example> {
  return Object.fromEntries(
    REASONS.map((reason) => [reason, { summary: FAILURES[reason].when, value: exampleOf(reason) }]),
  );
}

function exampleOf(reason: Reason): Json {
  const { http, status } = ERRORS[reason];
  const { message, details } = FAILURES[reason];
  const first = { domain: 'global', reason, message, ...details } as Json;
  const requestId = '4e0c6f0e-6a5e-4f0e-9a0f-0d9a3f1f2b11';
  return { error: { code: http, status, message, errors: [first], requestId } };
}

/** The responses of every reason, by status, as components with the name `Error` and the status. */
export function errorComponents(): Record<string, Response> {
  return Object.fromEntries(
    Object.entries(byStatus(REASONS)).map(([status, reasons]) => [
      `Error${status}`,
      errorResponse(Number(status), reasons),
    ]),
  );
}

/** The error responses of an operation that may fail for these reasons beside those of every request. */
export function errorResponses(reasons: readonly Reason[]): Record<string, Response | Reference> {
  const all = byStatus(REASONS);
  const own = Object.entries(byStatus(unique([...ANYWHERE, ...reasons])));
  return Object.fromEntries(
    own.map(([status, some]) => [
      status,
      // Most operations know a part of what a status may mean: then it is said in place.
      some.length === all[status]?.length
        ? { $ref: `#/components/responses/Error${status}` }
        : errorResponse(Number(status), some),
    ]),
  );
}

function errorResponse(status: number, reasons: readonly Reason[]): Response {
  return {
    description: reasons.map((reason) => `\`${reason}\`: ${FAILURES[reason].when}`).join('\n\n'),
    headers: headerReferences([...ON_EVERY_ANSWER, ...headersOf(status)]),
    content: {
      'application/json': {
        schema: { $ref: '#/components/schemas/Error' },
        examples: Object.fromEntries(reasons.map((reason) => [reason, { $ref: `#/components/examples/${reason}` }])),
      },
    },
  };
}

function headersOf(status: number): readonly ResponseHeader[] {
  if (status === 401) return ['WWW-Authenticate'];
  if (status === 405) return ['Allow'];
  if (status === 429) return ['Retry-After', 'RateLimit', 'RateLimit-Policy'];
  return status === 503 ? ['Retry-After'] : [];
}

function byStatus(reasons: readonly Reason[]): Record<string, Reason[]> {
  const found: Record<string, Reason[]> = {};
  for (const reason of reasons) (found[String(ERRORS[reason].http)] ??= []).push(reason);
  return found;
}

function unique<T>(values: readonly T[]): T[] {
  return [...new Set(values)];
}
