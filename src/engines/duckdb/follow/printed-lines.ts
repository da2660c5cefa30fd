import type { LinePlace } from '../data/exact-lines';
import { emptyRowsBehind } from '../data/row-values';
import { SOURCE_KEY } from './segment';

const NEWLINE = Buffer.from('\n');
/** The source of rows that are none (`emptyRowsBehind`). */
export const NO_SOURCE = -1;
const EMPTY_ROW = whole(Buffer.from(`{"${SOURCE_KEY}":${NO_SOURCE}}\n`));

/** Rows of a source as lines, each with the number of that source. */
export class PrintedLines {
  count = 0;
  /** In the lists of all of them. */
  values = 0;
  /** Bytes of the longest. */
  longest = 0;
  readonly #start: LinePlace;
  readonly #parts: LinePlace[] = [];
  #length = 0;

  constructor(private readonly source: number) {
    this.#start = whole(Buffer.from(`{"${SOURCE_KEY}":${source},`));
  }

  /** @param row a JSON object that begins with its brace, and is not empty; @param values in its lists */
  copy({ buffer, start, end }: LinePlace, values: number): void {
    this.#push(values, this.#start, { buffer, start: start + 1, end });
  }

  /** @param json an object without space; @param more members that it has not */
  add(json: string, values: number, more: Readonly<Record<string, string>>): void {
    const members = JSON.stringify({ ...more, [SOURCE_KEY]: this.source }).slice(0, -1);
    this.#push(values, whole(Buffer.from(`${members}${json === '{}' ? '' : ','}${json.slice(1)}`)));
  }

  /** Of all of them. */
  get bytes(): Buffer {
    const bytes = Buffer.allocUnsafe(this.#length);
    let at = 0;
    for (const { buffer, start, end } of this.#parts) at += buffer.copy(bytes, at, start, end);
    return bytes;
  }

  #push(values: number, ...parts: readonly LinePlace[]): void {
    const line = [...parts, whole(NEWLINE)];
    const length = line.reduce((sum, { start, end }) => sum + end - start, 0);
    this.#parts.push(...line);
    this.#length += length;
    this.longest = Math.max(this.longest, length);
    this.count++;
    this.values += values;
    for (let i = 0; i < emptyRowsBehind(values); i++) {
      this.#parts.push(EMPTY_ROW);
      this.#length += EMPTY_ROW.end;
    }
  }
}

function whole(buffer: Buffer): LinePlace {
  return { buffer, start: 0, end: buffer.length };
}
