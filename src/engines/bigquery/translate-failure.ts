/** BigQuery's failures as errors of the service, by their `reason`. */
import { QueryError, type Reason, ServiceError } from '../../errors';
import { deadlineExceeded } from '../../concurrency/deadline';
import { OUT_OF_MEMORY } from '../execution-faults';
import { isTransient, type ApiFailure } from './api-failure';
import { queryFault, unknownTable, type SentText } from './query-faults';

type PublicError = readonly [reason: Reason, message: string, retryAfter?: number];

const QUOTA: PublicError = ['backendUnavailable', "BigQuery's quota is used up for now.", 60];
const BUSY: PublicError = ['backendUnavailable', 'BigQuery asks for fewer requests.', 5];
const UNAVAILABLE: PublicError = ['backendUnavailable', 'BigQuery is not available.', 5];
const UNREADABLE: PublicError = ['backendError', "BigQuery's answer could not be read."];
const REFUSED: PublicError = ['backendError', 'BigQuery could not run the query.'];

/** A map: the reason is BigQuery's text, and may be the name of a member that every object has. */
const BY_REASON: ReadonlyMap<string, PublicError> = new Map(
  Object.entries<PublicError>({
    brokenAnswer: UNREADABLE,
    bytesBilledLimitExceeded: [
      'bytesBilledLimitExceeded',
      'The query would read more bytes than it may bill. Reduce the time range or ask for less.',
    ],
    jobRateLimitExceeded: BUSY,
    malformedAnswer: UNREADABLE,
    quotaExceeded: QUOTA,
    rateLimitExceeded: BUSY,
    resourcesExceeded: ['resourcesExceeded', OUT_OF_MEMORY],
    responseTooLarge: ['resourcesExceeded', 'The result is too large for BigQuery. Ask for fewer rows or columns.'],
    usageQuotaExceeded: QUOTA,
  }),
);

/** For a query that the local BigQuery says it cannot run: the query may be right. */
const LOCAL_LIMIT =
  'The local BigQuery cannot run this query. BigQuery may: emulator/README.md has the limits of the local one.';

/** Reasons for a fault in the query, where they come with 400, or with 200 from services that answer so. */
const QUERY_FAULTS = new Set(['invalidQuery', 'invalid']);

/**
 * The error for the caller. Details of the service's own set-up (a role, a table, credentials) go to the log only
 * (`isOperatorsMatter`).
 */
export function translateFailure(failure: ApiFailure, text: SentText): ServiceError | QueryError {
  const { httpStatus, reason, detail, retryAfter } = failure;
  if (QUERY_FAULTS.has(reason) && (httpStatus === 400 || httpStatus === 200)) return queryFault(detail, text);
  if (reason === 'notImplemented' && detail.startsWith('The local BigQuery'))
    return new QueryError('invalidQuery', LOCAL_LIMIT, null);
  if (reason === 'notFound' && !/not found: job/i.test(detail)) return unknownTable(detail, text);
  // A job is stopped by its own time limit, which is the run's, or by somebody else.
  if (reason === 'timeout' || (reason === 'stopped' && /timed? ?out/i.test(detail))) return deadlineExceeded();
  const error = BY_REASON.get(reason) ?? (isTransient(failure) ? UNAVAILABLE : REFUSED);
  const [publicReason, message, seconds] = httpStatus === 429 ? BUSY : error;
  const wait = seconds === undefined ? {} : { retryAfter: retryAfter ?? seconds };
  return new ServiceError(publicReason, message, wait, { cause: failure });
}

const OPERATORS = new Set([
  'accessDenied',
  'billingNotEnabled',
  'noCredentials',
  'notFound',
  'quotaExceeded',
  'usageQuotaExceeded',
]);

/** Whether the operator has to act. BigQuery's messages for these name tables and roles, never a value. */
export function isOperatorsMatter({ reason, httpStatus }: ApiFailure): boolean {
  return OPERATORS.has(reason) || httpStatus === 401 || httpStatus === 403;
}
