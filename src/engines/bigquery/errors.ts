/**
 * BigQuery's failures in the words of the service. The `reason` decides, not the HTTP status: the bytes limit comes as
 * 500, quotas as 403. No text of BigQuery's reaches a caller but that of a query that does not compile, since a message
 * of an execution error may quote a row.
 */
import { QueryError, ServiceError, type Reason } from '../../errors';

const TOO_MUCH_MEMORY =
  'The query needs more memory than it may use. Select single fields instead of whole records, or a shorter time range.';

/** A failure as the API reports it, before it is known whether a retry helps. */
export class ApiFailure extends Error {
  override readonly name = 'ApiFailure';

  constructor(
    /** null: the connection failed before an answer came. */
    readonly httpStatus: number | null,
    readonly reason: string,
    message: string,
    options?: { cause?: unknown },
  ) {
    super(message, options);
  }
}

const TRANSIENT_REASONS = new Set([
  'backendError',
  'internalError',
  'jobBackendError',
  'jobInternalError',
  'rateLimitExceeded',
  'jobRateLimitExceeded',
  'connectionFailed',
]);
/** Reasons that no second try can help, whatever status they come with. */
const FINAL_REASONS = new Set([
  'bytesBilledLimitExceeded',
  'quotaExceeded',
  'usageQuotaExceeded',
  'billingNotEnabled',
  'invalidQuery',
  'invalid',
  'accessDenied',
  'notFound',
  'responseTooLarge',
  'resourcesExceeded',
  'duplicate',
]);
const TRANSIENT_STATUS = new Set([429, 502, 503]);

/** Whether the same request may succeed shortly. goccy's emulator says jobInternalError with 400: that is final. */
export function isTransient(failure: ApiFailure): boolean {
  if (FINAL_REASONS.has(failure.reason)) return false;
  if (failure.httpStatus === 400) return false;
  if (TRANSIENT_REASONS.has(failure.reason)) return true;
  return failure.httpStatus === null || TRANSIENT_STATUS.has(failure.httpStatus);
}

/** Whether the failure says something about the service rather than about this query: what opens the breaker. */
export function isOutage(failure: ApiFailure): boolean {
  return isTransient(failure) || failure.httpStatus === 401;
}

/** What BigQuery's positions count in, and where the text begins that faults are reported against. */
export interface SentText {
  readonly sql: string;
  readonly offset: number;
}

type Message = readonly [reason: Reason, message: string, retryAfter?: number];

const MESSAGES: Readonly<Record<string, Message>> = {
  bytesBilledLimitExceeded: [
    'bytesBilledLimitExceeded',
    'The query would read more bytes than this endpoint may bill. Choose a shorter time range.',
  ],
  resourcesExceeded: ['resourcesExceeded', TOO_MUCH_MEMORY],
  responseTooLarge: ['resourcesExceeded', TOO_MUCH_MEMORY],
  timeout: ['deadlineExceeded', 'The query did not finish in time. Choose a shorter time range.'],
  stopped: ['deadlineExceeded', 'The query did not finish in time. Choose a shorter time range.'],
  quotaExceeded: ['backendUnavailable', "BigQuery's quota is used up for now.", 60],
  usageQuotaExceeded: ['backendUnavailable', "BigQuery's quota is used up for now.", 60],
  rateLimitExceeded: ['backendUnavailable', 'BigQuery asks for fewer requests.', 5],
  jobRateLimitExceeded: ['backendUnavailable', 'BigQuery asks for fewer requests.', 5],
};

/** Reasons for a fault in the query; goccy's emulator says jobInternalError for all of them. */
const QUERY_FAULTS = new Set(['invalidQuery', 'invalid', 'jobInternalError']);

/** What the caller is told. A 403 or 404 is about the service's own set-up (a role, a table): nothing of it goes out. */
export function translateFailure(failure: ApiFailure, text: SentText): ServiceError | QueryError {
  const isClientFault = failure.httpStatus === 400 || failure.httpStatus === 200;
  if (QUERY_FAULTS.has(failure.reason) && isClientFault) return translateQueryFault(failure.message, text);
  const fallback: Message =
    failure.httpStatus === 503 || failure.httpStatus === null
      ? ['backendUnavailable', 'BigQuery is not available.', 5]
      : ['backendError', 'BigQuery could not run the query.'];
  const [reason, message, retryAfter] = MESSAGES[failure.reason] ?? fallback;
  return new ServiceError(reason, message, retryAfter === undefined ? {} : { retryAfter }, { cause: failure });
}

/** Errors that the evaluation of a row raises, by how BigQuery's message begins; the caller gets the fixed text. */
const EXECUTION_FAULTS: readonly (readonly [RegExp, string])[] = [
  [/division by zero/i, 'Division by zero. SAFE_DIVIDE gives NULL instead.'],
  [/overflow|out of range/i, 'A number or time is out of range.'],
  [/out of bounds|array index|subscript/i, 'An array subscript is out of bounds. SAFE_OFFSET gives NULL instead.'],
  [
    /bad (int64|double|float|bool|numeric|bignumeric|boolean) value|could not cast|invalid cast|bad value|unable to parse as/i,
    'A value could not be cast. SAFE_CAST gives NULL instead.',
  ],
  [
    /failed to parse input|invalid (timestamp|date|datetime|time)\b|unparseable|mismatch between format|could not parse/i,
    'A text could not be parsed as a date or time. SAFE.PARSE_TIMESTAMP gives NULL instead.',
  ],
  [
    /cannot parse regular expression|invalid regular expression|cannot compile|regexp_/i,
    'A regular expression is not valid.',
  ],
  [/scalar subquery produced more than one|more than one element/i, 'A scalar subquery gave more than one row.'],
  [/array cannot have a null element|null element/i, 'An array in the result has a NULL element.'],
];

/** `… at [2:6]`: BigQuery's own position, from 1, columns in characters. */
const POSITION = /\s*(?:;.*)?\bat \[(\d+):(\d+)\]\s*$/s;

/** An error of evaluation gets the fixed text of its kind; one of compilation keeps BigQuery's place, not its words. */
function translateQueryFault(message: string, text: SentText): QueryError {
  const position = POSITION.exec(message);
  const known = EXECUTION_FAULTS.find(([pattern]) => pattern.test(message));
  const words = known?.[1] ?? 'BigQuery refuses the query.';
  if (position === null) return new QueryError('invalidQuery', words, null);
  const at = offsetOf(text.sql, Number(position[1]), Number(position[2])) - text.offset;
  return new QueryError('invalidQuery', words, at < 0 ? null : { start: at, end: at });
}

/** The UTF-16 offset of a line and column from 1, columns in code points. */
function offsetOf(text: string, line: number, column: number): number {
  let offset = 0;
  for (let at = 1; at < line; at++) {
    const next = text.indexOf('\n', offset);
    if (next < 0) break;
    offset = next + 1;
  }
  return offset + [...text.slice(offset)].slice(0, column - 1).join('').length;
}
