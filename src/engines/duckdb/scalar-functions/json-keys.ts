/** JSON_KEYS: the paths of all keys, as the text of a JSON array in no particular order. A key that is written in two ways comes twice. */
import type { ChunkBudget } from './chunk-budget';
import { ARRAY, endOfValue, JsonCursor, OBJECT, skipSpace } from './json-scan';
import { scalarFunction } from './scalar-function';

/** Levels that are read: each is a call. */
const DEEPEST = 500;
/** Units of the budget for each key: about 100 ns. */
const FOR_KEY = 24;
/** The same for one whose path is not remembered. */
const FOR_NEW_KEY = 512;
/** Characters of the paths that are remembered, with `FOR_NEW_KEY` for each. */
const MOST_REMEMBERED = 4_000_000;

/** A path, with the keys that have been seen below it. Rows of a table mostly have the same ones. */
class Place {
  readonly below = new Map<string, Place>();
  /** The row that it was last seen in. */
  row = 0;
  /** As it is written into the result. */
  readonly text: string;

  constructor(readonly path: string) {
    this.text = JSON.stringify(path);
  }
}

let root = new Place('');
let remembered = 0;
let rows = 0;

export const jsonKeys = scalarFunction(['bytes', 'integer', 'text'], 'text', (json, depth, mode, budget) => {
  if (remembered > MOST_REMEMBERED) [root, remembered] = [new Place(''), 0];
  const walk = new Walk(json, mode, budget);
  walk.value(skipSpace(json, 0), root, Number(depth), 0, DEEPEST);
  return walk.failed ? null : `[${walk.found.join(',')}]`;
});

class Walk {
  failed = false;
  readonly found: string[] = [];
  readonly #row = ++rows;
  readonly #bytes: Buffer;

  constructor(
    private readonly json: Uint8Array,
    private readonly mode: string,
    private readonly budget: ChunkBudget,
  ) {
    this.#bytes = Buffer.from(json.buffer, json.byteOffset, json.length);
  }

  /**
   * @param left levels of keys that are wanted below
   * @param arrays how many arrays the value is in, below its key
   * @returns where the value ends
   */
  value(at: number, place: Place, left: number, arrays: number, depth: number): number {
    const { json, mode } = this;
    const first = json[at];
    const isArray = first === ARRAY && mode !== 'strict' && (mode !== 'lax' || arrays === 0);
    if (this.failed || left === 0 || !(isArray || first === OBJECT)) return endOfValue(json, at);
    if (depth === 0) {
      this.failed = true;
      return json.length;
    }
    const items = new JsonCursor(json, at);
    while (items.next()) {
      const child = isArray ? place : this.#below(place, items);
      if (this.failed) return json.length;
      items.skipTo(this.value(items.value, child, isArray ? left : left - 1, isArray ? arrays + 1 : 0, depth - 1));
    }
    return items.end + 1;
  }

  #below(place: Place, items: JsonCursor): Place {
    // As it is written: to read its escapes takes longer.
    const written = this.#bytes.toString('latin1', items.keyStart, items.keyEnd);
    let below = place.below.get(written);
    if (below === undefined) {
      below = new Place(pathOf(place, items.key));
      place.below.set(written, below);
      const units = FOR_NEW_KEY + below.text.length;
      remembered += units;
      if (!this.budget.spend(units)) this.failed = true;
    }
    let units = FOR_KEY;
    if (below.row !== this.#row) {
      below.row = this.#row;
      this.found.push(below.text);
      units += below.text.length;
    }
    if (!this.budget.spend(units)) this.failed = true;
    return below;
  }
}

function pathOf({ path }: Place, key: string): string {
  const name = /^[^."$[\]\s]+$/.test(key) ? key : `"${key.replace(/"/g, '\\"')}"`;
  return path === '' ? name : `${path}.${name}`;
}
