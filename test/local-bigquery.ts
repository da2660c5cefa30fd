import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

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

/**
 * Starts the local BigQuery on a free port with project `test`, data set `logs` and the rows of `test/fixture`, its clock at
 * the end of them. It ends with this process, however that ends. Rejects with what it printed where it does not start.
 */
export async function startLocalBigQuery(options: readonly string[] = []): Promise<LocalBigQuery> {
  const fixture = join(__dirname, 'fixture');
  const defaults = ['--tied', '--port', '0', '--data', fixture, '--clock', '2026-09-30T12:00:00Z'];
  const child = spawn(process.execPath, [join(FOLDER, 'start.js'), ...defaults, ...options], { stdio: 'pipe' });
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  let complaint = '';
  child.stderr.on('data', (chunk: Buffer) => (complaint += chunk.toString()));
  const host = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      const found = /http:\/\/(\S+)/.exec(line)?.[1];
      if (found !== undefined) resolve(found);
    });
    void ended.then(() => reject(new Error(`The local BigQuery did not start: ${complaint}`)));
  });
  return {
    host,
    control: async (body) => {
      const headers = { 'Content-Type': 'application/json' };
      const init = body === undefined ? {} : { method: 'POST', headers, body: JSON.stringify(body) };
      const response = await fetch(`http://${host}/_control`, init);
      if (!response.ok) throw new Error(`The control path answered ${response.status}: ${await response.text()}`);
      return (await response.json()) as ControlState;
    },
    stop: async () => {
      child.stdin.end();
      await ended;
    },
  };
}
