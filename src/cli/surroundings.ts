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
