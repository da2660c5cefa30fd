import { abortError, raceLimits } from '../concurrency/deadline';
import type { LineSink, RunLimits } from '../contract/contract';

/** A `LineSink` of lines that may be something else on their way. */
export interface SinkOf<Lines> {
  readonly begin: LineSink['begin'];
  take(lines: Lines, count: number): Promise<void> | void;
}

/**
 * Runs `work` with a sink whose failure cancels the work, which is not waited for beyond the limits, and which takes nothing once
 * the work has settled.
 *
 * @throws what `sink` throws; else what `work` throws
 */
export async function endingWithSink<T, Lines = Uint8Array>(
  limits: RunLimits,
  sink: SinkOf<Lines>,
  work: (limits: RunLimits, sink: SinkOf<Lines>) => Promise<T>,
): Promise<T> {
  const cancel = new AbortController();
  const onAbort = (): void => cancel.abort(abortError());
  if (limits.signal.aborted) onAbort();
  limits.signal.addEventListener('abort', onAbort, { once: true });
  let failure: { readonly error: unknown } | null = null;
  let settled = false;
  const ending: SinkOf<Lines> = {
    begin: (head, form) => sink.begin(head, form),
    take: async (lines, count) => {
      if (settled || failure !== null) return;
      try {
        await raceLimits(
          { ...limits, signal: cancel.signal },
          async () => sink.take(lines, count),
          () => undefined,
        );
      } catch (error) {
        failure = { error };
        onAbort();
      }
    },
  };
  try {
    const value = await work({ ...limits, signal: cancel.signal }, ending);
    rethrow(failure);
    return value;
  } catch (error) {
    rethrow(failure);
    throw error;
  } finally {
    settled = true;
    limits.signal.removeEventListener('abort', onAbort);
  }
}

function rethrow(failure: { readonly error: unknown } | null): void {
  if (failure !== null) throw failure.error;
}
