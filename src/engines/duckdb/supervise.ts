import type { DuckDBConnection } from '@duckdb/node-api';
import type { RunLimits } from '../contract';
import { abortError, deadlineExceeded } from './giving-up';

/** DuckDB forgets an interrupt that comes before a query has begun: it is repeated until the query has ended. */
const REPEAT_MS = 20;

/**
 * Runs `work` on a connection until the deadline or the signal, whichever comes first; then answers at once, while the
 * query is interrupted and, when it really has ended, `ended` is told, exactly once in every case. The connection is
 * `reusable` where the work came to its own end.
 *
 * @throws ServiceError deadlineExceeded, AbortError, and whatever `work` throws before either.
 */
export function supervise<T>(
  connection: DuckDBConnection,
  { deadline, signal }: RunLimits,
  work: () => Promise<T>,
  ended: (reusable: boolean) => void,
): Promise<T> {
  return new Promise((resolve, reject) => {
    let interrupting: NodeJS.Timeout | undefined;
    const giveUp = (error: Error): void => {
      if (interrupting !== undefined) return;
      reject(error);
      connection.interrupt();
      interrupting = setInterval(() => connection.interrupt(), REPEAT_MS);
    };
    const abort = (): void => giveUp(abortError());
    const timer = setTimeout(() => giveUp(deadlineExceeded()), Math.max(0, deadline - performance.now()));
    signal.addEventListener('abort', abort);
    const settle = (completed: boolean): void => {
      clearTimeout(timer);
      clearInterval(interrupting);
      signal.removeEventListener('abort', abort);
      ended(completed && interrupting === undefined);
    };
    work().then(
      (value) => (settle(true), resolve(value)),
      (error: unknown) => (settle(false), reject(error instanceof Error ? error : new Error(String(error)))),
    );
  });
}
