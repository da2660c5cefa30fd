/** Work in pieces on the thread that serves everybody. */

/** Pieces that are to be done, oldest first. */
const waiting: (() => void)[] = [];

/**
 * Resolves in a later turn of the event loop. Of all who wait, one goes on in each turn, so that several long works together hold
 * up others no more than one.
 */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    if (waiting.push(resolve) === 1) setImmediate(goOn);
  });
}

function goOn(): void {
  const next = waiting.shift();
  if (waiting.length > 0) setImmediate(goOn);
  next?.();
}
