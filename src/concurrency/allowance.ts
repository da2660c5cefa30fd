/**
 * Time for work on the thread that serves everybody. What a text costs is seen only while it is worked on: it is begun where it
 * arrives, and where that takes too long, begun again on a thread of its own.
 */

/** The work has used up its time; it is to be done elsewhere. */
export class AllowanceSpent extends Error {
  override readonly name = 'AllowanceSpent';
}

/** `performance.now()` at which the work that is being done has to stop. */
let until = Infinity;
/** Milliseconds that have been used in this turn of the event loop: many texts may come together. */
let used = 0;
let steps = 0;
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
  until = began + milliseconds - used;
  try {
    return work();
  } finally {
    until = Infinity;
    used += performance.now() - began;
  }
}

/** Called at each step of work whose amount a caller decides. @throws AllowanceSpent */
export function spend(): void {
  if (until === Infinity || ++steps % STEPS !== 0) return;
  if (performance.now() > until) throw new AllowanceSpent();
}
