/** JSON_STRIP_NULLS: the part at a path is written again without what is left out. */
import type { ChunkBudget } from './chunk-budget';
import { follow, pathOf } from './json-path';
import { ARRAY, closes, COLON, COMMA, endOfString, endOfWord, isNull, OBJECT, QUOTE, skipSpace } from './json-scan';
import { spliced } from './json-edits';
import { scalarFunction } from './scalar-function';

/** Levels that are read: each is a call. */
const DEEPEST = 500;
const [CLOSE_OBJECT, CLOSE_ARRAY] = [0x7d, 0x5d];
/** Units of the budget for each value, beside its bytes. */
const FOR_VALUE = 8;

export const jsonStripNulls = scalarFunction(
  ['bytes', 'bytes', 'boolean', 'boolean'],
  'bytes',
  (json, pathText, arrays, empty, budget) => {
    const path = pathOf(pathText);
    const { steps, at } = follow(json, path, path.steps.length, budget);
    if (steps < path.steps.length) return json;
    const copy = new StrippedCopy(json, at, arrays, budget);
    const stays = copy.value(empty, DEEPEST);
    if (copy.failed) return null;
    return spliced(json, at, copy.end, stays ? copy.text : 'null');
  },
);

class StrippedCopy {
  failed = false;
  readonly #out: Uint8Array;
  /** Where the next byte is read. */
  #at: number;
  #written = 0;

  constructor(
    private readonly json: Uint8Array,
    start: number,
    /** Elements are left out, too. */
    private readonly arrays: boolean,
    private readonly budget: ChunkBudget,
  ) {
    this.#at = start;
    this.#out = new Uint8Array(json.length - start);
  }

  /** Behind what has been read. */
  get end(): number {
    return this.#at;
  }

  get text(): Uint8Array {
    return this.#out.subarray(0, this.#written);
  }

  /** Copies a value. @returns false: nothing of it is left, and what was written of it does not count */
  value(empty: boolean, depth: number): boolean {
    const { json } = this;
    const at = this.#at;
    if (depth === 0 || !this.budget.spend(FOR_VALUE)) this.failed = true;
    if (this.failed) return false;
    const first = json[at];
    if (first === OBJECT) return this.#items(CLOSE_OBJECT, empty, depth);
    if (first === ARRAY) return this.#items(CLOSE_ARRAY, empty, depth);
    this.#copyTo(first === QUOTE ? endOfString(json, at) : endOfWord(json, at));
    return !isNull(json, at);
  }

  #items(close: number, empty: boolean, depth: number): boolean {
    const { json } = this;
    const isArray = close === CLOSE_ARRAY;
    let left = 0;
    this.#copyTo(this.#at + 1);
    for (;;) {
      this.#skip();
      if (json[this.#at] === COMMA) {
        this.#at++;
        this.#skip();
      }
      if (this.#at >= json.length || closes(json[this.#at]) || this.failed) break;
      const before = this.#written;
      if (left > 0) this.#out[this.#written++] = COMMA;
      if (!isArray) this.#key();
      const isElement = isArray && !this.arrays && isNull(json, this.#at);
      const stays = this.value(empty && (!isArray || this.arrays), depth - 1) || isElement;
      if (stays) left++;
      else this.#written = before;
    }
    this.#copyTo(this.#at + 1);
    return left > 0 || !empty || (isArray && !this.arrays);
  }

  #key(): void {
    this.#copyTo(endOfString(this.json, this.#at));
    this.#skip();
    this.#at++;
    this.#out[this.#written++] = COLON;
    this.#skip();
  }

  #skip(): void {
    this.#at = skipSpace(this.json, this.#at);
  }

  #copyTo(end: number): void {
    const { json } = this;
    const out = this.#out;
    let written = this.#written;
    for (let i = this.#at; i < end; i++) out[written++] = json[i]!;
    this.#written = written;
    this.#at = end;
  }
}
