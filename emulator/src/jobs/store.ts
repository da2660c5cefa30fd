import { type Job } from './job';
import { type BigQueryError } from '../query/error';

const MOST_JOBS = 200;
/** By BigQuery's measure; in memory a result takes some ten times that. */
const MOST_BYTES = 8 * 1024 * 1024;
/** The newest stay, however big: somebody may be fetching their pages. */
const NEWEST = 16;
/** How long a request id identifies the job that its first request made (BigQuery: 15 minutes). */
const REQUEST_ID_LIFE = 15 * 60_000;

/** What every kind of job has. Times are milliseconds since the epoch. */
export interface StoredJob {
  readonly id: string;
  readonly project: string;
  readonly location: string;
  /** False for a query that BigQuery would run without a job. */
  readonly listed: boolean;
  readonly created: number;
  readonly ended: number | null;
  readonly done: boolean;
  readonly cancelled: boolean;
  readonly error: BigQueryError | null;
  /** Bytes that its result takes, by BigQuery's own measure. */
  readonly size: number;
  cancel(): void;
}

/** The jobs that can still be asked for. The oldest finished ones go when there are too many or their results too big. */
export class JobStore {
  private readonly jobs = new Map<string, StoredJob>();
  private readonly requests = new Map<string, { readonly job: Job; readonly at: number }>();

  add(job: StoredJob): void {
    this.jobs.set(job.id, job);
    this.forget();
  }

  /** From now on `byRequest` finds the job. */
  identify(job: Job, requestId: string): void {
    this.requests.set(requestId, { job, at: Date.now() });
  }

  get(id: string): StoredJob | null {
    return this.jobs.get(id) ?? null;
  }

  /** The job that an earlier request with this id made. */
  byRequest(requestId: string): Job | null {
    const known = this.requests.get(requestId);
    return known !== undefined && Date.now() - known.at < REQUEST_ID_LIFE ? known.job : null;
  }

  /** Newest first. */
  all(): StoredJob[] {
    return [...this.jobs.values()].reverse();
  }

  remove(job: StoredJob): void {
    this.jobs.delete(job.id);
    for (const [id, known] of this.requests) if (known.job === job) this.requests.delete(id);
  }

  /** Ends what runs, for when the server goes. */
  cancelAll(): void {
    for (const job of this.jobs.values()) job.cancel();
  }

  /** Ends what runs and forgets everything. */
  clear(): void {
    this.cancelAll();
    this.jobs.clear();
    this.requests.clear();
  }

  private forget(): void {
    let bytes = 0;
    for (const job of this.jobs.values()) bytes += job.size;
    for (const job of [...this.jobs.values()].slice(0, -NEWEST)) {
      if (this.jobs.size <= MOST_JOBS && bytes <= MOST_BYTES) return;
      if (!job.done) continue;
      bytes -= job.size;
      this.remove(job);
    }
  }
}
