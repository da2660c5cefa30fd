/** A JSON value whose numbers and texts are as they were written. */

/** A scalar's text, an array, or an object by its keys. */
export type JsonTree = string | JsonTree[] | Map<string, JsonTree>;

/** Levels that are read: each is a call. */
const DEEPEST = 500;

/** Reads valid JSON from its beginning, without a look back. */
class Reader {
  #at = 0;

  constructor(private readonly text: string) {}

  /** @returns null: it is too deep */
  value(depth: number): JsonTree | null {
    this.#skip();
    const start = this.text[this.#at];
    if (start === '"') return this.#string();
    if (start !== '[' && start !== '{') return this.#word();
    if (depth === 0) return null;
    this.#at++;
    return start === '[' ? this.#array(depth) : this.#object(depth);
  }

  #array(depth: number): JsonTree[] | null {
    const list: JsonTree[] = [];
    while (!this.#ends(']')) {
      const element = this.value(depth - 1);
      if (element === null) return null;
      list.push(element);
    }
    return list;
  }

  /** Of a key that comes twice the first counts. */
  #object(depth: number): Map<string, JsonTree> | null {
    const members = new Map<string, JsonTree>();
    while (!this.#ends('}')) {
      const written = this.#string();
      const key = written.includes('\\') ? (JSON.parse(written) as string) : written.slice(1, -1);
      this.#skip();
      this.#at++;
      const member = this.value(depth - 1);
      if (member === null) return null;
      if (!members.has(key)) members.set(key, member);
    }
    return members;
  }

  /** Whether the array or object ends here; else its next element begins here. */
  #ends(bracket: string): boolean {
    this.#skip();
    if (this.text[this.#at] === ',') this.#at++;
    this.#skip();
    if (this.text[this.#at] !== bracket) return this.#at >= this.text.length;
    this.#at++;
    return true;
  }

  #string(): string {
    const start = this.#at;
    let end = start;
    let escapes: number;
    do {
      end = this.text.indexOf('"', end + 1);
      escapes = 0;
      while (this.text[end - 1 - escapes] === '\\') escapes++;
    } while (escapes % 2 === 1);
    this.#at = end + 1;
    return this.text.slice(start, this.#at);
  }

  #word(): string {
    const start = this.#at;
    while (/[-+.\w]/.test(this.text[this.#at] ?? '')) this.#at++;
    return this.text.slice(start, this.#at);
  }

  #skip(): void {
    while (' \n\r\t'.includes(this.text[this.#at] ?? '-')) this.#at++;
  }
}

/** @param text valid JSON. @returns null: it is too deep */
export function readJson(text: string): JsonTree | null {
  return new Reader(text).value(DEEPEST);
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
