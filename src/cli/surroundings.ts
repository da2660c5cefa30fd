import { Option } from 'commander';

/** What a command stands in: so that tests can stand it somewhere else. */
export interface Surroundings {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Writes a line of the result: what a pipe hands on. */
  readonly out: (line: string) => void;
  /** Writes a line for people. */
  readonly note: (line: string) => void;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** How a command ended, for the shell; `--help` of every command tells them. */
export const EXIT = { ok: 0, failure: 1, usage: 2, cancelled: 130 } as const;

/** A command ends with another code than 0, having said why itself. */
export class Ending extends Error {
  override readonly name = 'Ending';

  constructor(readonly code: number) {
    super(`ends with ${String(code)}`);
  }
}

/** An option that may be given several times, each with one value: `--pin a=1 --pin b=2`. */
export function repeatable(flags: string, description: string): Option {
  return new Option(flags, `${description}; may be repeated`).argParser(
    (value: string, before: readonly string[] | undefined): readonly string[] => [...(before ?? []), value],
  );
}

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
