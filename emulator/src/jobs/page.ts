import { invalid } from '../query/error';
import { type Job } from './job';
import { restRow, type RowFormat } from './rows';

/** No page of a result is larger than this, as BigQuery has it; one row always fits. */
const PAGE_BYTES = 10 * 1024 * 1024;

/** One page of a job's rows: each row as JSON text, and the token of the next page if there is one. */
export interface Page {
  readonly rows: readonly string[];
  readonly next: string | null;
}

export interface PageRequest {
  /** Rows at most; null for as many as fit. */
  readonly maxResults: number | null;
  readonly start: number;
  readonly format: RowFormat;
}

/** The rows of a finished job from `start` on. */
export function pageOf(job: Job, { maxResults, start, format }: PageRequest): Page {
  const columns = job.plan?.columns ?? [];
  const rows: string[] = [];
  let bytes = 0;
  let at = start;
  for (; at < job.rows.length && (maxResults === null || rows.length < maxResults); at++) {
    const text = JSON.stringify(restRow(columns, job.rows[at] ?? [], format));
    const size = Buffer.byteLength(text) + 1;
    if (rows.length > 0 && bytes + size > PAGE_BYTES) break;
    bytes += size;
    rows.push(text);
  }
  return { rows, next: at < job.rows.length && maxResults !== 0 ? tokenOf(job, at) : null };
}

function tokenOf(job: Job, at: number): string {
  return Buffer.from(`${job.spec.id}/${at}`).toString('base64url');
}

/** The row that a page token points at. Throws `BigQueryError` for a token of another job. */
export function startOf(job: Job, token: string): number {
  const [id, at] = Buffer.from(token, 'base64url').toString().split('/');
  if (id !== job.spec.id || !/^\d+$/.test(at ?? '')) throw invalid('Invalid page token', 'pageToken');
  return Number(at);
}
