/** Changes to a JSON value at a path. Paths are JSON texts of their steps, `["a", 0]`; trees are changed in place. */
import { childOf, jsonAt, readJson, writeJson, type JsonStep, type JsonTree } from './json-tree';
import { scalarFunction } from './scalar-function';

/** Elements that setting one far behind the end of an array may add. */
const MOST_PADDING = 1_000;

function stepsOf(path: string): JsonStep[] {
  return JSON.parse(path) as JsonStep[];
}

/** The value with another at the path; as it was where the path leads through something else. null: too large. */
function withValue(
  tree: JsonTree,
  [step, ...rest]: readonly JsonStep[],
  value: JsonTree,
  creates: boolean,
): JsonTree | null {
  if (step === undefined) return value;
  let node = tree;
  if (node === 'null' && creates) node = typeof step === 'number' ? [] : new Map<string, JsonTree>();
  const child = childOf(node, step);
  if (child === undefined && !creates) return tree;
  const changed = withValue(child ?? 'null', rest, value, creates);
  if (changed === null) return null;
  if (typeof step === 'string' && node instanceof Map) node.set(step, changed);
  else if (typeof step === 'number' && Array.isArray(node)) {
    if (step - node.length > MOST_PADDING) return null;
    while (node.length < step) node.push('null');
    node[step] = changed;
  } else return tree;
  return node;
}

const onTree = (text: string, change: (tree: JsonTree) => JsonTree | null): string | null => {
  const tree = readJson(text);
  const changed = tree === null ? null : change(tree);
  return changed === null ? null : writeJson(changed);
};

export const jsonSet = scalarFunction(['text', 'text', 'text', 'boolean'], 'text', (json, path, value, creates) =>
  onTree(json, (tree) => withValue(tree, stepsOf(path), readJson(value) ?? 'null', creates)),
);

export const jsonRemove = scalarFunction(['text', 'text'], 'text', (json, path) =>
  onTree(json, (tree) => {
    const steps = stepsOf(path);
    const last = steps.pop();
    const parent = jsonAt(tree, steps);
    if (typeof last === 'string' && parent instanceof Map) parent.delete(last);
    if (typeof last === 'number' && Array.isArray(parent)) parent.splice(last, 1);
    return tree;
  }),
);

/** undefined: nothing is left. */
function stripped(tree: JsonTree, arrays: boolean, empty: boolean): JsonTree | undefined {
  if (typeof tree === 'string') return tree === 'null' ? undefined : tree;
  if (Array.isArray(tree)) {
    const left = tree.flatMap((element) => {
      if (!arrays && element === 'null') return [element];
      const value = stripped(element, arrays, empty && arrays);
      return value === undefined ? [] : [value];
    });
    return empty && arrays && left.length === 0 ? undefined : left;
  }
  const left = [...tree].flatMap(([key, member]) => {
    const value = stripped(member, arrays, empty);
    return value === undefined ? [] : [[key, value] as const];
  });
  return empty && left.length === 0 ? undefined : new Map(left);
}

export const jsonStripNulls = scalarFunction(
  ['text', 'text', 'boolean', 'boolean'],
  'text',
  (json, path, arrays, empty) =>
    onTree(json, (tree) => {
      const steps = stepsOf(path);
      const part = jsonAt(tree, steps);
      return part === undefined ? tree : withValue(tree, steps, stripped(part, arrays, empty) ?? 'null', false);
    }),
);

/** @param place in the array: from which on; null: the end */
function added(
  tree: JsonTree,
  path: readonly JsonStep[],
  values: readonly JsonTree[],
  place: number | null,
): JsonTree | null {
  const target = jsonAt(tree, path);
  if (target === 'null') return withValue(tree, path, padded([], place ?? 0, values), false);
  if (!Array.isArray(target)) return tree;
  if (place !== null && place - target.length > MOST_PADDING) return null;
  padded(target, place ?? target.length, values);
  return tree;
}

function padded(list: JsonTree[], place: number, values: readonly JsonTree[]): JsonTree[] {
  while (list.length < place) list.push('null');
  list.splice(place, 0, ...values);
  return list;
}

const valuesOf = (value: string, each: boolean): JsonTree[] => {
  const tree = readJson(value) ?? 'null';
  return each && Array.isArray(tree) ? tree : [tree];
};

export const jsonArrayAppend = scalarFunction(['text', 'text', 'text', 'boolean'], 'text', (json, path, value, each) =>
  onTree(json, (tree) => added(tree, stepsOf(path), valuesOf(value, each), null)),
);

export const jsonArrayInsert = scalarFunction(['text', 'text', 'text', 'boolean'], 'text', (json, path, value, each) =>
  onTree(json, (tree) => {
    const steps = stepsOf(path);
    const place = steps.pop();
    return typeof place === 'number' ? added(tree, steps, valuesOf(value, each), place) : tree;
  }),
);

/** Characters of all paths together: keys deep in others have long ones. */
const MOST_OF_PATHS = 16 * 1024;

/** Paths of the keys, each once and in order; null: they are too long. */
function keysOf(tree: JsonTree, depth: number, mode: string): string[] | null {
  const found = new Set<string>();
  let length = 0;
  const walk = (node: JsonTree, path: string, left: number, nested: number): void => {
    if (Array.isArray(node)) {
      if (mode === 'strict' || (mode === 'lax' && nested > 0)) return;
      for (const element of node) walk(element, path, left, nested + 1);
    } else if (node instanceof Map && left > 0) {
      for (const [key, member] of node) {
        const name = /^[^."$[\]\s]+$/.test(key) ? key : `"${key.replace(/"/g, '\\"')}"`;
        const whole = path === '' ? name : `${path}.${name}`;
        if ((length += whole.length) > MOST_OF_PATHS) return;
        found.add(whole);
        walk(member, whole, left - 1, 0);
      }
    }
  };
  walk(tree, '', depth, 0);
  return length > MOST_OF_PATHS ? null : [...found].sort((a, b) => (a < b ? -1 : 1));
}

export const jsonKeys = scalarFunction(['text', 'integer', 'text'], 'texts', (json, depth, mode) => {
  const tree = readJson(json);
  return tree === null ? null : keysOf(tree, Number(depth), mode.toLowerCase());
});
