import { setTimeout as sleep } from 'node:timers/promises';

/** Milliseconds: no bound on what a machine may take, but the message below instead of a test's own timeout. */
const LONGEST = 50_000;

/**
 * Resolves when a condition holds; what does not come in a long time fails the test.
 *
 * @param pause milliseconds between two looks: more where a look asks a service
 */
export async function until(condition: () => boolean | Promise<boolean>, pause = 5): Promise<void> {
  const end = performance.now() + LONGEST;
  while (!(await condition())) {
    if (performance.now() > end) throw new Error(`It does not come: ${String(condition)}`);
    await sleep(pause);
  }
}
