import { randomUUID } from 'node:crypto';
import { Job } from '../jobs/job';
import { jobResource, planStatistics } from '../jobs/resource';
import { type JobStore, type StoredJob } from '../jobs/store';
import { BigQueryError, invalid } from '../query/error';
import { findJob, queryRequest, startJob, type QueryContext } from './queries';
import { LoadJob } from './load/load-job';
import { loadResource } from './load/resource';
import { boolean, labels, record, smallInteger, text } from './read';
import { ok, type ApiReply, type ApiRequest } from './routes';
import { isGoccy } from './shape';

/** POST /projects/:project/jobs. A dry run is answered with what it would do; a fault in its text is the answer's fault. */
export async function insertJob(context: QueryContext, { path, body }: ApiRequest): Promise<ApiReply> {
  const project = path['project'] ?? '';
  const configuration = record(body['configuration']);
  if (configuration['load'] !== undefined)
    throw new BigQueryError('notImplemented', 'The local BigQuery loads what is uploaded, and reads no URI');
  if (configuration['query'] === undefined)
    throw new BigQueryError('notImplemented', 'The local BigQuery runs queries and loads, and no other jobs');
  const query = record(configuration['query']);
  const requested = record(body['jobReference']);
  const request = queryRequest(context, project, query, requested['location']);
  labels(configuration['labels']);
  if (query['destinationTable'] !== undefined)
    throw new BigQueryError('notImplemented', 'The local BigQuery writes no destination table');
  if (boolean(configuration['dryRun']) && !isGoccy(context.shape)) {
    const plan = await context.runner.plan(request, true);
    return ok({
      kind: 'bigquery#job',
      jobReference: { projectId: project, location: request.location },
      configuration: { jobType: 'QUERY', ...configuration },
      status: { state: 'DONE' },
      statistics: { creationTime: String(Date.now()), ...planStatistics(plan, true) },
    });
  }
  const id = newJobId(context.jobs, project, requested, request.location);
  const rest = { jobTimeoutMs: configuration['jobTimeoutMs'], labels: configuration['labels'] };
  const job = startJob(context, request, { ...query, ...defined(rest) }, true, id);
  context.jobs.add(job);
  if (isGoccy(context.shape)) await job.wait(60_000);
  return ok(isGoccy(context.shape) ? withoutStatistics(jobResource(job)) : jobResource(job));
}

/** GET /projects/:project/jobs/:job */
export function getJob(context: QueryContext, { path, query }: ApiRequest): ApiReply {
  const resource = anyResource(findJob(context, path, query));
  return ok(isGoccy(context.shape) ? withoutStatistics(resource) : resource);
}

/** GET /projects/:project/jobs: newest first, in pages; `stateFilter`, `minCreationTime` and `maxCreationTime` count. */
export function listJobs(context: QueryContext, { path, query }: ApiRequest): ApiReply {
  const states = query.getAll('stateFilter').map((state) => state.toLowerCase());
  const from = smallInteger(query.get('minCreationTime'), 'minCreationTime') ?? 0;
  const to = smallInteger(query.get('maxCreationTime'), 'maxCreationTime') ?? Infinity;
  const jobs = context.jobs
    .all()
    .filter((job) => job.project === path['project'] && job.listed)
    .filter((job) => states.length === 0 || states.includes(job.done ? 'done' : 'running'))
    .filter(({ created }) => created >= from && created <= to);
  const start = smallInteger(query.get('pageToken'), 'pageToken') ?? 0;
  const most = smallInteger(query.get('maxResults'), 'maxResults') ?? jobs.length;
  const end = start + most;
  return ok({
    kind: 'bigquery#jobList',
    etag: 'local',
    jobs: jobs.slice(start, end).map(anyResource),
    ...(end < jobs.length && most > 0 ? { nextPageToken: String(end) } : {}),
  });
}

/** POST /projects/:project/jobs/:job/cancel. Answers at once; goccy's emulator does so and does nothing. */
export function cancelJob(context: QueryContext, { path, query }: ApiRequest): ApiReply {
  const job = findJob(context, path, query);
  if (!isGoccy(context.shape)) job.cancel();
  return ok({ kind: 'bigquery#jobCancelResponse', job: anyResource(job) });
}

/** DELETE /projects/:project/jobs/:job/delete */
export function deleteJob(context: QueryContext, { path, query }: ApiRequest): ApiReply {
  context.jobs.remove(findJob(context, path, query));
  return { status: 204, json: null };
}

function anyResource(job: StoredJob): Record<string, unknown> {
  if (job instanceof Job) return jobResource(job);
  if (job instanceof LoadJob) return loadResource(job);
  throw new Error('No such kind of job.');
}

/** The id that a request asks for, or a new one. @throws BigQueryError for one that is taken */
export function newJobId(
  jobs: JobStore,
  project: string,
  requested: Readonly<Record<string, unknown>>,
  location: string,
): string {
  const id = text(requested['jobId']) ?? `job_${randomUUID().replaceAll('-', '')}`;
  if (!/^[\w-]{1,1024}$/.test(id)) throw invalid(`Invalid job ID "${id}"`);
  if (jobs.get(id) !== null) throw new BigQueryError('duplicate', `Already Exists: Job ${project}:${location}.${id}`);
  return id;
}

function withoutStatistics(resource: Record<string, unknown>): Record<string, unknown> {
  const { creationTime, startTime, endTime } = record(resource['statistics']);
  return { ...resource, statistics: { creationTime, startTime, endTime, query: { statementType: 'SELECT' } } };
}

function defined(values: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
}
