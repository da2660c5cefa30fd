import { type Cell } from '../googlesql/values';
import { BigQueryError } from '../query/error';
import { type Plan, type QueryRequest, type QueryRunner } from '../query/runner';
import { type StoredJob } from './store';
import { sizeOf } from '../warehouse/size';

/** What a job is made of. */
export interface JobSpec {
  readonly id: string;
  /** The whole of `configuration` as the job shows it. */
  readonly configuration: Readonly<Record<string, unknown>>;
  readonly request: QueryRequest;
  /** Milliseconds after which the job is ended; null for never. */
  readonly timeout: number | null;
  /** False for a query that BigQuery would run without a job. */
  readonly listed: boolean;
  /** How many looks find the job unfinished whatever it has done by then; a fault of the control path. */
  readonly held: number;
  /** What it fails with when it is about to end; a fault of the control path. */
  readonly failure: BigQueryError | null;
}

/** A look at a held job takes no longer than this, whatever the caller would wait. */
const HELD_WAIT = 100;

/** One query on its way: it runs from its construction until it is done, failed or cancelled. */
export class Job implements StoredJob {
  readonly created = Date.now();
  ended: number | null = null;
  plan: Plan | null = null;
  rows: readonly Cell[][] = [];
  error: BigQueryError | null = null;
  /** Bytes that the result takes, by BigQuery's own measure. */
  size = 0;
  cancelled = false;

  private readonly controller = new AbortController();
  private readonly completed: Promise<void>;
  private held: number;
  private open: () => void = () => undefined;
  private readonly gate: Promise<void>;

  constructor(
    readonly spec: JobSpec,
    runner: QueryRunner,
  ) {
    this.held = spec.held;
    this.gate = this.held > 0 ? new Promise((resolve) => (this.open = resolve)) : Promise.resolve();
    this.completed = this.run(runner);
  }

  get id(): string {
    return this.spec.id;
  }

  get project(): string {
    return this.spec.request.project;
  }

  get location(): string {
    return this.spec.request.location;
  }

  get listed(): boolean {
    return this.spec.listed;
  }

  get done(): boolean {
    return this.ended !== null;
  }

  /** Waits until the job has ended, `milliseconds` at most; says whether it has. */
  async wait(milliseconds: number): Promise<boolean> {
    const held = this.held > 0;
    if (held) this.held -= 1;
    let timer: NodeJS.Timeout | undefined;
    const limit = held ? Math.min(milliseconds, HELD_WAIT) : milliseconds;
    await Promise.race([this.completed, new Promise((resolve) => (timer = setTimeout(resolve, limit)))]);
    clearTimeout(timer);
    if (held && this.held === 0) this.open();
    return this.done;
  }

  /** Ends the job as its owner's cancellation does; nothing for one that has ended. */
  cancel(): void {
    if (this.done) return;
    this.cancelled = true;
    this.end('Job execution was cancelled: User requested cancellation');
  }

  private end(message: string): void {
    this.error ??= new BigQueryError('stopped', message);
    this.controller.abort();
    this.open();
  }

  private async run(runner: QueryRunner): Promise<void> {
    const { timeout, request, failure } = this.spec;
    const seconds = (timeout ?? 0) / 1000;
    const timer =
      timeout === null ? undefined : setTimeout(() => this.end(`Job timed out after ${seconds} sec`), timeout);
    try {
      this.plan = await runner.plan(request, false, this.controller.signal);
      const rows = await runner.rows(this.plan, this.controller.signal);
      await this.gate;
      if (failure !== null) throw failure;
      if (this.error === null) this.keep(rows);
    } catch (error) {
      await this.gate;
      this.error ??=
        error instanceof BigQueryError
          ? error
          : new BigQueryError('internalError', `The local BigQuery failed: ${String(error)}`);
    }
    clearTimeout(timer);
    this.ended = Date.now();
  }

  private keep(rows: Cell[][]): void {
    this.rows = rows;
    const columns = this.plan?.columns ?? [];
    for (const row of rows) columns.forEach((column, i) => (this.size += sizeOf(column.type, row[i] ?? {})));
  }
}
