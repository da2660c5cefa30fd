/** The closed list of error reasons. `docs/errors.md` is held to it by a test. */

interface ErrorKind {
  /** HTTP status code. */
  readonly http: number;
  /** Google's canonical status name, which BigQuery users and Studio both read. */
  readonly status: string;
  /** Whether the same request may succeed later without a change. */
  readonly retryable: boolean;
}

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
} as const satisfies Record<string, ErrorKind>;

export type Reason = keyof typeof ERRORS;

/** What `errors[0]` of an answer carries beside reason and message, where it applies. */
export interface ErrorDetails {
  /** From 1, in Unicode code points of the text that the caller sent. */
  readonly line?: number;
  readonly column?: number;
  /** The words at fault. */
  readonly near?: string;
  readonly parameter?: string;
  readonly allowed?: readonly string[];
  readonly hint?: string;
  /** LQL's own error code. */
  readonly code?: string;
  /** Seconds, for the Retry-After header. */
  readonly retryAfter?: number;
}

/**
 * A failure in the words of the service: its message goes to the caller as it is, so it never holds a secret, a row's
 * value or an engine's own text. `cause` is for the log.
 */
export class ServiceError extends Error {
  override readonly name = 'ServiceError';

  constructor(
    readonly reason: Reason,
    message: string,
    readonly details: ErrorDetails = {},
    options?: { cause?: unknown },
  ) {
    super(message, options);
  }
}

/** What programs read of a fault. Nothing of it is sent: callers have the message and the hint. */
export interface FaultNote {
  /**
   * `ungrouped`: a column that is neither grouped nor aggregated. `value`: a row's value did not fit, `pattern`: a regular expression
   * of the query did not. `untranslated`: the engine's database does not take the query as it was translated.
   */
  readonly code?: 'ungrouped' | 'value' | 'pattern' | 'untranslated';
  /** The unknown name. */
  readonly name?: string;
  /** What was probably meant in its place. */
  readonly suggestion?: string;
  /** The record in which there is a field of that name, by its path. */
  readonly record?: string;
}

export type QueryFault = 'invalidQuery' | 'sandboxViolation' | 'unknownField' | 'resourcesExceeded';

/**
 * A fault in a SQL text, with its place in that text. `locate` (position.ts) turns it into a ServiceError once the
 * text that the caller sent is known; until then offsets are UTF-16 offsets into the text that was read.
 */
export class QueryError extends Error {
  override readonly name = 'QueryError';

  constructor(
    readonly fault: QueryFault,
    message: string,
    /** null: the fault has no single place. */
    readonly span: { readonly start: number; readonly end: number } | null,
    readonly details: Pick<ErrorDetails, 'allowed' | 'hint' | 'parameter'> & { readonly note?: FaultNote } = {},
  ) {
    super(message);
  }
}

/** Longest excerpt in `near`, in code points. */
const NEAR_LIMIT = 80;

/**
 * Line and column, both from 1, of a UTF-16 offset. Columns count Unicode code points and a tab is one
 * (docs/errors.md); CR, LF and CRLF each end a line.
 */
export function lineAndColumn(text: string, offset: number): { line: number; column: number } {
  let line = 1;
  let lineStart = 0;
  for (let i = 0; i < offset; i++) {
    const unit = text.charCodeAt(i);
    if (unit === 0x0a || (unit === 0x0d && text.charCodeAt(i + 1) !== 0x0a)) {
      line++;
      lineStart = i + 1;
    }
  }
  return { line, column: Array.from(text.slice(lineStart, offset)).length + 1 };
}

/** The UTF-16 offset of what `lineAndColumn` gives; beyond the end of a line it is that end. */
export function offsetOf(text: string, line: number, column: number): number {
  const lines = text.split(/(?<=\r\n|\n|\r(?!\n))/);
  const before = lines.slice(0, line - 1).join('').length;
  const points = Array.from(lines[line - 1] ?? '');
  return before + points.slice(0, column - 1).join('').length;
}

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

/**
 * The operating system's code of a failed call (`ENOENT`, `EACCES`, ...); null for any other failure. By shape: such errors
 * come from other realms too, where `instanceof Error` does not know them.
 */
export function systemCode(error: unknown): string | null {
  if (typeof error !== 'object' || error === null || !('code' in error) || !('syscall' in error)) return null;
  return typeof error.code === 'string' ? error.code : null;
}
