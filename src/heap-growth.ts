/**
 * How V8's heap grows. To be imported before anything else.
 *
 * While the process starts its young generation stays small: whatever is loaded survives, and V8 makes the young generation larger for
 * it, up to 32 MiB, of which a service at rest uses one. Later the heap may hold as much garbage as a few dozen responses: V8 counts
 * their bytes with the heap and lets it grow by a share of what is live, which is little, so it would collect with every tenth of them.
 */
import { getHeapStatistics, setFlagsFromString } from 'node:v8';

/**
 * How many times as large the young generation becomes when much survives. Of requests little survives: by V8's own factor, 2, it grows
 * late, and is collected up to three times as often until then. Flags are the process's: worker-pool.ts bounds it for threads.
 */
const GROWTH = { starting: 1, running: 8 } as const;
/** Milliseconds after the start in which endpoints are resolved and the first requests compiled, and between two looks at the heap. */
const SETTLING = 10_000;
/** Bytes that the heap may grow by at least until it is collected (docs/decisions/memory-under-load.md). */
const GARBAGE = 32 * 1024 * 1024;
/** How much the heap may grow before it is collected where it is to grow little, in percent of what is in use. */
const LITTLE = 15;

function setGrowth(factor: number): void {
  setFlagsFromString(`--semi-space-growth-factor=${String(factor)}`);
}

setGrowth(GROWTH.starting);

/** The service has started: what survives from now on is for requests. */
export function growWithRequests(): void {
  setGrowth(GROWTH.running);
  setTimeout(() => {
    growBy(GARBAGE);
    setInterval(() => {
      growBy(GARBAGE);
    }, SETTLING).unref();
  }, SETTLING).unref();
}

let isSet = false;
let isHeldBack = false;

/** A heap that is larger grows by the share that V8 finds right. */
function growBy(bytes: number): void {
  if (isHeldBack) return;
  const percent = Math.floor((100 * bytes) / getHeapStatistics().used_heap_size);
  const isSmall = percent > 100;
  if (isSmall || isSet) setGrowingPercent(isSmall ? percent : 0);
  isSet = isSmall;
}

/** @param percent of what is in use; 0: as V8 finds right */
function setGrowingPercent(percent: number): void {
  setFlagsFromString(`--heap-growing-percent=${String(percent)}`);
}

/**
 * Has the heap grow little until this work, which leaves much garbage, is done: V8 else takes its rate for one that lasts, and 3,000
 * stored queries that are resolved one after the other end at 370 MB of which 80 are in use. It costs 8 % of the time.
 */
export async function growLittleDuring(work: Promise<unknown>): Promise<void> {
  isHeldBack = true;
  setGrowingPercent(LITTLE);
  await work.catch(() => undefined);
  setGrowingPercent(0);
  isHeldBack = isSet = false;
}
