import { type NamedType } from '../googlesql/types';
import { type Plan } from '../query/runner';
import { fieldsOf } from '../warehouse/schema';
import { type Job } from './job';
import { type StoredJob } from './store';

/** The `Job` resource of the API, around what its kind adds. */
export function resourceOf(
  job: StoredJob,
  configuration: Readonly<Record<string, unknown>>,
  statistics: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const { id, project, location, created, ended } = job;
  return {
    kind: 'bigquery#job',
    etag: 'local',
    id: `${project}:${location}.${id}`,
    jobReference: { projectId: project, jobId: id, location },
    configuration,
    user_email: 'local@example.com',
    status: jobStatus(job),
    statistics: {
      creationTime: String(created),
      startTime: String(created),
      ...(ended === null ? {} : { endTime: String(ended) }),
      ...statistics,
    },
  };
}

/** The `Job` resource of a query. */
export function jobResource(job: Job): Record<string, unknown> {
  return resourceOf(job, job.spec.configuration, job.plan === null ? {} : planStatistics(job.plan, false));
}

function jobStatus(job: StoredJob): Record<string, unknown> {
  if (!job.done) return { state: 'RUNNING' };
  if (job.error === null) return { state: 'DONE' };
  return { state: 'DONE', errorResult: job.error.entry, errors: [job.error.entry] };
}

/** What a job's statistics say of its query. `undeclared` is for dry runs, which infer parameters. */
export function planStatistics(plan: Plan, dryRun: boolean): Record<string, unknown> {
  const billed = dryRun ? 0 : plan.bytesBilled;
  return {
    totalBytesProcessed: String(plan.bytesProcessed),
    totalSlotMs: '1',
    query: {
      totalBytesProcessed: String(plan.bytesProcessed),
      totalBytesBilled: String(billed),
      totalBytesProcessedAccuracy: 'PRECISE',
      totalSlotMs: '1',
      cacheHit: false,
      statementType: plan.statementType,
      ...(plan.tables.length === 0
        ? {}
        : {
            referencedTables: plan.tables.map((t) => ({ projectId: t.project, datasetId: t.dataset, tableId: t.id })),
          }),
      ...(plan.columns.length === 0 ? {} : { schema: { fields: fieldsOf(plan.columns) } }),
      ...(plan.undeclared.length === 0 ? {} : { undeclaredQueryParameters: plan.undeclared.map(undeclared) }),
    },
  };
}

function undeclared({ name, type }: NamedType): Record<string, unknown> {
  const parameterType =
    type.kind === 'ARRAY' ? { type: 'ARRAY', arrayType: { type: type.element.kind } } : { type: type.kind };
  return { name, parameterType };
}
