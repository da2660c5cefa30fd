import { type ChildProcess, fork } from 'node:child_process';

import { childEnvironment } from '../../../concurrency/child-environment';
import type { FromEngine, Opening, ToEngine } from './messages';
import { RowsMemory, type RowsPlace } from './rows-memory';
import { childrenOf, cpuTime, loopCpuTime, residentBytes } from './usage';

/**
 * MiB of heap: what is read of texts and rows that wait for their way. A text that needs more ends the process, which is
 * bounded as a whole anyway.
 */
const HEAP = 256;
/**
 * MiB of a half of the young objects. In the process that plans, what a text leaves behind is collected often, rather than take the place
 * of the next one: 200 long texts end at 130 MiB in memory instead of 174, in the same time. Node's own 16 have 32 to 48 MiB in memory in each process.
 */
const YOUNG = { data: 4, planning: 1, converter: 4 } as const;
/**
 * The process that holds the data leaves its cores to DuckDB: its heap is small, and four threads that collect it together take twice
 * the time of one. A million rows exported end after 0.9 s instead of 1.1 s.
 */
const ONE_COLLECTOR = '--single-threaded-gc';
/** DuckDB's connections take a thread each while they run, beside files and compression. */
const POOL_THREADS = '12';

export interface Listener {
  hear(message: FromEngine): void;
  /** The last word about it. @param how exit code or signal, in words */
  ended(how: string): void;
}

/** One process of the embedded engine, from its start to its end. */
export class EngineProcess {
  readonly #child: ChildProcess;
  /** As it reported itself, in bytes. */
  #reported = 0;
  /** For rows of runs; null: there is none. */
  readonly #rows: RowsMemory | null;

  /** @param file the compiled child.ts */
  constructor(file: string, opening: Opening, listener: Listener) {
    this.#rows = opening.role === 'data' ? RowsMemory.create() : null;
    this.#child = fork(file, [], {
      serialization: 'advanced',
      execArgv: [
        `--max-old-space-size=${String(HEAP)}`,
        `--max-semi-space-size=${String(YOUNG[opening.role])}`,
        ...(opening.role === 'planning' ? [] : [ONE_COLLECTOR]),
      ],
      env: environment(),
      // Native code that dies writes no lines of the log's form.
      stdio: ['ignore', 'ignore', 'ignore', 'ipc', ...(this.#rows === null ? [] : [this.#rows.descriptor])],
    });
    let ended = false;
    const end = (how: string): void => {
      if (ended) return;
      ended = true;
      this.#rows?.close();
      listener.ended(how);
    };
    this.#child.on('message', (message: FromEngine) => {
      if (message.kind === 'beat') this.#reported = message.resident;
      listener.hear(message);
    });
    this.#child.on('exit', (code, signal) => end(signal ?? `exit code ${String(code)}`));
    this.#child.on('error', (error) => {
      // It could not be started, or a message not be sent to one that is ending.
      if (this.#child.pid === undefined) end(error.message);
    });
    this.send({ kind: 'open', opening });
  }

  /** null: it could not be started. */
  get pid(): number | null {
    return this.#child.pid ?? null;
  }

  /** Bytes in memory. */
  get resident(): number {
    return (this.pid === null ? null : residentBytes(this.pid)) ?? this.#reported;
  }

  /** The same, with those of processes that it has started. */
  get residentWithChildren(): number {
    const children = this.pid === null ? [] : childrenOf(this.pid);
    return children.reduce((sum, pid) => sum + (residentBytes(pid) ?? 0), this.resident);
  }

  /** Milliseconds of CPU time; null where that is not known. */
  readonly cpuTime = (): number | null => (this.pid === null ? null : cpuTime(this.pid));

  /** The same of the thread that takes messages. */
  readonly loopCpuTime = (): number | null => (this.pid === null ? null : loopCpuTime(this.pid));

  /** A place for the rows of a run; null: there is none free. */
  acquirePlace(): RowsPlace | null {
    return this.#rows?.acquire() ?? null;
  }

  /** A message to a process that has ended is lost: its end is heard of. */
  send(message: ToEngine): void {
    if (this.#child.connected) this.#child.send(message, () => undefined);
  }

  kill(): void {
    this.#child.kill('SIGKILL');
  }
}

function environment(): NodeJS.ProcessEnv {
  const { UV_THREADPOOL_SIZE = POOL_THREADS } = process.env;
  return { ...childEnvironment(), UV_THREADPOOL_SIZE };
}
