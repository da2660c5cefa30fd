import { randomUUID } from 'node:crypto';

/** Nobody outside can write it: it never leaves the process. */
const MARK = randomUUID();
const MARKED = new RegExp(`"${MARK}:(\\d+)"`, 'g');

/**
 * Texts that `JSON.stringify` shall write as they are, such as an integer that no double holds: each is put into the
 * value as a marked string, and into the text afterwards.
 */
export class HeldTexts {
  readonly #texts: string[] = [];

  /** What stands in a value for a JSON text. */
  hold(json: string): string {
    this.#texts.push(json);
    return `${MARK}:${this.#texts.length - 1}`;
  }

  /** `JSON.stringify`, with every held text in its place. */
  stringify(value: unknown): string {
    const json = JSON.stringify(value);
    if (this.#texts.length === 0) return json;
    return json.replace(MARKED, (_, index: string) => this.#texts[Number(index)] as string);
  }

  /** For the next value. */
  clear(): void {
    this.#texts.length = 0;
  }
}
