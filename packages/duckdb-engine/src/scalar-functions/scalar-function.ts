/** A function of our own that DuckDB calls, for what neither it nor SQL over it can compute. */

/**
 * What our functions may do for one chunk of rows: they run on the one thread that answers all queries of the engine's
 * process, which looks at nothing else meanwhile.
 */

/** About four nanoseconds each: 50 ms of the thread. 2,048 rows of 4 KB stay below it. */
export const CHUNK_BYTES = 12 * 1024 * 1024;

export class ChunkBudget {
  #left = CHUNK_BYTES;

  /**
   * Takes `units` from what is left: one for each byte that is read, more where a byte takes longer.
   *
   * @returns false: it is used up, and nothing more is computed for these rows
   */
  spend(units: number): boolean {
    this.#left -= units;
    return this.#left >= 0;
  }

  /** The same, where that much is left; else nothing is taken. */
  isWithin(units: number): boolean {
    return this.#left >= units && this.spend(units);
  }

  /** A row has more to be done than any may have: no more is computed for these rows. */
  exhaust(): void {
    this.#left = -1;
  }

  get isSpent(): boolean {
    return this.#left < 0;
  }
}

/** `text`: its bytes in SQL, read and written as UTF-8. */
export type ArgumentKind = 'text' | 'bytes' | 'integer' | 'boolean';
export type ResultKind = ArgumentKind;

export type Value = string | Uint8Array | bigint | boolean;

export interface ScalarFunction {
  readonly parameters: readonly ArgumentKind[];
  readonly result: ResultKind;
  /**
   * Pure, and without an error: what calls it decides what a missing value means (`ownFunction` in translate). In time
   * linear in its arguments; what takes longer for a byte than copying some, it takes from the budget of the chunk.
   *
   * @param args the arguments, none of which is NULL, and the budget, from which their bytes are taken already
   * @returns null: there is no such value, or the budget is used up
   */
  compute(...args: [...Value[], ChunkBudget]): Value | null;
}

interface Kinds {
  readonly text: string;
  readonly bytes: Uint8Array;
  readonly integer: bigint;
  readonly boolean: boolean;
}

/** A function with typed arguments. */
export function scalarFunction<const P extends readonly ArgumentKind[], R extends ResultKind>(
  parameters: P,
  result: R,
  compute: (...args: [...{ readonly [I in keyof P]: Kinds[P[I]] }, ChunkBudget]) => Kinds[R] | null,
): ScalarFunction {
  return { parameters, result, compute: compute as unknown as ScalarFunction['compute'] };
}
