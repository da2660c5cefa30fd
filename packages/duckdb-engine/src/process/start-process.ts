import { type ChildProcess, fork } from 'node:child_process';
import { join } from 'node:path';

import { childEnvironment } from '../concurrency/child-environment';
import type { Opening } from './messages';
import { RowsMemory } from './rows-memory';

/**
 * MiB of heap: what is read of texts and rows that wait for their way. A text that needs more ends the process, which is
 * bounded as a whole anyway.
 */
const HEAP = 256;
/**
 * MiB of a half of the young objects. In the process that plans, what a text leaves behind is collected often, rather than take the place
 * of the next one: 200 long texts end at 130 MiB in memory instead of 174, in the same time. Node's own 16 have 32 to 48 MiB in memory in each process.
 */
const YOUNG = { data: 4, planning: 1 } as const;
/**
 * The process that holds the data leaves its cores to DuckDB: its heap is small, and four threads that collect it together take twice
 * the time of one. A million rows exported end after 0.9 s instead of 1.1 s.
 */
const ONE_COLLECTOR = '--single-threaded-gc';
/** DuckDB's connections take a thread each while they run, beside files and compression. */
const POOL_THREADS = '12';

/** A process of the embedded engine that waits for what it is to open. */
export interface StartedProcess {
  readonly child: ChildProcess;
  /** For rows of runs; null: there is none. */
  readonly rows: RowsMemory | null;
}

/**
 * Starts a process of the embedded engine; `EngineProcess` gives it its work. Needs few modules: the service starts the first one
 * before it loads its own.
 *
 * @param file the compiled child.ts; default: the one beside this file
 */
export function startProcess(role: Opening['role'], file = join(__dirname, 'child.js')): StartedProcess {
  const rows = role === 'data' ? RowsMemory.create() : null;
  const child = fork(file, [role], {
    serialization: 'advanced',
    execArgv: [
      `--max-old-space-size=${String(HEAP)}`,
      ...(isYoungSet() ? [] : [`--max-semi-space-size=${String(YOUNG[role])}`]),
      ...(role === 'planning' ? [] : [ONE_COLLECTOR]),
    ],
    env: environment(),
    // Native code that dies writes no lines of the log's form.
    stdio: ['ignore', 'ignore', 'ignore', 'ipc', ...(rows === null ? [] : [rows.descriptor])],
  });
  // Who waits for it hears of it by its own listener.
  child.on('error', () => undefined);
  return { child, rows };
}

/** Whether a process has been started and has not ended. */
export function isRunning({ child }: StartedProcess): boolean {
  return child.pid !== undefined && child.connected && child.exitCode === null && child.signalCode === null;
}

/** Whether the operator has chosen a size: all processes inherit it. */
function isYoungSet(): boolean {
  return process.env.NODE_OPTIONS?.includes('--max-semi-space-size') ?? false;
}

function environment(): NodeJS.ProcessEnv {
  const { UV_THREADPOOL_SIZE = POOL_THREADS } = process.env;
  return { ...childEnvironment(), UV_THREADPOOL_SIZE };
}
