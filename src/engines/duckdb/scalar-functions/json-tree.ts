/** A JSON value whose numbers and texts are as they were written. */

/** A scalar's text, an array, or an object by its keys. */
export type JsonTree = string | JsonTree[] | Map<string, JsonTree>;

/** Levels that are read: each is a call. */
const DEEPEST = 500;

class TooDeep extends Error {}

/** @param text valid JSON. @returns null: it is too deep */
export function readJson(text: string): JsonTree | null {
  const tokens = text.match(/"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g) ?? [];
  let at = 0;
  const value = (depth: number): JsonTree => {
    if (depth > DEEPEST) throw new TooDeep();
    const token = tokens[at++] ?? 'null';
    if (token === '[') {
      const list: JsonTree[] = [];
      for (; tokens[at] !== ']'; at += tokens[at] === ',' ? 1 : 0) list.push(value(depth + 1));
      at++;
      return list;
    }
    if (token !== '{') return token;
    const members = new Map<string, JsonTree>();
    for (; tokens[at] !== '}'; at += tokens[at] === ',' ? 1 : 0) {
      const key = JSON.parse(tokens[at] ?? '""') as string;
      at += 2;
      const member = value(depth + 1);
      if (!members.has(key)) members.set(key, member);
    }
    at++;
    return members;
  };
  try {
    return value(0);
  } catch (error) {
    if (error instanceof TooDeep) return null;
    throw error;
  }
}

export function writeJson(tree: JsonTree): string {
  if (typeof tree === 'string') return tree;
  if (Array.isArray(tree)) return `[${tree.map(writeJson).join(',')}]`;
  return `{${[...tree].map(([key, value]) => `${JSON.stringify(key)}:${writeJson(value)}`).join(',')}}`;
}

/** A key of an object, or an index of an array. */
export type JsonStep = string | number;

/** What is at the path; undefined: nothing. */
export function jsonAt(tree: JsonTree, path: readonly JsonStep[]): JsonTree | undefined {
  let node: JsonTree | undefined = tree;
  for (const step of path) {
    if (node === undefined) return undefined;
    node = childOf(node, step);
  }
  return node;
}

export function childOf(node: JsonTree, step: JsonStep): JsonTree | undefined {
  if (typeof step === 'number') return Array.isArray(node) ? node[step] : undefined;
  return node instanceof Map ? node.get(step) : undefined;
}
