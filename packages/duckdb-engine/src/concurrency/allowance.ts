import { inSteps } from '@logquay/googlesql/types';

/**
 * Time for work on the thread that serves everybody. What a text costs is seen only while it is worked on: it is begun where it
 * arrives, and where that takes too long, begun again on a thread of its own.
 */

/** The work has used up its time; it is to be done elsewhere. */
export class AllowanceSpent extends Error {
  override readonly name = 'AllowanceSpent';
}

/** Milliseconds that have been used in this turn of the event loop: many texts may come together. */
let used = 0;
/** The clock is read once in so many steps. */
const STEPS = 16;

/**
 * Does `work`, which has no effect but its result. What is done in one turn of the event loop shares its time.
 *
 * @throws AllowanceSpent after `milliseconds`; what `work` throws
 */
export function withAllowance<T>(milliseconds: number, work: () => T): T {
  if (used >= milliseconds) throw new AllowanceSpent();
  if (used === 0) setImmediate(() => (used = 0));
  const began = performance.now();
  const until = began + milliseconds - used;
  let steps = 0;
  const look = (): void => {
    if (++steps % STEPS === 0 && performance.now() > until) throw new AllowanceSpent();
  };
  try {
    return inSteps(look, work);
  } finally {
    used += performance.now() - began;
  }
}
