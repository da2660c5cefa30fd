/**
 * BigQuery's failures in the words of the service. The `reason` decides, not the HTTP status: the bytes limit comes as
 * 500, quotas as 403. No text of BigQuery's reaches a caller but that of a query that does not compile, since a message
 * of an execution error may quote a row.
 */
import { QueryError, ServiceError } from '../../errors';

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

/** What the caller is told. */
export function translateFailure(failure: ApiFailure): ServiceError | QueryError {
  const { reason } = failure;
  switch (reason) {
    case 'bytesBilledLimitExceeded':
      return new ServiceError(
        'bytesBilledLimitExceeded',
        'The query would read more bytes than this endpoint may bill. Choose a shorter time range.',
        {},
        { cause: failure },
      );
    case 'resourcesExceeded':
    case 'responseTooLarge':
      return new ServiceError(
        'resourcesExceeded',
        'The query needs more memory than it may use. Select single fields instead of whole records, or a shorter time range.',
        {},
        { cause: failure },
      );
    case 'timeout':
    case 'stopped':
      return new ServiceError('deadlineExceeded', 'The query did not finish in time. Choose a shorter time range.', {}, { cause: failure });
    case 'quotaExceeded':
    case 'usageQuotaExceeded':
      return new ServiceError('backendUnavailable', "BigQuery's quota is used up for now.", { retryAfter: 60 }, { cause: failure });
    case 'rateLimitExceeded':
    case 'jobRateLimitExceeded':
      return new ServiceError('backendUnavailable', 'BigQuery asks for fewer requests.', { retryAfter: 5 }, { cause: failure });
    case 'invalidQuery':
    case 'invalid':
      return translateQueryFault(failure);
    case 'jobInternalError':
      if (failure.httpStatus === 400 || failure.httpStatus === 200) return translateQueryFault(failure);
      break;
  }
  // A 404 or 403 is about the service's own set-up (a table, a role): the caller learns nothing of it.
  if (failure.httpStatus === 503) {
    return new ServiceError('backendUnavailable', 'BigQuery is not available.', { retryAfter: 5 }, { cause: failure });
  }
  return new ServiceError('backendError', 'BigQuery could not run the query.', {}, { cause: failure });
}

/** Errors that the evaluation of a row raises, by how BigQuery's message begins; the caller gets the fixed text. */
const EXECUTION_FAULTS: readonly (readonly [RegExp, string])[] = [
  [/division by zero/i, 'Division by zero. SAFE_DIVIDE gives NULL instead.'],
  [/overflow|out of range/i, 'A number or time is out of range.'],
  [/out of bounds|array index|subscript/i, 'An array subscript is out of bounds. SAFE_OFFSET gives NULL instead.'],
  [/bad (int64|double|float|bool|numeric|bignumeric|boolean) value|could not cast|invalid cast|bad value|unable to parse as/i, 'A value could not be cast. SAFE_CAST gives NULL instead.'],
  [/failed to parse input|invalid (timestamp|date|datetime|time)\b|unparseable|mismatch between format|could not parse/i, 'A text could not be parsed as a date or time. SAFE.PARSE_TIMESTAMP gives NULL instead.'],
  [/cannot parse regular expression|invalid regular expression|cannot compile|regexp_/i, 'A regular expression is not valid.'],
  [/scalar subquery produced more than one|more than one element/i, 'A scalar subquery gave more than one row.'],
  [/array cannot have a null element|null element/i, 'An array in the result has a NULL element.'],
];

/** `… at [2:6]`: BigQuery's own position, from 1, columns in characters. */
const POSITION = /\s*(?:;.*)?\bat \[(\d+):(\d+)\]\s*$/s;

/** A fault in the text carries BigQuery's position, which the engine turns into a span; faults in rows never do. */
export interface PositionedFault {
  readonly message: string;
  readonly line: number | null;
  readonly column: number | null;
  readonly kind: 'execution' | 'compilation';
}

export function readQueryFault(message: string): PositionedFault {
  const position = POSITION.exec(message);
  const text = position === null ? message : message.slice(0, position.index).trim();
  const known = EXECUTION_FAULTS.find(([pattern]) => pattern.test(text));
  const at = position === null ? { line: null, column: null } : { line: Number(position[1]), column: Number(position[2]) };
  if (known !== undefined && position === null) return { message: known[1], ...at, kind: 'execution' };
  return { message: text, ...at, kind: 'compilation' };
}

function translateQueryFault(failure: ApiFailure): QueryError {
  const fault = readQueryFault(failure.message);
  if (fault.kind === 'execution') return new QueryError('invalidQuery', fault.message, null);
  return new QueryError('invalidQuery', 'BigQuery refuses the query.', null);
}
