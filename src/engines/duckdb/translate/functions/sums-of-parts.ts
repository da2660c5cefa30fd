/** Sums of values that are added up part by part. */
import type { Parts } from './aggregate-functions';

/**
 * @param parts each makes a part of a value
 * @param body gets a name for the sum of each
 */
export function withSumsOfParts(
  p: Parts,
  parts: readonly ((value: string) => string)[],
  body: (sums: readonly string[]) => string,
): string {
  const { ctx } = p;
  const value = p.at(0);
  if (!p.call.distinct) {
    const sums = parts.map((part) => p.plain('sum', [part(value)]));
    return ctx.bind(sums, (...names) => body(names));
  }
  // Values that differ may have parts that do not.
  const e = ctx.variable();
  return ctx.bind([p.plain('list', [value], { filter: `${value} IS NOT NULL` })], (list) => {
    const sums = parts.map((part) => `list_sum(list_transform(${list}, lambda ${e}: ${part(e)}))`);
    return ctx.bind(sums, (...names) => body(names));
  });
}

/** A part whose sum is the number of values. */
export const ONE_EACH = (value: string): string => `CASE WHEN ${value} IS NOT NULL THEN CAST(1 AS HUGEINT) END`;
