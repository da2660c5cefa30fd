import { readFileSync } from 'node:fs';

/**
 * Milliseconds that a thread of this process has had a processor, by its number to Linux; null where the system does not
 * tell. Unlike a clock on the wall it stands still while the thread waits for a processor.
 */
export function threadTime(thread: string | null): number | null {
  if (thread === null) return null;
  try {
    const [nanoseconds] = readFileSync(`/proc/self/task/${thread}/schedstat`, 'utf8').split(' ');
    const milliseconds = Number(nanoseconds) / 1e6;
    return milliseconds > 0 ? milliseconds : null;
  } catch {
    return null;
  }
}
