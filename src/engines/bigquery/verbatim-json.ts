import { randomUUID } from 'node:crypto';

/** Random and never sent: no value can contain it. */
const MARK = randomUUID();
const MARKED = new RegExp(`"${MARK}:(\\d+)"`, 'g');

/**
 * JSON that `JSON.stringify` has to write verbatim, such as integers beyond a double: each is a marked string in the value,
 * replaced in the text afterwards.
 */
export class VerbatimJson {
  readonly #texts: string[] = [];

  /** The placeholder of a JSON text in a value. */
  insert(json: string): string {
    this.#texts.push(json);
    return `${MARK}:${this.#texts.length - 1}`;
  }

  /** `JSON.stringify`, with every placeholder replaced. */
  stringify(value: unknown): string {
    const json = JSON.stringify(value);
    if (this.#texts.length === 0) return json;
    return json.replace(MARKED, (_, index: string) => this.#texts[Number(index)] as string);
  }

  /** Forgets the texts of the last value. */
  clear(): void {
    this.#texts.length = 0;
  }
}
