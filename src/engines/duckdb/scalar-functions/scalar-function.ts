/** A function of our own that DuckDB calls, for what neither it nor SQL over it can compute. */

export type ArgumentKind = 'text' | 'bytes' | 'integer' | 'boolean';
export type ResultKind = ArgumentKind | 'texts';

export type Value = string | Uint8Array | bigint | boolean;

export interface ScalarFunction {
  readonly parameters: readonly ArgumentKind[];
  readonly result: ResultKind;
  /**
   * Pure, and without an error: what calls it decides what a missing value means (`ownFunction` in translate). In time
   * linear in its arguments, whose size is bounded there.
   *
   * @param args none is NULL
   * @returns null: NULL, or that there is no such value
   */
  compute(...args: Value[]): Value | readonly string[] | null;
}

interface Kinds {
  readonly text: string;
  readonly bytes: Uint8Array;
  readonly integer: bigint;
  readonly boolean: boolean;
  readonly texts: readonly string[];
}

/** A function with typed arguments. */
export function scalarFunction<const P extends readonly ArgumentKind[], R extends ResultKind>(
  parameters: P,
  result: R,
  compute: (...args: { readonly [I in keyof P]: Kinds[P[I]] }) => Kinds[R] | null,
): ScalarFunction {
  return { parameters, result, compute: compute as unknown as ScalarFunction['compute'] };
}
