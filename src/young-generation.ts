/**
 * V8's young generation while the process starts. To be imported before anything else: whatever is loaded survives, and V8 makes the
 * young generation larger for it, up to 32 MiB, of which a service at rest uses one.
 */
import { setFlagsFromString } from 'node:v8';

/** How many times as large it becomes when much survives. */
const GROWTH = { starting: 1, running: 2 } as const;
/** Milliseconds after the start in which endpoints are resolved and the first requests compiled. */
const SETTLING = 10_000;

function setGrowth(factor: number): void {
  setFlagsFromString(`--semi-space-growth-factor=${String(factor)}`);
}

setGrowth(GROWTH.starting);

/** The service has started: what survives from now on is for requests. */
export function growWithRequests(): void {
  setTimeout(() => {
    setGrowth(GROWTH.running);
  }, SETTLING).unref();
}
