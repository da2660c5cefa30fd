import type { ErrorDetails, Reason } from '../errors';

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
