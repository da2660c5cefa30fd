/** Runs one query after the other in a child process, and survives what they do to it. */
import { fork, type ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Order {
  readonly sql: string;
  /** Wall clock milliseconds after which the query is interrupted. */
  readonly deadlineMs: number;
}

/** What a query took. CPU is that of all threads of the process, so that a busy machine does not count. */
export interface Measurement {
  readonly outcome: string;
  /** Why the next query is not answered; null: it is. */
  readonly nextFails: string | null;
  readonly cpuMs: number;
  readonly wallMs: number;
  /** From the answer, or the interrupt, until the query had really ended and the next was answered. */
  readonly lateCpuMs: number;
  readonly lateMs: number;
  /** The longest iteration of the event loop, translation included: for so long nothing else is answered. */
  readonly longestBlockMs: number;
  readonly peakBytes: number;
  /** Resident when all is over: what the allocators keep. */
  readonly restingBytes: number;
}

export interface ChildOptions {
  readonly dataDir: string;
  readonly cacheDir: string;
  /** As `DUCKDB_MEMORY_LIMIT`. */
  readonly memory: string;
  readonly threads: number;
}

/** The child is ended beyond either: nothing is learnt from waiting longer. */
const MOST_CPU_MS = 15_000;
const MOST_BYTES = 5e9;
const LOOK_EVERY_MS = 20;

const TICKS_PER_SECOND = 100;
const PAGE = 4096;

export class EngineChild {
  #child: Promise<ChildProcess> | null = null;

  constructor(private readonly options: ChildOptions) {}

  async measure(order: Order): Promise<Measurement> {
    const child = await (this.#child ??= this.#start());
    const { pid } = child;
    if (pid === undefined) throw new Error('The child has not started.');
    const before = cpuOf(pid);
    let most = 0;
    let ended: string | null = null;
    const watch = setInterval(() => {
      const bytes = residentOf(pid);
      most = Math.max(most, bytes);
      if (bytes <= MOST_BYTES && cpuOf(pid) - before <= MOST_CPU_MS) return;
      ended = bytes > MOST_BYTES ? 'ended: memory' : 'ended: CPU';
      child.kill('SIGKILL');
    }, LOOK_EVERY_MS);
    try {
      return await new Promise<Measurement>((resolve) => {
        const gone = (code: number | null, signal: string | null): void => {
          this.#child = null;
          const outcome = ended ?? `process gone: ${signal ?? code}`;
          const never = { cpuMs: MOST_CPU_MS, wallMs: 0, lateCpuMs: MOST_CPU_MS, lateMs: 0, longestBlockMs: 0 };
          resolve({ outcome, nextFails: 'no process', ...never, peakBytes: most, restingBytes: 0 });
        };
        child.once('exit', gone);
        child.once('message', (measurement: Measurement) => {
          child.off('exit', gone);
          resolve(measurement);
        });
        child.send(order);
      });
    } finally {
      clearInterval(watch);
    }
  }

  /** Ends the process; the next query gets another. */
  async stop(): Promise<void> {
    const child = await this.#child;
    this.#child = null;
    if (child === null || child.exitCode !== null) return;
    const gone = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await gone;
  }

  async #start(): Promise<ChildProcess> {
    const { dataDir, cacheDir, memory, threads } = this.options;
    const child = fork(join(__dirname, 'engine-process.js'), [dataDir, cacheDir, memory, String(threads)], {
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      execArgv: [],
    });
    await new Promise<void>((resolve, reject) => {
      child.once('message', () => resolve());
      child.once('exit', (code) => reject(new Error(`The child ended with ${code} at its start.`)));
    });
    return child;
  }
}

/** Milliseconds of CPU that a process has used; 0 where it is gone. */
function cpuOf(pid: number): number {
  const fields = read(`/proc/${pid}/stat`).split(') ')[1]?.split(' ') ?? [];
  return ((Number(fields[11] ?? 0) + Number(fields[12] ?? 0)) / TICKS_PER_SECOND) * 1000;
}

function residentOf(pid: number): number {
  return Number(read(`/proc/${pid}/statm`).split(' ')[1] ?? 0) * PAGE;
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
