/** Steps of work whose amount whoever wrote the text decides: who has others to serve can end such work in between. */

/** Called at each step of what is being done; null: nobody waits. */
let onStep: (() => void) | null = null;

/**
 * Does `work`, which has no effect but its result.
 *
 * @param each called at each step; what it throws ends the work
 */
export function inSteps<T>(each: () => void, work: () => T): T {
  onStep = each;
  try {
    return work();
  } finally {
    onStep = null;
  }
}

/** One step of the work. */
export function step(): void {
  onStep?.();
}
