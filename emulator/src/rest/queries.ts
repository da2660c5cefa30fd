import { randomUUID } from 'node:crypto';
import { Job, type JobSpec } from '../jobs/job';
import { pageOf, startOf, type PageRequest } from '../jobs/page';
import { type RowFormat, type TimestampFormat } from '../jobs/rows';
import { type JobStore, type StoredJob } from '../jobs/store';
import { asAnswered, type BigQueryError, invalid, notFound } from '../query/error';
import { parametersOf } from '../query/parameters';
import { type Plan, type QueryRequest, type QueryRunner } from '../query/runner';
import { fieldsOf } from '../warehouse/schema';
import { type JobFault } from './faults';
import { boolean, integer, labels, record, smallInteger, text } from './read';
import { JsonText, ok, type ApiReply, type ApiRequest } from './routes';
import { isGoccy, type Shape } from './shape';

const DEFAULT_TIMEOUT = 10_000;
/** BigQuery answers a long poll by then, however long the caller would wait. */
const LONGEST_WAIT = 200_000;

export interface QueryContext {
  readonly runner: QueryRunner;
  readonly jobs: JobStore;
  readonly shape: Shape;
  readonly location: string;
  /** Takes the fault meant for the next job, if any. */
  readonly jobFault: () => JobFault | null;
}

/** `QueryRequest` out of a jobs.query body or a job's `configuration.query`. */
export function queryRequest(
  context: QueryContext,
  project: string,
  config: Readonly<Record<string, unknown>>,
  location: unknown,
): QueryRequest {
  // Legacy SQL is BigQuery's default here: a caller that forgets to say otherwise is refused, as its query would be.
  if (config['useLegacySql'] !== false && !isGoccy(context.shape))
    throw invalid('The local BigQuery has no legacy SQL: send useLegacySql false', 'useLegacySql');
  const dataset = record(config['defaultDataset']);
  const standard = text(dataset['datasetId']);
  return {
    sql: String(config['query'] ?? ''),
    project,
    defaultDataset:
      standard === null || context.shape.ignoreDefaultDataset
        ? null
        : { project: text(dataset['projectId']) ?? project, dataset: standard },
    parameters: parametersOf(config['queryParameters']),
    maximumBytesBilled: isGoccy(context.shape) ? null : integer(config['maximumBytesBilled'], 'maximumBytesBilled'),
    location: text(location) ?? context.location,
  };
}

/** POST /projects/:project/queries */
export async function postQuery(context: QueryContext, { path, body }: ApiRequest): Promise<ApiReply> {
  const project = path['project'] ?? '';
  const request = queryRequest(context, project, body, body['location']);
  const format = rowFormat(record(body['formatOptions']), context.shape);
  labels(body['labels']);
  if (boolean(body['dryRun']) && !isGoccy(context.shape)) {
    const plan = await context.runner.plan(request, true);
    const jobReference = { projectId: project, location: request.location };
    return ok({
      kind: 'bigquery#queryResponse',
      jobReference,
      jobComplete: true,
      cacheHit: false,
      ...planFields(plan, true),
    });
  }
  const requestId = text(body['requestId']);
  if (requestId !== null && requestId.length > 36) throw invalid('requestId is longer than 36 characters', 'requestId');
  const known = requestId === null ? null : context.jobs.byRequest(requestId);
  const job = known ?? startJob(context, request, body, text(body['jobCreationMode']) !== 'JOB_CREATION_OPTIONAL');
  if (known === null) {
    context.jobs.add(job);
    if (requestId !== null) context.jobs.identify(job, requestId);
  }
  const done = await job.wait(waitOf(body['timeoutMs']));
  const maxResults = isGoccy(context.shape) ? null : smallInteger(body['maxResults'], 'maxResults');
  return results(context, job, done, 'bigquery#queryResponse', { maxResults, start: 0, format });
}

/** GET /projects/:project/queries/:job */
export async function getResults(context: QueryContext, { path, query }: ApiRequest): Promise<ApiReply> {
  const job = findJob(context, path, query);
  if (!(job instanceof Job)) throw invalid(`Job ${job.project}:${job.location}.${job.id} is not a query job`);
  const done = await job.wait(waitOf(query.get('timeoutMs')));
  const token = query.get('pageToken');
  const start =
    token === null || token === '' ? (smallInteger(query.get('startIndex'), 'startIndex') ?? 0) : startOf(job, token);
  const options = {
    useInt64Timestamp: query.get('formatOptions.useInt64Timestamp'),
    timestampOutputFormat: query.get('formatOptions.timestampOutputFormat'),
  };
  const format = rowFormat(options, context.shape);
  const maxResults = smallInteger(query.get('maxResults'), 'maxResults');
  return results(context, job, done, 'bigquery#getQueryResultsResponse', { maxResults, start, format });
}

/** The job that a path names. Its location has to be right where one is given; it has to be given outside the US and EU. */
export function findJob(context: QueryContext, path: ApiRequest['path'], query: URLSearchParams): StoredJob {
  const job = context.jobs.get(path['job'] ?? '');
  const location = query.get('location') ?? 'US';
  const here = job?.location.toUpperCase() ?? '';
  const found = here === location.toUpperCase() || (query.get('location') === null && here === 'EU');
  if (job === null || (!found && !isGoccy(context.shape)) || job.project !== path['project'])
    throw notFound(`Job ${path['project']}:${location}.${path['job']}`);
  return job;
}

/** Starts the job of a query; faults to inject come from the control path. */
export function startJob(
  context: QueryContext,
  request: QueryRequest,
  config: Readonly<Record<string, unknown>>,
  listed: boolean,
  id?: string,
): Job {
  const fault = context.jobFault();
  const spec: JobSpec = {
    id: id ?? `job_${randomUUID().replaceAll('-', '')}`,
    configuration: {
      jobType: 'QUERY',
      ...(config['labels'] === undefined ? {} : { labels: config['labels'] }),
      query: config,
    },
    request,
    timeout: fault?.untimed === true ? null : smallInteger(config['jobTimeoutMs'], 'jobTimeoutMs'),
    listed: listed || isGoccy(context.shape),
    held: fault?.held ?? 0,
    failure: fault?.failure ?? null,
  };
  return new Job(spec, context.runner);
}

function results(context: QueryContext, job: Job, done: boolean, kind: string, request: PageRequest): ApiReply {
  const { spec } = job;
  const jobReference = { projectId: spec.request.project, jobId: spec.id, location: spec.request.location };
  const times = { creationTime: String(job.created), startTime: String(job.created) };
  if (!done)
    return ok({ kind, jobReference, jobComplete: false, jobCreationReason: reason(spec, 'LONG_RUNNING'), ...times });
  if (job.error !== null) throw asAnswered(job.error);
  const page = pageOf(job, request);
  // A query that ran without a job has none to show, unless there is more of it to fetch.
  const stateless = !spec.listed && page.next === null && kind === 'bigquery#queryResponse';
  const head = {
    kind,
    ...(stateless ? {} : { jobReference, jobCreationReason: reason(spec, 'LARGE_RESULTS') }),
    ...(spec.listed ? {} : { queryId: spec.id }),
    location: spec.request.location,
    jobComplete: true,
    cacheHit: false,
    totalRows: String(job.rows.length),
    ...(page.next === null ? {} : { pageToken: page.next }),
    ...times,
    endTime: String(job.ended),
    ...(job.plan === null ? {} : planFields(job.plan, false, isGoccy(context.shape))),
  };
  if (page.rows.length === 0) return ok(head);
  return ok(new JsonText(`${JSON.stringify(head).slice(0, -1)},"rows":[${page.rows.join(',')}]}`));
}

function reason(spec: JobSpec, otherwise: string): { code: string } {
  return { code: spec.listed ? 'REQUESTED' : otherwise };
}

function planFields(plan: Plan, dryRun: boolean, withoutBytes = false): Record<string, unknown> {
  return {
    ...(plan.statementType === 'SELECT' ? { schema: { fields: fieldsOf(plan.columns) } } : {}),
    ...(withoutBytes
      ? {}
      : {
          statementType: plan.statementType,
          totalBytesProcessed: String(plan.bytesProcessed),
          totalBytesBilled: String(dryRun ? 0 : plan.bytesBilled),
          totalSlotMs: '1',
        }),
  };
}

function waitOf(timeout: unknown): number {
  return Math.min(smallInteger(timeout, 'timeoutMs') ?? DEFAULT_TIMEOUT, LONGEST_WAIT);
}

/** How a caller wants TIMESTAMPs written. Throws where it asks for two forms at once. */
export function rowFormat(options: Readonly<Record<string, unknown>>, shape: Shape): RowFormat {
  const named = text(options['timestampOutputFormat']);
  const int64 = boolean(options['useInt64Timestamp']);
  if (named !== null && int64) throw invalid('timestampOutputFormat and useInt64Timestamp exclude each other');
  const timestamps: TimestampFormat =
    int64 || named === 'INT64' ? 'INT64' : named === 'ISO8601_STRING' && !isGoccy(shape) ? named : 'FLOAT64';
  return { timestamps, recordTimestampsAsText: isGoccy(shape) };
}

/** The answer to a failed query in the shape of services that report it as a success with `errors`. */
export function errorAsResult(error: BigQueryError): ApiReply {
  return ok({
    kind: 'bigquery#queryResponse',
    jobComplete: true,
    schema: { fields: [] },
    totalRows: '0',
    rows: [],
    errors: [error.entry],
  });
}
