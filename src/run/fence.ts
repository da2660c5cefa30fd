/** Who must be kept from learning anything of rows that a stored query leaves out (docs/sandbox.md, The fence). */
import type { Endpoint } from '../endpoints';
import type { Fence } from '../engines/contract';
import type { Span } from '../googlesql/syntax';
import type { Key } from '../keys/key';

/** Without pins a key could choose every value of the stored filters itself: nothing is hidden from it. */
export function needsFence(key: Pick<Key, 'pins'>): boolean {
  return key.pins.size > 0;
}

/** @param consumer the consumer's statement in the text that runs; null: there is none */
export function fenceOf({ parameters }: Pick<Endpoint, 'parameters'>, consumer: Span | null): Fence {
  const instants = parameters
    .filter(({ type }) => type === 'timestamp' || type === 'date')
    .map(({ name, required, default: value }) => ({ name, optional: !required && value === null }));
  return { consumer, instants };
}

/** Rows whose order is open: the one that they come in tells how the rows of others lie between them. */
export function inPlainOrder(rows: readonly string[]): readonly string[] {
  return [...rows].sort();
}
