/**
 * A failure as the API reports it, before it is translated for the caller. The `reason` decides what it is, not the HTTP status:
 * the bytes limit comes as 500, quotas as 403, and goccy's emulator says 400 jobInternalError for all that is wrong with
 * a query.
 */
export class ApiFailure extends Error {
  override readonly name = 'ApiFailure';
  /** Private, so that no logger prints it: it may quote a row or the query. */
  readonly #detail: string;

  constructor(
    /** null: no answer came. */
    readonly httpStatus: number | null,
    readonly reason: string,
    detail = '',
    /** Seconds that the service asks to wait. */
    readonly retryAfter: number | null = null,
  ) {
    super(httpStatus === null ? reason : `${reason} (HTTP ${httpStatus})`);
    this.#detail = detail;
  }

  /** BigQuery's own words. */
  get detail(): string {
    return this.#detail;
  }
}

const TRANSIENT_REASONS = new Set([
  'backendError',
  'brokenAnswer',
  'connectionFailed',
  'internalError',
  'jobBackendError',
  'jobInternalError',
  'jobRateLimitExceeded',
  'noAnswer',
  'rateLimitExceeded',
]);
/** Reasons that no second try can help, whatever status they come with. */
const FINAL_REASONS = new Set([
  'accessDenied',
  'billingNotEnabled',
  'bytesBilledLimitExceeded',
  'duplicate',
  'invalid',
  'invalidQuery',
  'malformedAnswer',
  'notFound',
  'quotaExceeded',
  'resourcesExceeded',
  'responseTooLarge',
  'stopped',
  'usageQuotaExceeded',
]);
const TRANSIENT_STATUS = new Set([408, 429, 502, 503, 504]);

/** Whether the same request may succeed shortly. */
export function isTransient({ httpStatus, reason }: ApiFailure): boolean {
  if (FINAL_REASONS.has(reason) || httpStatus === 400) return false;
  if (TRANSIENT_REASONS.has(reason) || httpStatus === null || TRANSIENT_STATUS.has(httpStatus)) return true;
  // A proxy's page has a status and no reason.
  return httpStatus >= 500 && reason === 'unknown';
}

const RATE_LIMITS = new Set(['rateLimitExceeded', 'jobRateLimitExceeded']);

/** Whether it says that the service is down, rather than busy with others or unwilling to run this query. */
export function isOutage(failure: ApiFailure): boolean {
  if (RATE_LIMITS.has(failure.reason) || failure.httpStatus === 429) return false;
  return isTransient(failure) || failure.httpStatus === 401;
}

/** An answer that does not have the API's form. */
export function malformedAnswer(what: string): ApiFailure {
  return new ApiFailure(200, 'malformedAnswer', what);
}
