/**
 * Texts of stored rows that were answered before. Making a row's JSON takes several times as long as finding the row, and whoever
 * looks at logs is answered the same rows again and again (docs/decisions/row-texts.md).
 */
import { LRUCache } from 'lru-cache';

import { type NumberedRows, ROWS_OF_PART } from '../translate';
import { responseTooLarge, type RowSink } from './line-stream';

/** Bytes that a text takes beside its own. */
const OVERHEAD = 120;
/** Runs of one form whose rows are looked for in vain, in succession, until only one in `RARELY` is looked for. */
const MISSES = 3;
const RARELY = 16;
/** What is kept of one part at most: one of so many shares of all. */
const PARTS = 4;
const NEWLINE = '\n'.charCodeAt(0);

/** Whether a run looks for its rows' texts, or makes them, to be found by later ones or not. */
export type TextUse = 'find' | 'record' | 'none';

/** What rows show. */
type Shown = Pick<NumberedRows, 'parts' | 'form'>;

interface Text {
  readonly block: Uint8Array;
  readonly start: number;
  readonly end: number;
}

/** Some texts that lie one behind the other. */
interface Piece {
  readonly block: Uint8Array;
  readonly start: number;
  end: number;
  count: number;
}

/** Of one part. */
interface Row {
  readonly number: number;
  readonly line: Uint8Array;
}

/** Texts of one form of the rows of one part, by the rows' numbers in it. */
interface Known {
  readonly texts: Map<number, Text>;
  bytes: number;
}

export class RowTexts {
  readonly #known: LRUCache<string, Known>;
  /** Of forms: how often rows were looked for in vain since they were found last. */
  readonly #misses = new LRUCache<string, number>({ max: 1000 });

  /** @param bytes that all texts take at most */
  constructor(private readonly bytes: number) {
    this.#known = new LRUCache({ maxSize: bytes, sizeCalculation: (known) => Math.max(1, known.bytes) });
  }

  /** What a run of a form is to do. */
  useFor(form: string): TextUse {
    const misses = this.#misses.get(form);
    if (misses === undefined) return 'record';
    if (misses < MISSES) return 'find';
    this.#misses.set(form, misses + 1);
    return misses % RARELY === 0 ? 'find' : 'none';
  }

  /**
   * Hands on the texts of rows.
   *
   * @param maxBytes of all texts
   * @returns whether there are more rows; null: a text is not known, and none has been handed on
   * @throws ServiceError resourcesExceeded beyond `maxBytes`
   */
  async send(
    { numbers, truncated }: { readonly numbers: readonly number[]; readonly truncated: boolean },
    shown: Shown,
    maxBytes: number,
    sink: RowSink,
  ): Promise<boolean | null> {
    const pieces = this.#find(numbers, shown);
    this.#misses.set(shown.form, pieces === null ? (this.#misses.get(shown.form) ?? 0) + 1 : 0);
    if (pieces === null) return null;
    if (pieces.reduce((sum, { start, end }) => sum + end - start, 0) > maxBytes) throw responseTooLarge(maxBytes);
    for (const { block, start, end, count } of pieces) await sink.take(block.subarray(start, end), count);
    return truncated;
  }

  /** The texts, adjoining ones together; null: one is not known. */
  #find(numbers: readonly number[], { parts, form }: Shown): readonly Piece[] | null {
    const known = parts.map((part) => this.#known.get(keyOf(part, form))?.texts);
    const pieces: Piece[] = [];
    let last: Piece | null = null;
    for (const number of numbers) {
      const part = Math.floor(number / ROWS_OF_PART);
      const text = known[part]?.get(number - part * ROWS_OF_PART);
      if (text === undefined) return null;
      if (last?.block === text.block && last.end === text.start) {
        last.end = text.end;
        last.count++;
      } else pieces.push((last = { ...text, count: 1 }));
    }
    return pieces;
  }

  /** Remembers the texts of a result as it is read. */
  recorder(shown: Shown): Recorder {
    return new Recorder(this.bytes / PARTS, (numbers, lines) => {
      // What is too large is looked for as seldom as what is never found.
      if (!this.#misses.has(shown.form)) this.#misses.set(shown.form, lines === null ? MISSES : 0);
      if (lines !== null) this.#add(numbers, lines, shown);
    });
  }

  /** @param lines the texts, in order, a newline behind each */
  #add(numbers: readonly number[], lines: Uint8Array, { parts, form }: Shown): void {
    const rows = parts.map((): Row[] => []);
    let start = 0;
    for (const number of numbers) {
      const end = lines.indexOf(NEWLINE, start) + 1;
      const part = Math.floor(number / ROWS_OF_PART);
      rows[part]!.push({ number: number - part * ROWS_OF_PART, line: lines.subarray(start, end) });
      start = end;
    }
    for (const [i, part] of parts.entries()) this.#addOf(keyOf(part, form), rows[i]!);
  }

  #addOf(key: string, rows: readonly Row[]): void {
    let known = this.#known.get(key) ?? { texts: new Map<number, Text>(), bytes: 0 };
    const sizeOf = (all: readonly Row[]): number => all.reduce((sum, { line }) => sum + line.length + OVERHEAD, 0);
    let added = rows.filter(({ number }) => !known.texts.has(number));
    if (added.length === 0) return;
    if (known.bytes + sizeOf(added) > this.bytes / PARTS) {
      known = { texts: new Map(), bytes: 0 };
      added = [...rows];
    }
    const block = Buffer.concat(added.map(({ line }) => line));
    let start = 0;
    for (const { number, line } of added) known.texts.set(number, { block, start, end: (start += line.length) });
    known.bytes += sizeOf(added);
    this.#known.set(key, known);
  }

  clear(): void {
    this.#known.clear();
  }
}

/** Takes the rows of one result. */
class Recorder {
  readonly #numbers: number[] = [];
  readonly #lines: Uint8Array[] = [];
  #bytes = 0;

  /**
   * @param most bytes: more are not remembered
   * @param add takes all lines; null: they are too many
   */
  constructor(
    private readonly most: number,
    private readonly add: (numbers: readonly number[], lines: Uint8Array | null) => void,
  ) {}

  readonly takeNumbers = (numbers: readonly number[]): void => {
    for (const number of numbers) this.#numbers.push(number);
  };

  /** @param lines copied */
  take(lines: Uint8Array): void {
    this.#bytes += lines.length;
    if (this.#bytes <= this.most) this.#lines.push(new Uint8Array(lines));
  }

  /** All have been taken. */
  end(): void {
    const fits = this.#bytes + this.#numbers.length * OVERHEAD <= this.most;
    this.add(this.#numbers, fits ? Buffer.concat(this.#lines) : null);
  }
}

function keyOf(part: string, form: string): string {
  return `${part} ${form}`;
}
