/** Long work in pieces on the main thread. */

/** Pieces that wait, oldest first. */
const waiting: (() => void)[] = [];

/**
 * Resolves in a later iteration of the event loop. One waiting piece goes on in each iteration, so several long works
 * together delay others no more than one.
 */
export function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => {
    if (waiting.push(resolve) === 1) setImmediate(goOn);
  });
}

function goOn(): void {
  const next = waiting.shift();
  if (waiting.length > 0) setImmediate(goOn);
  next?.();
}
