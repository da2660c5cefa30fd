/** The closed list of reasons why a request fails (docs/querying.md); what HTTP makes of each is said in src/errors.ts. */
export type Reason =
  | 'invalidParameter'
  | 'invalidQuery'
  | 'invalidLql'
  | 'unknownField'
  | 'resourcesExceeded'
  | 'bytesBilledLimitExceeded'
  | 'unauthenticated'
  | 'sandboxViolation'
  | 'accessDenied'
  | 'notFound'
  | 'methodNotAllowed'
  | 'notAcceptable'
  | 'payloadTooLarge'
  | 'uriTooLong'
  | 'unsupportedMediaType'
  | 'headersTooLarge'
  | 'rateLimitExceeded'
  | 'budgetExceeded'
  | 'tooManyConcurrentQueries'
  | 'storedQueryFailed'
  | 'internalError'
  | 'notImplemented'
  | 'backendError'
  | 'backendUnavailable'
  | 'endpointBroken'
  | 'insufficientStorage'
  | 'deadlineExceeded';

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
