import { lineAndColumn, type QueryError } from '@logquay/googlesql/types';
import { type Reason, ServiceError } from '@logquay/duckdb-engine/contract';

export { type ErrorDetails, type Reason, ServiceError } from '@logquay/duckdb-engine/contract';
export { type FaultNote, lineAndColumn, offsetOf, QueryError, type QueryFault } from '@logquay/googlesql/types';

interface ErrorKind {
  /** HTTP status code. */
  readonly http: number;
  /** Google's canonical status name, which BigQuery users and Studio both read. */
  readonly status: string;
  /** Whether the same request may succeed later without a change. */
  readonly retryable: boolean;
}

/** What HTTP makes of each reason. `docs/querying.md` is held to it by a test. */
export const ERRORS = {
  invalidParameter: { http: 400, status: 'INVALID_ARGUMENT', retryable: false },
  invalidQuery: { http: 400, status: 'INVALID_ARGUMENT', retryable: false },
  invalidLql: { http: 400, status: 'INVALID_ARGUMENT', retryable: false },
  unknownField: { http: 400, status: 'INVALID_ARGUMENT', retryable: false },
  resourcesExceeded: { http: 400, status: 'RESOURCE_EXHAUSTED', retryable: false },
  bytesBilledLimitExceeded: { http: 400, status: 'RESOURCE_EXHAUSTED', retryable: false },
  unauthenticated: { http: 401, status: 'UNAUTHENTICATED', retryable: false },
  sandboxViolation: { http: 403, status: 'PERMISSION_DENIED', retryable: false },
  accessDenied: { http: 403, status: 'PERMISSION_DENIED', retryable: false },
  notFound: { http: 404, status: 'NOT_FOUND', retryable: false },
  methodNotAllowed: { http: 405, status: 'INVALID_ARGUMENT', retryable: false },
  notAcceptable: { http: 406, status: 'INVALID_ARGUMENT', retryable: false },
  payloadTooLarge: { http: 413, status: 'INVALID_ARGUMENT', retryable: false },
  uriTooLong: { http: 414, status: 'INVALID_ARGUMENT', retryable: false },
  unsupportedMediaType: { http: 415, status: 'INVALID_ARGUMENT', retryable: false },
  headersTooLarge: { http: 431, status: 'INVALID_ARGUMENT', retryable: false },
  rateLimitExceeded: { http: 429, status: 'RESOURCE_EXHAUSTED', retryable: true },
  budgetExceeded: { http: 429, status: 'RESOURCE_EXHAUSTED', retryable: true },
  tooManyConcurrentQueries: { http: 429, status: 'RESOURCE_EXHAUSTED', retryable: true },
  storedQueryFailed: { http: 500, status: 'INTERNAL', retryable: false },
  internalError: { http: 500, status: 'INTERNAL', retryable: false },
  notImplemented: { http: 501, status: 'UNIMPLEMENTED', retryable: false },
  backendError: { http: 502, status: 'UNAVAILABLE', retryable: true },
  backendUnavailable: { http: 503, status: 'UNAVAILABLE', retryable: true },
  endpointBroken: { http: 503, status: 'UNAVAILABLE', retryable: true },
  insufficientStorage: { http: 507, status: 'RESOURCE_EXHAUSTED', retryable: true },
  deadlineExceeded: { http: 504, status: 'DEADLINE_EXCEEDED', retryable: true },
} as const satisfies Record<Reason, ErrorKind>;

/** Longest excerpt in `near`, in code points. */
const NEAR_LIMIT = 80;

/** What of the details is for the caller. */
function sentOf({ note: _, ...details }: QueryError['details']): Omit<QueryError['details'], 'note'> {
  return details;
}

/** The error that the caller of `text` gets for a fault found in it. */
export function locate(error: QueryError, text: string): ServiceError {
  const { span } = error;
  const details = sentOf(error.details);
  if (span === null) return new ServiceError(error.fault, error.message, details, { cause: error });
  const near = Array.from(text.slice(span.start, span.end)).slice(0, NEAR_LIMIT).join('');
  return new ServiceError(
    error.fault,
    error.message,
    { ...details, ...lineAndColumn(text, span.start), ...(near === '' ? {} : { near }) },
    { cause: error },
  );
}
