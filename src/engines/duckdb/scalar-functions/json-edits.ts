/** Changes to a JSON value at a path. What is not changed is copied as it is written. */
import type { ChunkBudget } from './chunk-budget';
import { follow, pathOf } from './json-path';
import { ARRAY, endOfValue, isNull, JsonCursor, OBJECT, skipSpace } from './json-scan';
import { scalarFunction } from './scalar-function';

/** Elements that setting or inserting one far behind the end of an array may add. */
const MOST_PADDING = 1_000;
/** Units of the budget for each item that is looked at and copied, beside its bytes. */
const FOR_ITEM = 6;
const PADDING = 'null,'.repeat(MOST_PADDING);

/** So many nulls, each with a comma behind it; null: too many. */
function padding(count: number): string | null {
  return count > MOST_PADDING ? null : PADDING.slice(0, count * 'null,'.length);
}

/** `json` with `texts` in place of what is from `start` to `end`. */
export function spliced(
  json: Uint8Array,
  start: number,
  end: number,
  ...texts: readonly (Uint8Array | string)[]
): Uint8Array {
  const parts = texts.map((text) => (typeof text === 'string' ? Buffer.from(text) : text));
  return Buffer.concat([json.subarray(0, start), ...parts, json.subarray(end)]);
}

/** What is in front of a value that these steps lead to, and behind it; null: it is too large. */
function around(
  steps: readonly (string | number)[],
  budget: ChunkBudget,
): { readonly front: string; readonly back: string } | null {
  let [front, back] = ['', ''];
  for (const step of steps) {
    const text = typeof step === 'number' ? padding(step) : JSON.stringify(step);
    if (text === null || !budget.spend(text.length)) return null;
    front += typeof step === 'number' ? `[${text}` : `{${text}:`;
    back = (typeof step === 'number' ? ']' : '}') + back;
  }
  return { front, back };
}

export const jsonSet = scalarFunction(
  ['bytes', 'bytes', 'bytes', 'boolean'],
  'bytes',
  (json, pathText, value, creates, budget) => {
    const { steps } = pathOf(pathText);
    const reached = follow(json, pathOf(pathText), steps.length, budget);
    const { at, items } = reached;
    if (reached.steps === steps.length) return spliced(json, at, endOfValue(json, at), value);
    if (!creates || (items === null && !isNull(json, at))) return json;
    if (items === null) {
      const texts = around(steps.slice(reached.steps), budget);
      return texts && spliced(json, at, endOfValue(json, at), texts.front, value, texts.back);
    }
    const step = steps[reached.steps]!;
    const lead = typeof step === 'number' ? padding(step - items.count) : `${JSON.stringify(step)}:`;
    const texts = around(steps.slice(reached.steps + 1), budget);
    if (lead === null || texts === null) return null;
    const comma = items.count > 0 ? ',' : '';
    return spliced(json, items.end, items.end, comma + lead + texts.front, value, texts.back);
  },
);

export const jsonRemove = scalarFunction(['bytes', 'bytes'], 'bytes', (json, pathText, budget) => {
  const path = pathOf(pathText);
  const last = path.steps.length - 1;
  if (last < 0) return json;
  const parent = follow(json, path, last, budget);
  const step = path.steps[last]!;
  if (parent.steps < last || json[parent.at] !== (typeof step === 'number' ? ARRAY : OBJECT)) return json;
  // A key that comes twice is gone altogether.
  const isRemoved = (item: JsonCursor): boolean =>
    typeof step === 'number' ? item.count === step + 1 : item.hasKey(step, path.keys[last]!, budget);
  return withoutItems(json, parent.at, isRemoved, budget);
});

/** Without those items of the object or array that begins at `open`. */
function withoutItems(
  json: Uint8Array,
  open: number,
  isRemoved: (item: JsonCursor) => boolean,
  budget: ChunkBudget,
): Uint8Array | null {
  const left = new Uint8Array(json.length);
  let length = 0;
  const items = new JsonCursor(json, open);
  /** Where what is copied next begins; where the last item that stays ends. */
  let from = 0;
  let end = open + 1;
  let stay = 0;
  let removed = false;
  const cut = (to: number): void => {
    for (let i = from; i < end; i++) left[length++] = json[i]!;
    from = to;
    removed = false;
  };
  while (items.next()) {
    if (!budget.spend(FOR_ITEM)) return null;
    if (isRemoved(items)) removed = true;
    else {
      if (removed) cut(stay === 0 ? items.start : items.comma);
      stay++;
      end = endOfValue(json, items.value);
      items.skipTo(end);
    }
  }
  if (removed) cut(items.end);
  end = json.length;
  cut(end);
  return left.subarray(0, length);
}

/** The elements that a value adds to an array. @param each whether those of an array are added one by one */
function elementsOf(value: Uint8Array, each: boolean): Uint8Array {
  const at = skipSpace(value, 0);
  return each && value[at] === ARRAY ? value.subarray(at + 1, endOfValue(value, at) - 1) : value;
}

export const jsonArrayAppend = scalarFunction(
  ['bytes', 'bytes', 'bytes', 'boolean'],
  'bytes',
  (json, pathText, value, each, budget) => {
    const path = pathOf(pathText);
    const { steps, at } = follow(json, path, path.steps.length, budget);
    if (steps < path.steps.length) return json;
    const elements = elementsOf(value, each);
    const end = endOfValue(json, at);
    if (isNull(json, at)) return spliced(json, at, end, '[', elements, ']');
    if (json[at] !== ARRAY || elements.length === 0) return json;
    const isEmpty = skipSpace(json, at + 1) === end - 1;
    return spliced(json, end - 1, end - 1, isEmpty ? '' : ',', elements);
  },
);

export const jsonArrayInsert = scalarFunction(
  ['bytes', 'bytes', 'bytes', 'boolean'],
  'bytes',
  (json, pathText, value, each, budget) => {
    const path = pathOf(pathText);
    const last = path.steps.length - 1;
    const place = path.steps[last];
    const { steps, at } = follow(json, path, Math.max(0, last), budget);
    if (typeof place !== 'number' || steps < last) return json;
    const elements = elementsOf(value, each);
    if (isNull(json, at)) {
      const nulls = listed(place, elements);
      return nulls && spliced(json, at, endOfValue(json, at), '[', ...nulls, ']');
    }
    if (json[at] !== ARRAY) return json;
    const items = new JsonCursor(json, at);
    while (items.next()) {
      if (items.count <= place) continue;
      return elements.length === 0 ? json : spliced(json, items.start, items.start, elements, ',');
    }
    const nulls = listed(place - items.count, elements);
    if (nulls?.length === 0) return json;
    return nulls && spliced(json, items.end, items.end, items.count > 0 ? ',' : '', ...nulls);
  },
);

/** So many nulls and the elements; null: too many. */
function listed(nulls: number, elements: Uint8Array): (string | Uint8Array)[] | null {
  const text = padding(nulls);
  if (text === null) return null;
  if (elements.length > 0) return [text, elements];
  return nulls === 0 ? [] : [text.slice(0, -1)];
}
