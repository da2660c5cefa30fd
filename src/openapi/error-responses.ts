import { type ErrorDetails, ERRORS, type Reason } from '../errors';
import { FAILURES } from './failures';
import { headerReferences, ON_EVERY_ANSWER, type ResponseHeader } from './response-headers';
import type { Example, Json, Reference, Response, Schema } from './schema';

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
