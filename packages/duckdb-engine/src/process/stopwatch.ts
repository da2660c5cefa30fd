import { readFileSync } from 'node:fs';

/** How often a limit passes on the clock before it counts although the process got no processor. */
const LONGEST = 5;

/**
 * Time of a process since a moment, so that a busy machine is not taken for a process that hangs: a limit has passed when
 * it has passed on the clock and the process has been at work for half of it, or when it has passed several times over.
 */
export class Stopwatch {
  readonly #started = performance.now();
  readonly #startedCpu: number | null;

  /** @param cpu milliseconds of CPU time so far; null where that is not known */
  constructor(private readonly cpu: () => number | null) {
    this.#startedCpu = cpu();
  }

  /** Milliseconds on the clock. */
  get elapsed(): number {
    return performance.now() - this.#started;
  }

  /** @param limit milliseconds */
  hasPassed(limit: number): boolean {
    const { elapsed } = this;
    if (elapsed < limit) return false;
    const cpu = this.#startedCpu === null ? null : this.cpu();
    if (cpu === null || this.#startedCpu === null) return elapsed >= 2 * limit;
    return cpu - this.#startedCpu >= limit / 2 || elapsed >= LONGEST * limit;
  }
}

/** Linux counts CPU time in hundredths of a second for everybody outside of the kernel. */
const MS_PER_TICK = 10;

/** Bytes in memory, what it maps of files included. */
export function residentBytes(pid: number): number | null {
  const kib = /^VmRSS:\s+(\d+) kB$/m.exec(read(`/proc/${String(pid)}/status`))?.[1];
  return kib === undefined ? null : Number(kib) * 1024;
}

/** Milliseconds of CPU time of all its threads. */
export function cpuTime(pid: number): number | null {
  return cpuTimeIn(`/proc/${String(pid)}/stat`);
}

/** Milliseconds of CPU time of the thread that runs its event loop. */
export function loopCpuTime(pid: number): number | null {
  return cpuTimeIn(`/proc/${String(pid)}/task/${String(pid)}/stat`);
}

function cpuTimeIn(file: string): number | null {
  const text = read(file);
  // The name, in parentheses, may hold anything; user and system time are the 12th and 13th field behind it.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const ticks = Number(fields[11]) + Number(fields[12]);
  return Number.isNaN(ticks) ? null : ticks * MS_PER_TICK;
}

function read(file: string): string {
  try {
    return readFileSync(file, 'latin1');
  } catch {
    return '';
  }
}
