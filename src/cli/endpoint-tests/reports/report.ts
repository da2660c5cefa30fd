import type { EngineName } from '../engine-of-tests';
import type { FileResult } from '../outcome';

/** Everything that ran. */
export interface Report {
  readonly engine: EngineName;
  readonly files: readonly FileResult[];
}

/** What a report counts: a file that could not be run is a failure of its own. */
export function countsOf({ files }: Report): { passed: number; failed: number; updated: number } {
  const tests = files.flatMap((file) => file.tests);
  const failed = tests.filter(({ differences }) => differences.length > 0).length;
  const broken = files.filter(({ faults }) => faults.length > 0).length;
  const updated = files.reduce((sum, file) => sum + file.updated, 0);
  return { passed: tests.length - failed, failed: failed + broken, updated };
}
