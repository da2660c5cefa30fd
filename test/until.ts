import { setTimeout as sleep } from 'node:timers/promises';

/** Milliseconds: no bound on what a machine may take, but the message below instead of a test's own timeout. */
const LONGEST = 50_000;

/** Resolves when a condition holds: looks every few milliseconds; what does not come in a long time fails the test. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  const end = performance.now() + LONGEST;
  while (!(await condition())) {
    if (performance.now() > end) throw new Error(`It does not come: ${String(condition)}`);
    await sleep(5);
  }
}
