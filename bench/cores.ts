import { execFileSync } from 'node:child_process';
import { availableParallelism } from 'node:os';

/** The server of that pid on the last core, this process on the others; false where that cannot be had. */
export function pinApart(pid: number): boolean {
  const last = availableParallelism() - 1;
  if (last < 1) return false;
  try {
    execFileSync('taskset', ['-acp', String(last), String(pid)], { stdio: 'ignore' });
    execFileSync('taskset', ['-acp', `0-${last - 1}`, String(process.pid)], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
