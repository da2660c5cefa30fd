/**
 * A failure as the API reports it, before it is translated for the caller. The `reason` decides what it is, not the HTTP status:
 * the bytes limit comes as 500, quotas as 403, a job that failed through no fault of its query as 400.
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

/** A job was made and has failed: the same request, or the same job, gives the same failure for ever. */
const FAILED_JOB_REASONS = ['jobBackendError', 'jobInternalError', 'jobRateLimitExceeded'];
/** How such a failure begins where it comes with the reason of a request that failed, such as 503 backendError. */
const FAILED_JOB_WORDS = /^(error encountered during execution|the job encountered)/i;
const TRANSIENT_REASONS = new Set([
  ...FAILED_JOB_REASONS,
  'backendError',
  'badGateway',
  'brokenAnswer',
  'connectionFailed',
  'internalError',
  'noAnswer',
  'rateLimitExceeded',
  'tableUnavailable',
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

/** Whether the same query may succeed shortly. */
export function isTransient({ httpStatus, reason }: ApiFailure): boolean {
  if (FINAL_REASONS.has(reason)) return false;
  if (TRANSIENT_REASONS.has(reason) || httpStatus === null || TRANSIENT_STATUS.has(httpStatus)) return true;
  // A proxy's page has a status and no reason.
  return httpStatus >= 500 && reason === 'unknown';
}

/**
 * Whether a job is known to have ended by a transient failure, so that the query needs another job. Otherwise a job may run, or
 * have run, and its result belongs to the same request.
 */
export function isFailedJob(failure: ApiFailure): boolean {
  const { httpStatus, reason, detail } = failure;
  if (!isTransient(failure) || reason === 'brokenAnswer') return false;
  return (
    httpStatus === 400 || httpStatus === 200 || FAILED_JOB_REASONS.includes(reason) || FAILED_JOB_WORDS.test(detail)
  );
}

/** Whether the same request may succeed shortly, or tell what became of an earlier one. */
export function isUnanswered(failure: ApiFailure): boolean {
  return isTransient(failure) && !isFailedJob(failure);
}

const RATE_LIMITS = new Set(['rateLimitExceeded', 'jobRateLimitExceeded']);

/** Whether it says that the service is down, rather than busy with others or unwilling to run this query. */
export function isOutage(failure: ApiFailure): boolean {
  // 400: a job has failed, perhaps by its own query, and the service has said so.
  if (RATE_LIMITS.has(failure.reason) || failure.httpStatus === 429 || failure.httpStatus === 400) return false;
  return isTransient(failure) || failure.httpStatus === 401;
}

/** An answer that does not have the API's form. */
export function malformedAnswer(what: string): ApiFailure {
  return new ApiFailure(200, 'malformedAnswer', what);
}
