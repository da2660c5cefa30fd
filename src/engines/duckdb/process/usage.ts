/** What another process uses, as Linux tells; null elsewhere, and where the process is gone. */
import { readFileSync } from 'node:fs';

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
