/** Conditions that are evaluated as they are written: whether one that can fail does so must not depend on what DuckDB takes first. */
import { volatile } from '../../sql';

/** A column, or what a lambda is given. */
const OF_A_ROW = /"[cv]\d+"|\bv\d+\b/;

/**
 * A condition that can fail, as WHEN takes it: one that reads no column DuckDB evaluates there even where no row is left for it
 * (`CASE WHEN x THEN CASE WHEN sqrt(-1) > 0 THEN ...`), unless it is volatile.
 */
export function afterOthers(condition: string): string {
  return OF_A_ROW.test(condition) ? condition : volatile(condition);
}

/** TRUE where all conditions are: each is evaluated where those before it are TRUE, and nothing nests however many there are. */
export function allInOrder(conditions: readonly string[]): string {
  if (conditions.length === 1) return conditions[0]!;
  return `CASE ${conditions.map((condition) => `WHEN (${afterOthers(condition)}) IS NOT TRUE THEN false`).join(' ')} ELSE true END`;
}

/** TRUE where one of the conditions is: each is evaluated where those before it are not TRUE. */
export function anyInOrder(conditions: readonly string[]): string {
  return `CASE ${conditions.map((condition) => `WHEN ${afterOthers(condition)} THEN true`).join(' ')} ELSE false END`;
}
