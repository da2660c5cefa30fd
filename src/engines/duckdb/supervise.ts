import type { DuckDBConnection } from '@duckdb/node-api';
import { ServiceError } from '../../errors';
import type { RunLimits } from '../contract';

/** Takes the outcome of a piece of work, once. */
export interface Answer<T> {
  resolve(value: T): void;
  reject(error: unknown): void;
}

/** DuckDB forgets an interrupt that comes before a query has begun: it is repeated until the query has ended. */
const REPEAT_MS = 20;

/**
 * Runs `work` on a connection. Its outcome is answered when it is there, or at the deadline or the signal
 * `deadlineExceeded` or AbortError is, at once, while the query is being interrupted. Resolves when the work really has
 * ended, and never rejects: true where it came to its own good end and the connection can be used again.
 */
export async function supervise<T>(
  connection: DuckDBConnection,
  { deadline, signal }: RunLimits,
  work: (connection: DuckDBConnection) => Promise<T>,
  answer: Answer<T>,
): Promise<boolean> {
  let interrupting: NodeJS.Timeout | undefined;
  const giveUp = (error: Error): void => {
    if (interrupting !== undefined) return;
    answer.reject(error);
    connection.interrupt();
    interrupting = setInterval(() => connection.interrupt(), REPEAT_MS);
  };
  const abort = (): void => giveUp(abortError());
  const timer = setTimeout(() => giveUp(deadlineExceeded()), Math.max(0, deadline - performance.now()));
  signal.addEventListener('abort', abort);
  if (signal.aborted) abort();
  try {
    answer.resolve(await work(connection));
    return interrupting === undefined;
  } catch (error) {
    answer.reject(error);
    return false;
  } finally {
    clearTimeout(timer);
    clearInterval(interrupting);
    signal.removeEventListener('abort', abort);
  }
}

export function deadlineExceeded(): ServiceError {
  return new ServiceError(
    'deadlineExceeded',
    'The query did not finish in time. Reduce the time range or ask for less.',
  );
}

export function abortError(): DOMException {
  return new DOMException('Nobody waits for the result.', 'AbortError');
}
