import { mkdtemp, rm, symlink } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';

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

const CHECKOUT = path.join(__dirname, '../..');

/** A new working directory with the stored queries of the checkout: without its start key, which a start may have left. */
export async function ownFolder(): Promise<string> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'command-line-'));
  await symlink(path.join(CHECKOUT, 'queries'), path.join(folder, 'queries'));
  process.chdir(folder);
  return folder;
}

/** Removes a directory of {@link ownFolder}, and goes back to the checkout. */
export async function leaveFolder(folder: string): Promise<void> {
  process.chdir(CHECKOUT);
  await rm(folder, { recursive: true });
}
