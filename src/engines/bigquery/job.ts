/**
 * One query on BigQuery from its request to its last page. An unfinished job is polled, never taken for an empty
 * result, and cancelled on the server once nobody waits.
 */
import { randomUUID } from 'node:crypto';
import { ServiceError } from '../../errors';
import type { RunLimits } from '../contract';
import type { JobReference, QueryRequest, QueryResponse } from './api';
import { ApiFailure } from './errors';
import { retrying } from './retry';
import type { Transport } from './transport';

/**
 * Milliseconds after which jobs.query answers `jobComplete: false` and names the job. Until then nobody knows its name,
 * so that request is never aborted because a caller left.
 */
const FIRST_ANSWER = 1_000;
/** What the first request may take beyond that, in milliseconds. */
const FIRST_ANSWER_GRACE = 5_000;
/** Milliseconds that one getQueryResults waits for the job. */
const LONG_POLL = 10_000;
const CANCEL_TIMEOUT = 5_000;

/** What differs between queries; the rest of the request is the same for each. */
export type QueryBody = Pick<
  QueryRequest,
  'query' | 'queryParameters' | 'defaultDataset' | 'location' | 'maximumBytesBilled' | 'labels'
>;

/**
 * The pages of a query's result as they come, the first one also when it has no rows. The reader stops when it has
 * enough. A job that is unfinished when the reader gives up, the signal fires or the deadline passes is cancelled.
 *
 * @throws ApiFailure; ServiceError `deadlineExceeded`; AbortError after `limits.signal`
 */
export async function* queryPages(
  transport: Transport,
  body: QueryBody,
  pageRows: number,
  limits: RunLimits,
): AsyncGenerator<QueryResponse, void> {
  const started = start(transport, body, pageRows, limits);
  let response = await abandonable(started, limits, (late) => cancelIfUnfinished(transport, late));
  const job = response.jobReference;
  try {
    while (response.jobComplete !== true) {
      if (job === undefined) throw new ApiFailure(200, 'malformedAnswer', 'An unfinished job has no reference.');
      const timeoutMs = Math.max(1, Math.floor(Math.min(LONG_POLL, remaining(limits))));
      response = await results(transport, job, { timeoutMs: String(timeoutMs), maxResults: String(pageRows) }, limits);
    }
  } catch (error) {
    if (job !== undefined) cancel(transport, job);
    throw error;
  }
  yield failOnErrors(response);
  while (response.pageToken !== undefined && job !== undefined) {
    response = await results(transport, job, { pageToken: response.pageToken, maxResults: String(pageRows) }, limits);
    yield failOnErrors(response);
  }
}

/** jobs.query. Its retries carry one request id, so that a lost answer does not start a second job. */
function start(transport: Transport, body: QueryBody, pageRows: number, limits: RunLimits): Promise<QueryResponse> {
  const request: QueryRequest = {
    ...body,
    useLegacySql: false,
    parameterMode: 'NAMED',
    maxResults: pageRows,
    timeoutMs: FIRST_ANSWER,
    jobTimeoutMs: String(Math.max(1, Math.ceil(remaining(limits)))),
    useQueryCache: true,
    requestId: randomUUID(),
    jobCreationMode: 'JOB_CREATION_OPTIONAL',
    formatOptions: { useInt64Timestamp: true },
  };
  const never = new AbortController().signal;
  return retrying(
    () => {
      const signal = AbortSignal.timeout(Math.ceil(Math.min(remaining(limits), FIRST_ANSWER) + FIRST_ANSWER_GRACE));
      return transport.send<QueryResponse>({ method: 'POST', path: '/queries', body: request, signal });
    },
    () => (limits.signal.aborted ? 0 : remaining(limits)),
    never,
  );
}

function results(
  transport: Transport,
  job: JobReference,
  query: Readonly<Record<string, string>>,
  limits: RunLimits,
): Promise<QueryResponse> {
  const left = remaining(limits);
  if (left <= 0) throw deadlineExceeded();
  const signal = AbortSignal.any([limits.signal, AbortSignal.timeout(Math.ceil(left))]);
  const location: Record<string, string> = job.location === undefined ? {} : { location: job.location };
  return retrying(
    () =>
      transport.send<QueryResponse>({
        method: 'GET',
        path: `/queries/${encodeURIComponent(job.jobId)}`,
        query: { ...query, ...location, 'formatOptions.useInt64Timestamp': 'true' },
        signal,
      }),
    () => remaining(limits),
    signal,
  ).catch((error: unknown) => {
    throw signal.aborted && !limits.signal.aborted ? deadlineExceeded() : error;
  });
}

/**
 * The promise, given up at the deadline or the abort without being aborted itself: what it brings late goes to `late`.
 */
async function abandonable<T>(promise: Promise<T>, limits: RunLimits, late: (value: T) => void): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  let onAbort: (() => void) | undefined;
  const givenUp = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(deadlineExceeded()), Math.max(0, remaining(limits)));
    onAbort = () => reject(new DOMException('Nobody waits for the result.', 'AbortError'));
    if (limits.signal.aborted) onAbort();
    else limits.signal.addEventListener('abort', onAbort, { once: true });
  });
  try {
    return await Promise.race([promise, givenUp]);
  } catch (error) {
    promise.then(late, () => undefined);
    throw error;
  } finally {
    clearTimeout(timer);
    if (onAbort !== undefined) limits.signal.removeEventListener('abort', onAbort);
  }
}

function cancelIfUnfinished(transport: Transport, response: QueryResponse): void {
  if (response.jobComplete !== true && response.jobReference !== undefined) cancel(transport, response.jobReference);
}

/** Asks for the cancellation and waits for nothing: it is best effort, and `jobTimeoutMs` bounds what is left. */
function cancel(transport: Transport, job: JobReference): void {
  transport
    .send({
      method: 'POST',
      path: `/jobs/${encodeURIComponent(job.jobId)}/cancel`,
      query: job.location === undefined ? {} : { location: job.location },
      signal: AbortSignal.timeout(CANCEL_TIMEOUT),
    })
    .catch(() => undefined);
}

/** Some services answer a failed query with 200, an empty result and `errors`: that is no result. */
function failOnErrors(response: QueryResponse): QueryResponse {
  const [error] = response.errors ?? [];
  const fields = response.schema?.fields;
  const hasColumns = Array.isArray(fields) && fields.length > 0;
  // Beside columns, `errors` are warnings.
  if (error !== undefined && !hasColumns && (response.rows ?? []).length === 0) {
    throw new ApiFailure(200, error.reason ?? 'unknown', error.message ?? 'The query failed.');
  }
  return response;
}

function remaining(limits: RunLimits): number {
  return limits.deadline - performance.now();
}

function deadlineExceeded(): ServiceError {
  return new ServiceError('deadlineExceeded', 'The query did not finish in time. Choose a shorter time range.');
}
