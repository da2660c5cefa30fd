import { randomUUID } from 'node:crypto';
import { jobResource, planStatistics } from '../jobs/resource';
import { BigQueryError, invalid } from '../query/error';
import { findJob, queryRequest, startJob, type QueryContext } from './queries';
import { boolean, labels, record, text } from './read';
import { ok, type ApiReply, type ApiRequest } from './routes';
import { isGoccy } from './shape';

/** POST /projects/:project/jobs. A dry run is answered with what it would do; a fault in its text is the answer's fault. */
export async function insertJob(context: QueryContext, { path, body }: ApiRequest): Promise<ApiReply> {
  const project = path['project'] ?? '';
  const configuration = record(body['configuration']);
  if (configuration['query'] === undefined)
    throw new BigQueryError('notImplemented', 'The local BigQuery runs query jobs only');
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
  const id = text(requested['jobId']) ?? `job_${randomUUID().replaceAll('-', '')}`;
  if (!/^[\w-]{1,1024}$/.test(id)) throw invalid(`Invalid job ID "${id}"`);
  if (context.jobs.get(id) !== null)
    throw new BigQueryError('duplicate', `Already Exists: Job ${project}:${request.location}.${id}`);
  const rest = { jobTimeoutMs: configuration['jobTimeoutMs'], labels: configuration['labels'] };
  const job = startJob(context, request, { ...query, ...defined(rest) }, true, id);
  context.jobs.add(job, null);
  if (isGoccy(context.shape)) await job.wait(60_000);
  return ok(isGoccy(context.shape) ? withoutStatistics(jobResource(job)) : jobResource(job));
}

/** GET /projects/:project/jobs/:job */
export function getJob(context: QueryContext, { path, query }: ApiRequest): ApiReply {
  const resource = jobResource(findJob(context, path, query));
  return ok(isGoccy(context.shape) ? withoutStatistics(resource) : resource);
}

/** GET /projects/:project/jobs */
export function listJobs(context: QueryContext, { path }: ApiRequest): ApiReply {
  const jobs = context.jobs.all().filter((job) => job.spec.request.project === path['project'] && job.spec.listed);
  return ok({ kind: 'bigquery#jobList', jobs: jobs.map(jobResource) });
}

/** POST /projects/:project/jobs/:job/cancel. Answers at once; goccy's emulator does so and does nothing. */
export function cancelJob(context: QueryContext, { path, query }: ApiRequest): ApiReply {
  const job = findJob(context, path, query);
  if (!isGoccy(context.shape)) job.cancel();
  return ok({ kind: 'bigquery#jobCancelResponse', job: jobResource(job) });
}

/** DELETE /projects/:project/jobs/:job/delete */
export function deleteJob(context: QueryContext, { path, query }: ApiRequest): ApiReply {
  context.jobs.remove(findJob(context, path, query));
  return { status: 204, json: null };
}

function withoutStatistics(resource: Record<string, unknown>): Record<string, unknown> {
  const { creationTime, startTime, endTime } = record(resource['statistics']);
  return { ...resource, statistics: { creationTime, startTime, endTime, query: { statementType: 'SELECT' } } };
}

function defined(values: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
}
