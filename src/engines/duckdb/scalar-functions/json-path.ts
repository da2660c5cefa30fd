/** Paths into JSON values: JSON texts of their steps, `["a", 0]`. */
import type { ChunkBudget } from './chunk-budget';
import { ARRAY, JsonCursor, type JsonStep, OBJECT, skipSpace, textOf } from './json-scan';

export interface JsonPath {
  readonly steps: readonly JsonStep[];
  /** The UTF-8 of each step that is a key. */
  readonly keys: readonly Uint8Array[];
}

const NO_KEY = new Uint8Array();
let last: { readonly text: Buffer; readonly path: JsonPath } = {
  text: Buffer.from('[]'),
  path: { steps: [], keys: [] },
};

/** All rows of a chunk have the same path: the last one that was read is at hand. */
export function pathOf(text: Uint8Array): JsonPath {
  if (last.text.equals(text)) return last.path;
  const steps = JSON.parse(textOf(text, 0, text.length)) as JsonStep[];
  const path = { steps, keys: steps.map((step) => (typeof step === 'string' ? Buffer.from(step) : NO_KEY)) };
  last = { text: Buffer.from(text), path };
  return path;
}

/** How far a path leads into a value. */
export interface Reached {
  /** Steps that led somewhere. */
  readonly steps: number;
  /** Where the value begins that they led to. */
  readonly at: number;
  /** The items among which the next step was not found, behind the last; null: it was not looked for in any. */
  readonly items: JsonCursor | null;
}

/** Follows the first `count` steps. Of a key that comes twice the first counts. */
export function follow(json: Uint8Array, { steps, keys }: JsonPath, count: number, budget: ChunkBudget): Reached {
  let at = skipSpace(json, 0);
  for (let i = 0; i < count; i++) {
    const step = steps[i]!;
    if (json[at] !== (typeof step === 'number' ? ARRAY : OBJECT)) return { steps: i, at, items: null };
    const items = new JsonCursor(json, at);
    let found = false;
    while (!found && items.next())
      found = typeof step === 'number' ? items.count > step : items.hasKey(step, keys[i]!, budget);
    if (!found) return { steps: i, at, items };
    at = items.value;
  }
  return { steps: count, at, items: null };
}
