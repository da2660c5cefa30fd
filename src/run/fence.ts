/** Keys that must learn nothing of rows which a stored query filters out (docs/sandbox.md, The fence). */
import { SEVERAL_CAN_FAIL } from '../engines/execution-faults';
import { QueryError } from '../errors';
import type { Key } from '../keys/key';
import type { Span } from '../googlesql/syntax';

/** Without pins a key could choose every value of the stored filters itself: nothing is hidden from it. */
export function needsFence(key: Pick<Key, 'pins'>): boolean {
  return key.pins.size > 0;
}

/** Sorts rows without a fixed order: the engine's order would reveal how other rows lie between them. */
export function inPlainOrder(rows: readonly string[]): readonly string[] {
  return [...rows].sort();
}

/**
 * The error of a query that failed on a value. Which of several expressions fails first can depend on how other rows lie between
 * the caller's: then nothing is said about it.
 *
 * @param onlyFault the one place in the caller's text that can fail
 */
export function fencedFault({ fault, message }: QueryError, onlyFault: Span | null): QueryError {
  return new QueryError(fault, onlyFault === null ? SEVERAL_CAN_FAIL : message, onlyFault);
}
