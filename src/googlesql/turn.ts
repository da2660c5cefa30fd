/** Texts shorter than this, in UTF-16 units, are read, resolved and translated in a few milliseconds altogether. */
const SHORT = 4096;

/**
 * Lets other requests have their turn between two steps of work on a text. Each step alone is bounded by the bounds on
 * the text (bounds.ts); only their sum would hold up the event loop for longer than others should wait.
 */
export function turn(text: string): Promise<void> {
  return text.length < SHORT ? Promise.resolve() : new Promise((resolve) => setImmediate(resolve));
}
