import type { DuckDBConnection } from '@duckdb/node-api';
import type { RunLimits } from '../contract/contract';
import { SYSTEM_CLOCK } from '../concurrency/clock';
import { abortError, deadlineExceeded, remaining } from '../concurrency/deadline';

/** DuckDB forgets an interrupt that comes before a query has begun: it is repeated until the query has ended. */
const REPEAT_MS = 20;

/**
 * Does `work` on a connection, and interrupts it from the deadline or the signal on. Settles when the work has really
 * ended: what DuckDB does not interrupt goes on until then.
 *
 * @throws ServiceError `deadlineExceeded` or AbortError for what was interrupted, whatever came of it; else what `work`
 *   throws
 */
export async function supervise<T>(
  connection: DuckDBConnection,
  limits: RunLimits,
  work: (connection: DuckDBConnection) => Promise<T>,
): Promise<T> {
  let reason: Error | null = null;
  let interrupting: NodeJS.Timeout | undefined;
  const interrupt = (because: Error): void => {
    if (reason !== null) return;
    reason = because;
    connection.interrupt();
    interrupting = setInterval(() => connection.interrupt(), REPEAT_MS);
  };
  const onAbort = (): void => interrupt(abortError());
  // Node's own timer ends at once where there is no deadline.
  const cancel = SYSTEM_CLOCK.after(remaining(limits), () => interrupt(deadlineExceeded()));
  limits.signal.addEventListener('abort', onAbort);
  if (limits.signal.aborted) onAbort();
  try {
    const outcome = await work(connection).then(
      (value) => ({ value }),
      (error: unknown) => ({ error }),
    );
    if (reason !== null) throw reason as Error;
    if ('error' in outcome) throw outcome.error;
    return outcome.value;
  } finally {
    cancel();
    clearInterval(interrupting);
    limits.signal.removeEventListener('abort', onAbort);
  }
}
