/**
 * One query on BigQuery from its request to its last page. An unfinished job is polled, never taken for an empty
 * result, and cancelled on the server once nobody waits.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { RunLimits } from '@logquay/duckdb-engine/contract';
import { remaining, raceLimits, withinLimits } from '@logquay/duckdb-engine/concurrency';
import type { JobReference, JobResource, QueryRequest, QueryResponse } from './api';
import { ApiFailure, isFailedJob, isUnanswered, malformedAnswer } from './api-failure';
import { retrying, type Transport } from './transport';

/**
 * Milliseconds after which jobs.query answers `jobComplete: false` and names the job. Until then nobody knows its name,
 * so that request is never aborted because a caller left.
 */
const FIRST_ANSWER = 1_000;
/** Milliseconds that one getQueryResults lets the service wait for the job. */
const LONG_POLL = 10_000;
/** Silence of the service beyond what it was asked to wait, in milliseconds, that counts as no answer. */
const GRACE = 10_000;
/** Milliseconds between polls of a service that does not wait itself; grows up to the second. */
const POLL_PAUSE = [50, 1_000] as const;
const CANCEL_TIME = 5_000;

/** What differs between queries; the rest of the request is the same for each. */
export type QueryBody = Omit<
  QueryRequest,
  'maxResults' | 'timeoutMs' | 'jobTimeoutMs' | 'useQueryCache' | 'requestId' | 'jobCreationMode' | 'formatOptions'
>;

/** Rows that a reader wants, and at most in one page. */
export interface Wanted {
  readonly maxRows: number;
  readonly mostPerPage: number;
}

export interface JobContext {
  readonly transport: Transport;
  /** Takes work that goes on although nobody waits for it: late first answers, cancellations. */
  readonly detach: (work: Promise<unknown>) => void;
}

/**
 * The pages of a query's result as they come, the first one also when it has no rows. The reader stops when it has
 * enough. A job that is unfinished when the limits end is cancelled.
 *
 * @param wanted no page is asked for more rows than are missing
 * @throws ApiFailure; ServiceError `deadlineExceeded`; AbortError after `limits.signal`
 */
export async function* queryPages(
  context: JobContext,
  body: QueryBody,
  { maxRows, mostPerPage }: Wanted,
  limits: RunLimits,
): AsyncGenerator<QueryResponse, void> {
  const mostFirst = Math.min(maxRows, mostPerPage);
  const first = await retrying(() => firstPage(context, body, mostFirst, limits), limits, isFailedJob);
  const { job } = first;
  let { page } = first;
  let rows = 0;
  for (;;) {
    yield page;
    if (page.pageToken === undefined || page.pageToken === '') return;
    if (job === undefined) throw malformedAnswer('More pages, and no job to ask for them.');
    if (Array.isArray(page.rows)) rows += page.rows.length;
    const query = { pageToken: page.pageToken, maxResults: String(Math.max(1, Math.min(maxRows - rows, mostPerPage))) };
    page = await results(context, job, query, limits);
    if (page.jobComplete === false) throw malformedAnswer('A page of an unfinished job.');
    failOnErrors(page);
  }
}

/** One job up to the first page of its result. */
async function firstPage(
  context: JobContext,
  body: QueryBody,
  maxRows: number,
  limits: RunLimits,
): Promise<{ readonly job: JobReference | undefined; readonly page: QueryResponse }> {
  const answer = await raceLimits(
    limits,
    () => start(context, body, maxRows, limits),
    (late) => cancelUnfinished(context, late),
  );
  const page = await untilComplete(context, answer, maxRows, limits);
  failOnErrors(page);
  return { job: answer.jobReference, page };
}

/**
 * jobs.query. Its retries carry one request id, so that a lost answer does not start a second job: only a job that is known to
 * have failed is followed by another. It goes on when the caller has left, since only its answer names the job that has to be
 * cancelled.
 */
function start(
  { transport, detach }: JobContext,
  body: QueryBody,
  maxResults: number,
  limits: RunLimits,
): Promise<QueryResponse> {
  const request: QueryRequest = {
    ...body,
    maxResults,
    timeoutMs: FIRST_ANSWER,
    jobTimeoutMs: String(Math.max(1, Math.ceil(remaining(limits)))),
    useQueryCache: true,
    requestId: randomUUID(),
    jobCreationMode: 'JOB_CREATION_OPTIONAL',
    formatOptions: { useInt64Timestamp: true },
  };
  const attempt = (): Promise<QueryResponse> =>
    transport.send({ method: 'POST', path: '/queries', body: request, patience: FIRST_ANSWER + GRACE });
  const answer = retrying(attempt, limits, isUnanswered);
  detach(answer);
  return answer;
}

/** Polls until the job has ended; cancels it at the deadline or on cancellation. */
async function untilComplete(
  context: JobContext,
  first: QueryResponse,
  maxRows: number,
  limits: RunLimits,
): Promise<QueryResponse> {
  let page = first;
  const job = first.jobReference;
  let [pause]: readonly number[] = POLL_PAUSE;
  while (page.jobComplete !== true) {
    if (job === undefined) throw malformedAnswer('An unfinished job has no reference.');
    try {
      const sent = performance.now();
      const timeoutMs = Math.max(1, Math.floor(Math.min(LONG_POLL, remaining(limits))));
      page = await results(context, job, { timeoutMs: String(timeoutMs), maxResults: String(maxRows) }, limits);
      if (page.jobComplete === true || performance.now() - sent > POLL_PAUSE[1]) continue;
      const wait = (pause ??= POLL_PAUSE[0]);
      await withinLimits(limits, (signal) => sleep(wait, undefined, { signal }));
      pause = Math.min(2 * wait, POLL_PAUSE[1]);
    } catch (error) {
      // A final answer of the service is the job's own end.
      if (error instanceof ApiFailure && !isUnanswered(error)) throw error;
      const end = error instanceof ApiFailure ? await failureOf(context, job, limits).catch(() => null) : null;
      if (end === null) cancel(context, job);
      throw end ?? error;
    }
  }
  return page;
}

function results(
  { transport }: JobContext,
  job: JobReference,
  query: Readonly<Record<string, string>>,
  limits: RunLimits,
): Promise<QueryResponse> {
  const path = `/queries/${encodeURIComponent(job.jobId)}`;
  const all = { ...query, ...locationOf(job), 'formatOptions.useInt64Timestamp': 'true' };
  const patience = Number(query['timeoutMs'] ?? 0) + GRACE;
  return withinLimits(limits, (signal) =>
    retrying(
      () => transport.send<QueryResponse>({ method: 'GET', path, query: all, patience, signal }),
      { deadline: limits.deadline, signal },
      isUnanswered,
    ),
  );
}

/** What the job has failed with, if it has: getQueryResults may answer that like a request which itself has failed. */
async function failureOf({ transport }: JobContext, job: JobReference, limits: RunLimits): Promise<ApiFailure | null> {
  const request = { method: 'GET', path: `/jobs/${encodeURIComponent(job.jobId)}`, query: locationOf(job) } as const;
  const { status } = await withinLimits(limits, (signal) =>
    transport.send<JobResource>({ ...request, patience: GRACE, signal }),
  );
  const failed = status?.errorResult;
  return failed === undefined ? null : new ApiFailure(200, failed.reason ?? 'unknown', failed.message ?? '');
}

function cancelUnfinished(context: JobContext, { jobComplete, jobReference }: QueryResponse): void {
  if (jobComplete !== true && jobReference !== undefined) cancel(context, jobReference);
}

/** Best effort: `jobTimeoutMs` bounds what a cancellation that never arrives leaves running. */
function cancel({ transport, detach }: JobContext, job: JobReference): void {
  const path = `/jobs/${encodeURIComponent(job.jobId)}/cancel`;
  const limits = { deadline: performance.now() + CANCEL_TIME, signal: new AbortController().signal };
  const request = { method: 'POST', path, query: locationOf(job), patience: CANCEL_TIME } as const;
  detach(
    withinLimits(limits, (signal) => retrying(() => transport.send({ ...request, signal }), { ...limits, signal })),
  );
}

function locationOf({ location }: JobReference): Record<string, string> {
  return location === undefined ? {} : { location };
}

/** Some services answer a failed query with 200, an empty result and `errors`. Beside columns, they are warnings. */
function failOnErrors({ errors, schema, rows }: QueryResponse): void {
  const [error] = errors ?? [];
  const hasColumns = Array.isArray(schema?.fields) && schema.fields.length > 0;
  if (error === undefined || hasColumns || (Array.isArray(rows) && rows.length > 0)) return;
  throw new ApiFailure(200, error.reason ?? 'invalidQuery', error.message ?? '');
}
