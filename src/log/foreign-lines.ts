import type { Log } from '../log';

/** Characters of one writing that are logged. */
const LONGEST = 2000;

/**
 * Logs what others write to the standard error: libraries, threads, and Node where it warns of a deprecation. The log is JSON lines,
 * whoever writes. For a log that does not write to `process.stderr` itself.
 *
 * @returns lets them write there again
 */
export function logForeignLines(log: Pick<Log, 'warn'>): () => void {
  const { stderr } = process;
  const write: typeof stderr.write = Reflect.get(stderr, 'write');
  stderr.write = (chunk: string | Uint8Array, ...rest: readonly unknown[]): boolean => {
    const text = (typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString()).trimEnd();
    if (text !== '') log.warn({ from: 'stderr' }, text.slice(0, LONGEST));
    const done = rest.at(-1);
    if (typeof done === 'function') process.nextTick(done);
    return true;
  };
  return () => {
    stderr.write = write;
  };
}
