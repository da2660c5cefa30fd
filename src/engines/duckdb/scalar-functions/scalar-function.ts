/** A function of our own that DuckDB calls, for what neither it nor SQL over it can compute. */
import type { ChunkBudget } from './chunk-budget';

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
