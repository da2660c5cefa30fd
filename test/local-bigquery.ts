import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { CLOCK, startBigQuery } from './bigquery-process.js';
import { ofWorker } from './of-worker';

const FOLDER = join(__dirname, '..', 'emulator');

/** Whether `npm ci --prefix emulator` has been run: without it, tests that need the local BigQuery have nothing to run on. */
export const localBigQueryInstalled = existsSync(join(FOLDER, 'node_modules', '@fivetrandevelopers', 'zetasql'));

// CI counts what is skipped as failed.
if (!localBigQueryInstalled)
  process.stderr.write(
    'The local BigQuery is not installed: tests that need it are skipped. npm ci --prefix emulator\n',
  );

/** A request that the local BigQuery has seen (`emulator/README.md`, control path). */
export interface SeenRequest {
  readonly method: string;
  readonly path: string;
  /** `query`, `results`, `insertJob`, `getJob`, `cancel`, ... */
  readonly operation: string;
  readonly query: Readonly<Record<string, string>>;
  readonly body: Readonly<Record<string, unknown>>;
  readonly authorized: boolean;
  readonly at: number;
  readonly status: number | null;
  readonly aborted: boolean;
}

/** What the control path answers. */
export interface ControlState {
  readonly counters: Readonly<Record<string, number>>;
  readonly requests: readonly SeenRequest[];
  readonly jobs: readonly { id: string; state: 'RUNNING' | 'DONE'; cancelled: boolean; error: string | null }[];
  readonly faults: readonly unknown[];
}

export interface LocalBigQuery {
  /** `127.0.0.1:<port>`, as `BIGQUERY_EMULATOR_HOST` takes it. */
  readonly host: string;
  /** Sets what is to come (`{ reset, faults, shape, ignoreDefaultDataset, clock }`), or with no argument only asks; answers with what was seen. */
  control(body?: Readonly<Record<string, unknown>>): Promise<ControlState>;
  /** Ends the process and resolves when it is gone. */
  stop(): Promise<void>;
}

/** Starts a local BigQuery of the caller's own (`bigquery-process.js`). */
export async function startLocalBigQuery(options: readonly string[] = []): Promise<LocalBigQuery> {
  const { child, ended, host } = await startBigQuery(options);
  const stop = async (): Promise<void> => {
    child.stdin.end();
    await ended;
  };
  return { host, control: (body) => control(host, body), stop };
}

/**
 * The local BigQuery that the test files of a worker have one after the other, as it is when it has started. Nobody may write
 * to its tables: `stop` fails where somebody has, and stops nothing.
 */
export async function borrowLocalBigQuery(): Promise<LocalBigQuery> {
  const host = await ofWorker.bigQuery();
  await control(host, { reset: true, clock: CLOCK });
  const stop = async (): Promise<void> => {
    const { requests } = await control(host);
    const writes = requests.filter(({ method, operation }) => method !== 'GET' && WRITES.has(operation));
    if (writes.length > 0) throw new Error('Tests that write to tables need a local BigQuery of their own.');
  };
  return { host, control: (body) => control(host, body), stop };
}

const WRITES: ReadonlySet<string> = new Set(['insertAll', 'upload', 'tables', 'datasets']);

async function control(host: string, body?: Readonly<Record<string, unknown>>): Promise<ControlState> {
  const headers = { 'Content-Type': 'application/json' };
  const init = body === undefined ? {} : { method: 'POST', headers, body: JSON.stringify(body) };
  const response = await fetch(`http://${host}/_control`, init);
  if (!response.ok) throw new Error(`The control path answered ${response.status}: ${await response.text()}`);
  return (await response.json()) as ControlState;
}
