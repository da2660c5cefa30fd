import { Ending, EXIT } from './surroundings';

/** How long work may take to stop, BigQuery's job included: converting data, for one, does not hear of it. */
const PATIENCE = 2000;

/** The first Ctrl-C (or SIGTERM) asks the work to stop, and ends the process if that takes long; a second one ends it. */
export async function untilCancelled<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const cancel = new AbortController();
  let patience: NodeJS.Timeout | undefined;
  const onSignal = (): void => {
    if (cancel.signal.aborted) process.exit(EXIT.cancelled);
    cancel.abort();
    // It keeps the process: one that waits for nothing but what never comes would end with 0.
    patience = setTimeout(() => process.exit(EXIT.cancelled), PATIENCE);
  };
  process.on('SIGINT', onSignal).on('SIGTERM', onSignal);
  try {
    return await work(cancel.signal);
  } catch (error) {
    throw cancel.signal.aborted ? new Ending(EXIT.cancelled) : error;
  } finally {
    clearTimeout(patience);
    process.off('SIGINT', onSignal).off('SIGTERM', onSignal);
  }
}
