/**
 * How V8's heap grows. To be imported before anything else.
 *
 * While the process starts its young generation stays small: whatever is loaded survives, and V8 makes the young generation larger for
 * it, up to 32 MiB, of which a service at rest uses one. Later the heap may hold as much garbage as a few dozen responses: V8 counts
 * their bytes with the heap and lets it grow by a share of what is live, which is little, so it would collect with every tenth of them.
 */
import { getHeapStatistics, setFlagsFromString } from 'node:v8';

/** How many times as large the young generation becomes when much survives. */
const GROWTH = { starting: 1, running: 2 } as const;
/** Milliseconds after the start in which endpoints are resolved and the first requests compiled, and between two looks at the heap. */
const SETTLING = 10_000;
/** Bytes that the heap may grow by at least until it is collected. */
const GARBAGE = 48 * 1024 * 1024;

function setGrowth(factor: number): void {
  setFlagsFromString(`--semi-space-growth-factor=${String(factor)}`);
}

setGrowth(GROWTH.starting);

/** The service has started: what survives from now on is for requests. */
export function growWithRequests(): void {
  setTimeout(() => {
    setGrowth(GROWTH.running);
    growBy(GARBAGE);
    setInterval(() => {
      growBy(GARBAGE);
    }, SETTLING).unref();
  }, SETTLING).unref();
}

let isSet = false;

/** A heap that is larger grows by the share that V8 finds right, or that who resolves many queries has set. */
function growBy(bytes: number): void {
  const percent = Math.floor((100 * bytes) / getHeapStatistics().used_heap_size);
  const isSmall = percent > 100;
  if (isSmall || isSet) setFlagsFromString(`--heap-growing-percent=${String(isSmall ? percent : 0)}`);
  isSet = isSmall;
}
