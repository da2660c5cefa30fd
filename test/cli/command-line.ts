import { runLogquay } from '../../src/cli/program';

export interface Ended {
  readonly code: number;
  /** Lines of the results, and lines for people. */
  readonly out: readonly string[];
  readonly notes: readonly string[];
}

/** Carries out a command line in this process; results that a command writes as they come are not among `out`. */
export async function logquay(
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
  now = Date.now(),
): Promise<Ended> {
  const out: string[] = [];
  const notes: string[] = [];
  const code = await runLogquay(args, {
    environment,
    out: (line) => out.push(line),
    note: (line) => notes.push(line),
    now: () => now,
  });
  return { code, out, notes };
}
