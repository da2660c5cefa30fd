/** `x IN UNNEST(list)` with GoogleSQL's three values; both operands are names. */
export function listMembership(x: string, list: string, isFloat = false): string {
  return (
    `CASE WHEN coalesce(len(${list}), 0) = 0 THEN false WHEN ${x} IS NULL THEN NULL ` +
    `WHEN ${isFloat ? `NOT isnan(${x}) AND ` : ''}list_contains(${list}, ${x}) THEN true WHEN list_count(${list}) < len(${list}) THEN NULL ELSE false END`
  );
}
