/** Does `work` for each item, for `most` of them at the same time. Rejects with the first failure. */
export async function concurrently<T>(
  most: number,
  items: Iterable<T>,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const rest = items[Symbol.iterator]();
  const worker = async (): Promise<void> => {
    for (let next = rest.next(); next.done !== true; next = rest.next()) await work(next.value);
  };
  await Promise.all(Array.from({ length: most }, worker));
}

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
