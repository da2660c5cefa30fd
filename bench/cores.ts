import { execFileSync } from 'node:child_process';
import { availableParallelism } from 'node:os';

/** Counted before this process is moved: later only the cores left to it are counted. */
const LAST = availableParallelism() - 1;

/** The server of that pid on the last core, this process on the others; false where that cannot be had. */
export function pinApart(pid: number): boolean {
  if (LAST < 1) return false;
  try {
    execFileSync('taskset', ['-acp', String(LAST), String(pid)], { stdio: 'ignore' });
    execFileSync('taskset', ['-acp', `0-${LAST - 1}`, String(process.pid)], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
